//! Finds base64 in a text and decodes what turns out to be text. A blob is a
//! long run of its alphabet; wrapped lines are joined, and a run that began
//! with letters of something else is tried at each of the four alignments.

use super::Text;

/// The fewest characters of a blob.
const LEAST: usize = 16;
/// The fewest characters of a wrapped line that is joined with the next.
const WRAPPED: usize = 40;
/// Characters that are decoded to see whether a run holds text at all.
const PROBE: usize = 64;

/// The text of every blob.
pub(super) fn decode(text: &Text) -> Vec<Text> {
    let bytes = text.text.as_bytes();
    let mut found = Vec::new();
    let mut run: Vec<usize> = Vec::new();
    let mut at = 0;
    // No run of that length can end before its last byte: what lies there decides how
    // far one may go on unseen.
    while at + LEAST <= bytes.len() {
        let last = at + LEAST - 1;
        if sextet(bytes[last]).is_none() {
            at = last + 1;
            continue;
        }
        let mut start = last;
        while start > at && sextet(bytes[start - 1]).is_some() {
            start -= 1;
        }
        if start > at {
            at = start;
            continue;
        }
        at = last + 1;
        while at < bytes.len() && sextet(bytes[at]).is_some() {
            at += 1;
        }
        run.clear();
        run.extend(start..at);
        let mut line = at - start;
        while line >= WRAPPED && bytes.get(at) == Some(&b'\n') {
            let next = at + 1;
            at = next;
            while at < bytes.len() && sextet(bytes[at]).is_some() {
                at += 1;
            }
            run.extend(next..at);
            line = at - next;
        }
        found.extend(blob(text, &run));
    }
    found
}

/// Value of each character in either alphabet (`+/` or `-_`), 64 for none.
const SEXTETS: [u8; 256] = {
    let mut table = [64; 256];
    let mut byte = 0u8;
    loop {
        if let Some(value) = value(byte) {
            table[byte as usize] = value;
        }
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    table
};

fn sextet(byte: u8) -> Option<u8> {
    let value = SEXTETS[usize::from(byte)];
    (value < 64).then_some(value)
}

const fn value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

fn blob(text: &Text, run: &[usize]) -> Option<Text> {
    let start = (0..4).find(|skip| {
        let probe = &run[(*skip).min(run.len())..run.len().min(skip + PROBE)];
        probe.len() + 3 >= LEAST && is_text(text.text.as_bytes(), probe)
    })?;
    let run = &run[start..];
    let decoded: Vec<u8> = octets(text.text.as_bytes(), run).collect();
    let mut out = Text::with_capacity(decoded.len());
    let mut at = 0;
    // Octet n comes out of the characters 4n/3 and the one after it.
    let origin = |from: usize, to: usize| {
        let last = ((to * 4).div_ceil(3)).clamp(1, run.len()) - 1;
        let first = (from * 4 / 3).min(last);
        (text.at(run[first]).0, text.at(run[last]).1)
    };
    for chunk in decoded.utf8_chunks() {
        for c in chunk.valid().chars() {
            out.push_narrow(c, origin(at, at + c.len_utf8()));
            at += c.len_utf8();
        }
        at += chunk.invalid().len();
    }
    Some(out)
}

/// What the characters at these places decode to.
fn octets<'a>(bytes: &'a [u8], run: &'a [usize]) -> impl Iterator<Item = u8> + 'a {
    let mut bits: u32 = 0;
    let mut have = 0;
    run.iter().filter_map(move |at| {
        bits = (bits << 6 | u32::from(sextet(bytes[*at]).unwrap_or(0))) & 0xffff;
        have += 6;
        (have >= 8).then(|| {
            have -= 8;
            u8::try_from((bits >> have) & 0xff).unwrap_or(0)
        })
    })
}

/// Whether what they decode to reads as text: nine of ten octets do. Random ones
/// practically never do, and are told after a few.
fn is_text(bytes: &[u8], run: &[usize]) -> bool {
    let count = run.len() * 6 / 8;
    let mut odd = 0;
    count >= 9
        && octets(bytes, run).all(|b| {
            let plain = (b' '..=b'~').contains(&b) || matches!(b, b'\n' | b'\t' | b'\r' | 0x1b);
            odd += usize::from(!plain);
            odd * 10 <= count
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see(text: &str) -> Vec<String> {
        decode(&Text::of(text.as_bytes()))
            .into_iter()
            .map(|t| t.text)
            .collect()
    }

    #[test]
    fn blobs_are_found_and_ordinary_text_is_not() {
        assert_eq!(
            see("echo Z2l0IGxvZyAtLWFsbA== | base64 -d"),
            ["git log --all"]
        );
        assert_eq!(see(r"\nZ2l0IGxvZyAtLWFsbA=="), ["git log --all"]);
        // Two lines of 76 characters, as base64(1) wraps them.
        let wrapped = "VGhpcyBpcyBhIGxvbmdlciB0ZXh0IHRoYXQgaXMgd3JhcHBlZCBieSB0aGUgcHJvZ3JhbSBhZnRl\nciBldmVyeSBzZXZlbnR5LXNpeCBjaGFyYWN0ZXJzLg==";
        assert_eq!(
            see(wrapped),
            [
                "This is a longer text that is wrapped by the program after every seventy-six characters."
            ]
        );
        for text in [
            "internationalisation and characteristically",
            "usr/lib/python3/dist-packages/kazoo/recipe/queue",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "AbstractSingletonProxyFactoryBean",
        ] {
            assert!(see(text).is_empty(), "{text}");
        }
    }
}
