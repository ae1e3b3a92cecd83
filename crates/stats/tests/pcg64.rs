//! The random streams, bit for bit, over every vector of numpy_pcg64.json.

mod common;

use std::num::NonZeroU64;

use common::{count, fixture, list, number, text};
use faultboard_stats::{pcg64::Pcg64, seed::SeedSequence};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Decimal digits of any length as 32-bit words, least significant first.
fn words(decimal: &str) -> Vec<u32> {
    let mut words: Vec<u32> = Vec::new();
    for digit in decimal.chars() {
        let mut carry = u64::from(digit.to_digit(10).expect("a digit"));
        for word in &mut words {
            let value = u64::from(*word) * 10 + carry;
            *word = value as u32;
            carry = value >> 32;
        }
        if carry > 0 {
            words.push(carry as u32);
        }
    }
    words
}

fn generator(seed: &str) -> Pcg64 {
    Pcg64::from_seed_sequence(&SeedSequence::from_words(&words(seed)))
}

#[track_caller]
fn check_state(generator: &Pcg64, want: &Value) {
    assert_eq!(generator.state().to_string(), text(want, "state"));
    assert_eq!(generator.increment().to_string(), text(want, "inc"));
    let (waiting, buffer) = generator.buffer();
    assert_eq!(u64::from(waiting), count(&want["has_uint32"]));
    assert_eq!(u64::from(buffer), count(&want["uinteger"]));
}

fn bound(text: &str) -> NonZeroU64 {
    text.parse().expect("a positive bound")
}

#[test]
fn seeds_states_and_raw_outputs() {
    for stream in list(&fixture("numpy_pcg64"), "streams") {
        let seed = text(stream, "seed");
        let sequence = SeedSequence::from_words(&words(seed));
        let pool: Vec<u64> = sequence.pool().iter().map(|w| u64::from(*w)).collect();
        let want: Vec<u64> = list(stream, "seedsequence_pool_u32")
            .iter()
            .map(count)
            .collect();
        assert_eq!(pool, want, "pool of {seed}");
        let state: Vec<String> = sequence
            .generate_state()
            .iter()
            .map(u64::to_string)
            .collect();
        assert_eq!(serde_json::json!(state), stream["generate_state_4_u64"]);
        check_state(&generator(seed), &stream["initial"]);
        if let Ok(small) = seed.parse::<u64>() {
            assert_eq!(Pcg64::new(small), generator(seed));
        }

        let mut raw = generator(seed);
        for want in list(stream, "raw_u64") {
            assert_eq!(raw.next_u64().to_string(), want.as_str().expect("text"));
        }
        let mut doubles = generator(seed);
        for want in list(stream, "random_f64") {
            assert_eq!(doubles.next_f64().to_bits(), number(want).to_bits());
        }
    }
}

#[test]
fn bounded_integers_of_streams() {
    for stream in list(&fixture("numpy_pcg64"), "streams") {
        let seed = text(stream, "seed");
        for key in ["integers", "integers_shape"] {
            // The largest seeds have only the short fields.
            let Some(entries) = stream[key].as_array() else {
                continue;
            };
            for entry in entries {
                let n = NonZeroU64::new(count(&entry["n"])).expect("positive");
                let want: Vec<u64> = match entry["rows"].as_array() {
                    Some(rows) => rows
                        .iter()
                        .flat_map(|row| row.as_array().expect("row").iter().map(count))
                        .collect(),
                    None => list(entry, "values").iter().map(count).collect(),
                };
                let mut rng = generator(seed);
                let got: Vec<u64> = want.iter().map(|_| rng.below(n)).collect();
                assert_eq!(got, want, "seed {seed}, n {n}");
                check_state(&rng, &entry["after"]);
            }
        }
    }
}

#[test]
fn hard_bounds() {
    for entry in list(&fixture("numpy_pcg64"), "bounds") {
        let n = bound(text(entry, "n"));
        let mut rng = generator(text(entry, "seed"));
        for want in list(entry, "values") {
            assert_eq!(
                rng.below(n).to_string(),
                want.as_str().expect("text"),
                "n {n}"
            );
        }
        check_state(&rng, &entry["after"]);
    }
}

#[test]
fn mixed_call_sequences() {
    for sequence in list(&fixture("numpy_pcg64"), "call_sequences") {
        let mut rng = generator(text(sequence, "seed"));
        for step in list(sequence, "steps") {
            for want in list(step, "result") {
                match text(step, "op") {
                    "integers" => {
                        let got = rng.below(bound(text(step, "n")));
                        assert_eq!(got.to_string(), want.as_str().expect("text"));
                    }
                    "random_raw" => {
                        assert_eq!(rng.next_u64().to_string(), want.as_str().expect("text"));
                    }
                    "random" => {
                        assert_eq!(rng.next_f64().to_bits(), number(want).to_bits());
                    }
                    other => panic!("unknown call {other}"),
                }
            }
            assert_eq!(u64::from(rng.buffer().0), count(&step["has_uint32_after"]));
        }
        check_state(&rng, &sequence["final"]);
    }
}

#[test]
fn whole_bootstrap_matrices() {
    for matrix in list(&fixture("numpy_pcg64"), "bootstrap_index_matrices") {
        let n = NonZeroU64::new(count(&matrix["n"])).expect("positive");
        let width = n.get() as usize;
        let rows = count(&list(matrix, "shape")[0]) as usize;
        let mut rng = generator(text(matrix, "seed"));
        let values: Vec<u64> = (0..rows * width).map(|_| rng.below(n)).collect();

        let first: Vec<u64> = list(matrix, "first_row").iter().map(count).collect();
        assert_eq!(values[..width], first);
        let head: Vec<u64> = list(matrix, "second_row_head").iter().map(count).collect();
        assert_eq!(values[width..width + head.len()], head);
        let last: Vec<u64> = list(matrix, "last_row").iter().map(count).collect();
        assert_eq!(values[(rows - 1) * width..], last);
        assert_eq!(values.iter().sum::<u64>(), count(&matrix["sum"]));
        let fold = values
            .iter()
            .fold(0_u64, |h, v| h.wrapping_mul(31).wrapping_add(*v));
        assert_eq!(fold.to_string(), text(matrix, "fold31_u64"));
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(
            hex::encode(Sha256::digest(&bytes)),
            text(matrix, "sha256_i64le")
        );
        check_state(&rng, &matrix["after"]);
    }
}
