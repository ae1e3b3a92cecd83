//! Letters that look alike become one letter: compatibility forms (full width,
//! mathematical, ligatures), accents, Cyrillic and Greek twins of Latin letters,
//! all in lower case.

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};

use super::{Text, run_of};

/// The text in lower-case letters of one alphabet where it can be.
pub(super) fn fold(text: &Text) -> Text {
    let bytes = text.text.as_bytes();
    let mut out = Text::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = at + run_of(&bytes[at..], |b| b.is_ascii());
        out.copy(text, at..end);
        at = end;
        let Some(c) = text.text[at..].chars().next() else {
            break;
        };
        let origin = text.at(at);
        at += c.len_utf8();
        // Twins first: a letter's compatibility form may be of its own alphabet.
        if let Some(t) = twin(c) {
            out.push_narrow(t, origin);
            continue;
        }
        decompose_compatible(c, |part| {
            if canonical_combining_class(part) != 0 {
                return;
            }
            match twin(part) {
                Some(t) => out.push_narrow(t, origin),
                None => {
                    for lower in part.to_lowercase() {
                        // The dot that a Turkish capital I leaves behind.
                        if canonical_combining_class(lower) == 0 {
                            out.push_narrow(twin(lower).unwrap_or(lower), origin);
                        }
                    }
                }
            }
        });
    }
    // Once for all: what was added is in lower case already.
    out.text.make_ascii_lowercase();
    out
}

/// The ASCII character that another one looks like.
fn twin(c: char) -> Option<char> {
    Some(match c {
        'А' | 'а' | 'Α' | 'α' | 'ɑ' | 'Ꭺ' => 'a',
        'В' | 'в' | 'Β' | 'β' | 'Ᏼ' => 'b',
        'С' | 'с' | 'Ϲ' | 'ϲ' | 'Ꮯ' => 'c',
        'ԁ' | 'Ԁ' | 'đ' | 'Đ' | 'Ꭰ' => 'd',
        'Е' | 'е' | 'Ε' | 'ε' | 'Ꭼ' => 'e',
        'ɡ' | 'ց' | 'Ԍ' | 'Ꮐ' => 'g',
        'Н' | 'н' | 'Η' | 'һ' | 'Һ' | 'հ' | 'Ꮋ' => 'h',
        'І' | 'і' | 'Ι' | 'ι' | 'ı' | 'Ӏ' | 'ӏ' | 'Ꭵ' => 'i',
        'Ј' | 'ј' | 'Ϳ' | 'ϳ' | 'Ꭻ' => 'j',
        'К' | 'к' | 'Κ' | 'κ' | 'Ꮶ' => 'k',
        'ł' | 'Ł' | 'ⅼ' | 'Ꮮ' => 'l',
        'М' | 'м' | 'Μ' | 'Ꮇ' => 'm',
        'Ν' | 'η' | 'ո' => 'n',
        'О' | 'о' | 'Ο' | 'ο' | 'ø' | 'Ø' | 'օ' | 'Օ' => 'o',
        'Р' | 'р' | 'Ρ' | 'ρ' | 'Ꮲ' => 'p',
        'ԛ' | 'Ԛ' | 'զ' => 'q',
        'г' | 'Ꮢ' => 'r',
        'Ѕ' | 'ѕ' | 'Տ' | 'Ꮪ' => 's',
        'Т' | 'т' | 'Τ' | 'τ' | 'Ꭲ' => 't',
        'υ' | 'ս' | 'Ս' => 'u',
        'ν' | 'ѵ' | 'Ѵ' | 'Ꮩ' => 'v',
        'ԝ' | 'Ԝ' | 'ω' | 'Ꮃ' => 'w',
        'Х' | 'х' | 'Χ' | 'χ' => 'x',
        'У' | 'у' | 'Υ' | 'γ' | 'Ү' | 'ү' => 'y',
        'Ζ' | 'ζ' | 'Ꮓ' => 'z',
        '‐'..='―' | '−' | '⁃' | '﹘' | '－' => '-',
        '⁄' | '∕' | '⧸' | '╱' | '／' => '/',
        '∶' | '꞉' | '։' | 'ː' | '：' => ':',
        '․' | '。' | '．' | '｡' => '.',
        '‘' | '’' | '‛' | 'ʼ' | 'ꞌ' => '\'',
        '“' | '”' | '‟' => '"',
        '＃' | '♯' | '⌗' => '#',
        '＿' => '_',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see(text: &str) -> String {
        fold(&Text::of(text.as_bytes())).text
    }

    #[test]
    fn twins_forms_and_accents_become_plain_letters() {
        assert_eq!(see("ΡуЅyncОbј"), "pysyncobj");
        assert_eq!(see("ＰｙＳｙｎｃ"), "pysync");
        assert_eq!(see("𝕡𝕪𝕤𝕪𝕟𝕔"), "pysync");
        assert_eq!(see("ﬁx ①⑥⑨"), "fix 169");
        assert_eq!(see("pý\u{301}sync"), "pysync");
        assert_eq!(see("ΝΗΚΑ"), "nhka");
        assert_eq!(see("İ"), "i");
        assert_eq!(see("日本語"), "日本語");
    }
}
