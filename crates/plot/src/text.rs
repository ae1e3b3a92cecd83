//! Type: measuring, shortening, wrapping, and drawing text into pixels. One font
//! file serves the measuring and both outputs, so a box that is computed is the
//! box that is drawn. Letters are set here and not by plotters, whose text snaps
//! to whole pixels.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};

static REGULAR: &[u8] = include_bytes!("../../../static/fonts/inter-regular.otf");
static SEMIBOLD: &[u8] = include_bytes!("../../../static/fonts/inter-semibold.otf");

/// Names under which readers may have the font, and what stands in for it.
pub(crate) const FAMILY: &str = "Inter, 'Helvetica Neue', Arial, sans-serif";

/// How heavy text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Weight {
    /// 400.
    #[default]
    Regular,
    /// 600.
    SemiBold,
}

/// None only if a font file shipped with this crate is damaged; then nothing is
/// measured and pictures have no text. A test keeps that from happening.
static FONTS: LazyLock<[Option<FontRef<'static>>; 2]> = LazyLock::new(|| {
    [
        FontRef::try_from_slice(REGULAR).ok(),
        FontRef::try_from_slice(SEMIBOLD).ok(),
    ]
});

fn font(weight: Weight) -> Option<&'static FontRef<'static>> {
    FONTS[usize::from(weight == Weight::SemiBold)].as_ref()
}

/// The scale at which a font's em is `size` pixels.
fn scale(font: &FontRef<'static>, size: f64) -> PxScale {
    let em = font.units_per_em().unwrap_or(1000.0);
    PxScale::from(size as f32 * font.height_unscaled() / em)
}

/// Advances of the characters that nearly all text is made of, in ems: looking
/// them up in the font each time is what laying out a figure would spend most on.
static ADVANCES: LazyLock<[Vec<f64>; 2]> = LazyLock::new(|| {
    [Weight::Regular, Weight::SemiBold].map(|w| (0..COMMON).map(|c| advance(c, w)).collect())
});

/// Code points below this are kept: Latin with its extensions.
const COMMON: u32 = 0x180;

fn advance(code: u32, weight: Weight) -> f64 {
    let (Some(font), Some(c)) = (font(weight), char::from_u32(code)) else {
        return 0.0;
    };
    let em = font.units_per_em().unwrap_or(1000.0);
    f64::from(font.h_advance_unscaled(font.glyph_id(c)) / em)
}

/// Width of a text in pixels.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let common = &ADVANCES[usize::from(weight == Weight::SemiBold)];
    let ems: f64 = text
        .chars()
        .map(|c| {
            let code = u32::from(c);
            common
                .get(code as usize)
                .copied()
                .unwrap_or_else(|| advance(code, weight))
        })
        .sum();
    ems * size
}

/// Height of capitals, as a share of the size.
pub(crate) const CAP: f64 = 0.73;
/// How far letters reach above and below the baseline, as shares of the size.
pub(crate) const ASCENT: f64 = 0.78;
/// See [`ASCENT`].
pub(crate) const DESCENT: f64 = 0.22;

/// The text, shortened with an ellipsis so that it is no wider than `room`.
pub(crate) fn fit(text: &str, size: f64, weight: Weight, room: f64) -> String {
    if width(text, size, weight) <= room {
        return text.to_owned();
    }
    // What tells names apart mostly stands at their end: the middle goes.
    let ellipsis = width("…", size, weight);
    let letters: Vec<char> = text.chars().collect();
    let wide = |c: char| width(c.encode_utf8(&mut [0; 4]), size, weight);
    let (mut head, mut tail, mut used) = (0, 0, ellipsis);
    while head + tail < letters.len() {
        let front = tail >= head;
        let c = if front {
            letters[head]
        } else {
            letters[letters.len() - 1 - tail]
        };
        used += wide(c);
        if used > room {
            break;
        }
        if front {
            head += 1;
        } else {
            tail += 1;
        }
    }
    let start: String = letters[..head].iter().collect();
    let end: String = letters[letters.len() - tail..].iter().collect();
    format!("{}…{}", start.trim_end(), end.trim_start())
}

/// The text in lines no wider than `room`, broken at blanks; a single word that
/// is too wide is shortened.
pub(crate) fn wrap(text: &str, size: f64, weight: Weight, room: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let candidate = if line.is_empty() {
            word.to_owned()
        } else {
            format!("{line} {word}")
        };
        if width(&candidate, size, weight) <= room {
            line = candidate;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        line = fit(word, size, weight, room);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Hands out the covered pixels of a text whose baseline begins at `(x, y)`:
/// column, row and coverage in 0..=1. `upward` sets it from bottom to top.
pub(crate) fn pixels(
    text: &str,
    size: f64,
    weight: Weight,
    (x, y): (f64, f64),
    upward: bool,
    draw: &mut dyn FnMut(i64, i64, f32),
) {
    let Some(font) = font(weight) else { return };
    let scale = scale(font, size);
    let scaled = font.as_scaled(scale);
    let mut pen = 0.0_f32;
    // Set around the origin, then turned and moved: whole pixels stay whole.
    let (ox, oy) = (x.floor(), y.floor());
    let (fx, fy) = ((x - ox) as f32, (y - oy) as f32);
    for c in text.chars() {
        let id = font.glyph_id(c);
        let at = if upward {
            point(pen - fy, fx)
        } else {
            point(pen + fx, fy)
        };
        let glyph: Glyph = id.with_scale_and_position(scale, at);
        if let Some(outline) = font.outline_glyph(glyph) {
            let bounds = outline.px_bounds();
            let (left, top) = (bounds.min.x as i64, bounds.min.y as i64);
            outline.draw(|gx, gy, cover| {
                let (gx, gy) = (left + i64::from(gx), top + i64::from(gy));
                let (dx, dy) = if upward { (gy, -gx - 1) } else { (gx, gy) };
                draw(ox as i64 + dx, oy as i64 + dy, cover.min(1.0));
            });
        }
        pen += scaled.h_advance(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_fonts_are_whole_and_have_every_mark() {
        for weight in [Weight::Regular, Weight::SemiBold] {
            let font = font(weight).expect("the font file is readable");
            for c in "AZaz09äéß%$·–—…→−×≤≥▲▼●○§".chars() {
                assert_ne!(font.glyph_id(c).0, 0, "{c}");
            }
        }
    }

    #[test]
    fn figures_are_tabular() {
        let one = width("1", 12.0, Weight::Regular);
        for digit in ["0", "4", "7"] {
            assert!((width(digit, 12.0, Weight::Regular) - one).abs() < 1e-9);
        }
        // Inter's letters are about half as wide as high.
        assert!((50.0..80.0).contains(&width("configuration", 12.0, Weight::Regular)));
    }

    #[test]
    fn shortened_and_wrapped_text_fits() {
        let long = "an agent with a rather long name 2.2 · a model with a longer one";
        for room in [10.0, 40.0, 99.0, 1000.0] {
            let short = fit(long, 12.0, Weight::Regular, room);
            assert!(
                width(&short, 12.0, Weight::Regular) <= room.max(14.0),
                "{short}"
            );
            for line in wrap(long, 12.0, Weight::Regular, room.max(30.0)) {
                assert!(
                    width(&line, 12.0, Weight::Regular) <= room.max(30.0),
                    "{line}"
                );
            }
        }
        assert_eq!(wrap(long, 12.0, Weight::Regular, 900.0), [long]);
    }
}
