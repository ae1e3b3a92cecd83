//! NumPy's `PCG64` bit generator (XSL-RR 128/64) with its bounded integers.
//!
//! Follows NumPy 2.4's `pcg64.h` and `distributions.c`, including the
//! buffered half of a 64-bit output that 32-bit draws leave behind. It never
//! offers a source of secrets: the stream is public by design.

use std::num::{NonZeroU32, NonZeroU64};

use crate::seed::SeedSequence;

const MULTIPLIER: u128 = (2_549_297_995_355_413_924_u128 << 64) | 4_865_540_595_714_422_341;

/// The output function XSL-RR of a state.
fn output(state: u128) -> u64 {
    let folded = (state >> 64) as u64 ^ state as u64;
    folded.rotate_right((state >> 122) as u32)
}

/// One PCG64 generator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pcg64 {
    state: u128,
    inc: u128,
    /// Whether `buffer` holds the unused half of an earlier output.
    buffered: bool,
    buffer: u32,
}

impl Pcg64 {
    /// The generator of `numpy.random.PCG64(seed)`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::from_seed_sequence(&SeedSequence::new(seed))
    }

    /// The generator of an already mixed seed.
    #[must_use]
    pub fn from_seed_sequence(seed: &SeedSequence) -> Self {
        let [s0, s1, s2, s3] = seed.generate_state();
        let initstate = (u128::from(s0) << 64) | u128::from(s1);
        let initseq = (u128::from(s2) << 64) | u128::from(s3);
        let mut generator = Self {
            state: 0,
            inc: (initseq << 1) | 1,
            buffered: false,
            buffer: 0,
        };
        generator.step();
        generator.state = generator.state.wrapping_add(initstate);
        generator.step();
        generator
    }

    /// The 128-bit state.
    #[must_use]
    pub fn state(&self) -> u128 {
        self.state
    }

    /// The 128-bit increment (stream selector).
    #[must_use]
    pub fn increment(&self) -> u128 {
        self.inc
    }

    /// Whether half of an output waits to be used, and the buffer's content
    /// (stale when nothing waits, as in NumPy).
    #[must_use]
    pub fn buffer(&self) -> (bool, u32) {
        (self.buffered, self.buffer)
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.inc);
    }

    /// The next 64 bits (`random_raw`). Leaves the buffered half alone.
    pub fn next_u64(&mut self) -> u64 {
        self.step();
        output(self.state)
    }

    /// The next 32 bits: low half of an output first, then its high half.
    pub fn next_u32(&mut self) -> u32 {
        if self.buffered {
            self.buffered = false;
            return self.buffer;
        }
        let x = self.next_u64();
        self.buffer = (x >> 32) as u32;
        self.buffered = true;
        x as u32
    }

    /// The next double in [0, 1), 53 bits (`random()`).
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A uniform integer in `0..n` (`integers(0, n)` of dtype int64).
    pub fn below(&mut self, n: NonZeroU64) -> u64 {
        self.up_to(n.get() - 1)
    }

    /// A uniform integer in `0..=max` (`integers(0, max, endpoint=True)`).
    ///
    /// NumPy's choice of method: nothing is drawn for `max == 0`, ranges
    /// below 2^32 use 32-bit Lemire rejection, larger ones 64-bit.
    pub fn up_to(&mut self, max: u64) -> u64 {
        const FULL_32: u64 = u32::MAX as u64;
        if max == 0 {
            0
        } else if max < FULL_32 {
            // Checked by the branch: max + 1 fits 32 bits.
            u64::from(self.lemire_32(max as u32 + 1))
        } else if max == FULL_32 {
            u64::from(self.next_u32())
        } else if max == u64::MAX {
            self.next_u64()
        } else {
            self.lemire_64(max + 1)
        }
    }

    /// Fills `out` with uniform integers in `0..n`, exactly those that as many
    /// calls of [`Pcg64::below`] would give, and leaves the same state.
    ///
    /// Two outputs are made per turn from one state, because a single chain of
    /// 128-bit products waits for each of them.
    pub fn fill_below(&mut self, n: NonZeroU32, out: &mut [u32]) {
        let n = n.get();
        if n == 1 {
            // NumPy draws nothing here.
            out.fill(0);
            return;
        }
        // A half is refused when its product's low part lies below this.
        let threshold = n.wrapping_neg() % n;
        let twice = MULTIPLIER.wrapping_mul(MULTIPLIER);
        let twice_inc = MULTIPLIER.wrapping_add(1).wrapping_mul(self.inc);
        let mut filled = 0;
        while filled < out.len() {
            let missing = out.len() - filled;
            if self.buffered || missing < 4 {
                let m = u64::from(self.next_u32()) * u64::from(n);
                if m as u32 >= threshold {
                    out[filled] = (m >> 32) as u32;
                    filled += 1;
                }
                continue;
            }
            // Refused halves only make fewer, so this never overshoots.
            for _ in 0..missing / 4 {
                let first = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.inc);
                self.state = self.state.wrapping_mul(twice).wrapping_add(twice_inc);
                let (x, y) = (output(first), output(self.state));
                self.buffer = (y >> 32) as u32;
                let m = [x as u32, (x >> 32) as u32, y as u32, self.buffer]
                    .map(|half| u64::from(half) * u64::from(n));
                if m.iter().all(|m| *m as u32 >= threshold) {
                    for (slot, m) in out[filled..filled + 4].iter_mut().zip(m) {
                        *slot = (m >> 32) as u32;
                    }
                    filled += 4;
                } else {
                    for m in m.into_iter().filter(|m| *m as u32 >= threshold) {
                        out[filled] = (m >> 32) as u32;
                        filled += 1;
                    }
                }
            }
        }
    }

    fn lemire_32(&mut self, n: u32) -> u32 {
        let mut m = u64::from(self.next_u32()) * u64::from(n);
        if (m as u32) < n {
            // 2^32 mod n; the modulo is needed only on this rare path.
            let threshold = n.wrapping_neg() % n;
            while (m as u32) < threshold {
                m = u64::from(self.next_u32()) * u64::from(n);
            }
        }
        (m >> 32) as u32
    }

    fn lemire_64(&mut self, n: u64) -> u64 {
        let mut m = u128::from(self.next_u64()) * u128::from(n);
        if (m as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (m as u64) < threshold {
                m = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (m >> 64) as u64
    }
}
