//! The look of every figure: colours, type sizes, and what each outcome looks
//! like. No figure names a colour itself: it names a role, and a theme or the
//! page's own style sheet says what that role looks like.

use serde::{Deserialize, Serialize};

/// What a shape stands for. Its word is the end of the class names in an SVG.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Paint {
    /// The ground.
    Paper,
    /// Text.
    Ink,
    /// Quieter text.
    Ink2,
    /// Axes and frames.
    Line,
    /// Grid lines.
    Grid,
    /// What a figure is about, where no outcome is meant.
    Accent,
    /// Passes under both conditions.
    Pass,
    /// Ground of a cell that passes under both.
    PassTint,
    /// Passes only with context.
    Gain,
    /// Passes only without.
    Loss,
    /// Fails under both.
    Fail,
    /// Nothing to compare.
    Missing,
    /// Ground of a cell, the faintest of three steps; text stays legible on all of them.
    Tint1,
    /// The middle step.
    Tint2,
    /// The strongest step.
    Tint3,
    /// Ground of a cell that is better.
    GainTint,
    /// Ground of a cell that is worse.
    LossTint,
}

impl Paint {
    /// Every role.
    pub const ALL: [Paint; 17] = [
        Paint::Paper,
        Paint::Ink,
        Paint::Ink2,
        Paint::Line,
        Paint::Grid,
        Paint::Accent,
        Paint::Pass,
        Paint::PassTint,
        Paint::Gain,
        Paint::Loss,
        Paint::Fail,
        Paint::Missing,
        Paint::Tint1,
        Paint::Tint2,
        Paint::Tint3,
        Paint::GainTint,
        Paint::LossTint,
    ];

    /// The word in class names.
    pub const fn word(self) -> &'static str {
        match self {
            Paint::Paper => "paper",
            Paint::Ink => "ink",
            Paint::Ink2 => "ink-2",
            Paint::Line => "line",
            Paint::Grid => "grid",
            Paint::Accent => "accent",
            Paint::Pass => "pass",
            Paint::PassTint => "pass-tint",
            Paint::Gain => "gain",
            Paint::Loss => "loss",
            Paint::Fail => "fail",
            Paint::Missing => "missing",
            Paint::Tint1 => "tint-1",
            Paint::Tint2 => "tint-2",
            Paint::Tint3 => "tint-3",
            Paint::GainTint => "gain-tint",
            Paint::LossTint => "loss-tint",
        }
    }

    /// What the role looks like in a page, from the page's own tokens.
    const fn token(self) -> &'static str {
        match self {
            Paint::Paper => "var(--paper)",
            Paint::Ink => "var(--ink)",
            Paint::Ink2 => "var(--ink-2)",
            Paint::Line => "var(--line)",
            Paint::Grid => "color-mix(in srgb, var(--line) 45%, var(--paper))",
            Paint::Accent => "var(--accent)",
            Paint::Pass => "var(--pass)",
            Paint::PassTint => "color-mix(in srgb, var(--pass) 14%, var(--paper))",
            Paint::Gain => "var(--gain)",
            Paint::Loss => "var(--loss)",
            Paint::Fail => "var(--fail)",
            Paint::Missing => "var(--missing)",
            Paint::Tint1 => "color-mix(in srgb, var(--accent) 10%, var(--paper))",
            Paint::Tint2 => "color-mix(in srgb, var(--accent) 22%, var(--paper))",
            Paint::Tint3 => "color-mix(in srgb, var(--accent) 36%, var(--paper))",
            Paint::GainTint => "color-mix(in srgb, var(--gain) 20%, var(--paper))",
            Paint::LossTint => "color-mix(in srgb, var(--loss) 20%, var(--paper))",
        }
    }
}

/// The style rules that give figures inside a page the page's colours, light or
/// dark, whatever theme they were drawn in. For a style sheet: it needs the
/// tokens `--ink`, `--ink-2`, `--paper`, `--line`, `--accent`, `--pass`,
/// `--gain`, `--loss`, `--fail` and `--missing`.
pub fn stylesheet() -> String {
    let mut css = String::from(
        ".fb-figure{max-width:100%;height:auto;font-variant-numeric:tabular-nums}\n\
         .fb-figure .mark:focus{outline:none}\n\
         .fb-figure .mark:hover>*,.fb-figure .mark:focus-visible>*{stroke:var(--ink);stroke-width:12}\n",
    );
    for paint in Paint::ALL {
        let (word, token) = (paint.word(), paint.token());
        css.push_str(&format!(
            ".fb-figure .f-{word}{{fill:{token}}}.fb-figure .s-{word}{{stroke:{token}}}\n"
        ));
    }
    css
}

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// For what a figure is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// A light page.
    #[default]
    Light,
    /// A dark page.
    Dark,
    /// Paper: black on white.
    Print,
}

impl Theme {
    /// Every theme.
    pub const ALL: [Theme; 3] = [Theme::Light, Theme::Dark, Theme::Print];

    /// The word in addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Theme::Light => "light",
            Theme::Dark => "dark",
            Theme::Print => "print",
        }
    }

    /// The theme of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == word)
    }

    /// The colour of a role. Outcomes are of the Okabe-Ito set; on dark ground the
    /// set's own lighter blue stands for blue.
    pub const fn colour(self, paint: Paint) -> Rgb {
        let (light, dark, print) = match paint {
            Paint::Paper => (0xff_ffff, 0x14_171b, 0xff_ffff),
            Paint::Ink => (0x16_181d, 0xe9_ebee, 0x00_0000),
            Paint::Ink2 => (0x5a_6069, 0xa4_abb5, 0x3c_3c3c),
            Paint::Line => (0xc9_ced6, 0x43_4a54, 0x8c_8c8c),
            Paint::Grid => (0xe9_ecef, 0x25_2a30, 0xe2_e2e2),
            Paint::Accent => (0x00_72b2, 0x56_b4e9, 0x00_72b2),
            Paint::Pass => (0x00_72b2, 0x56_b4e9, 0x00_72b2),
            Paint::PassTint => (0xdd_ecf5, 0x1e_2f3c, 0xe4_f0f7),
            Paint::Gain => (0x00_9e73, 0x1f_b58a, 0x00_9e73),
            Paint::Loss => (0xd5_5e00, 0xe8_7a24, 0xd5_5e00),
            Paint::Fail => (0x8a_9099, 0x7d_858f, 0x77_7777),
            Paint::Missing => (0xb4_bac3, 0x56_5d67, 0xa0_a0a0),
            Paint::Tint1 => (0xe6_f1f7, 0x1c_2a34, 0xf0_f0f0),
            Paint::Tint2 => (0xc7_e0ee, 0x24_3d4c, 0xdc_dcdc),
            Paint::Tint3 => (0xa3_cce3, 0x2d_5369, 0xc4_c4c4),
            Paint::GainTint => (0xcc_ece3, 0x17_4038, 0xe0_f2ec),
            Paint::LossTint => (0xf7_dfcc, 0x4f_331e, 0xf7_e5d8),
        };
        let rgb = match self {
            Theme::Light => light,
            Theme::Dark => dark,
            Theme::Print => print,
        };
        ((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
    }
}

/// Sizes of type, in pixels.
pub(crate) mod size {
    /// A figure's title.
    pub(crate) const TITLE: f64 = 15.0;
    /// Names and notes.
    pub(crate) const TEXT: f64 = 12.0;
    /// Axes, legends and small print.
    pub(crate) const SMALL: f64 = 11.0;
    /// The least that is still read.
    pub(crate) const LEAST: f64 = 9.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance((r, g, b): Rgb) -> f64 {
        let channel = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
    }

    fn contrast(theme: Theme, a: Paint, b: Paint) -> f64 {
        let (a, b) = (luminance(theme.colour(a)), luminance(theme.colour(b)));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_marks_stand_out_in_every_theme() {
        for theme in Theme::ALL {
            for text in [Paint::Ink, Paint::Ink2] {
                assert!(
                    contrast(theme, text, Paint::Paper) >= 4.5,
                    "{theme:?} {text:?}"
                );
            }
            for mark in [
                Paint::Accent,
                Paint::Pass,
                Paint::Gain,
                Paint::Loss,
                Paint::Fail,
            ] {
                assert!(
                    contrast(theme, mark, Paint::Paper) >= 3.0,
                    "{theme:?} {mark:?}"
                );
            }
            assert!(
                contrast(theme, Paint::Pass, Paint::PassTint) >= 3.0,
                "{theme:?}"
            );
            for ground in [
                Paint::Tint1,
                Paint::Tint2,
                Paint::Tint3,
                Paint::GainTint,
                Paint::LossTint,
            ] {
                assert!(
                    contrast(theme, Paint::Ink, ground) >= 4.5,
                    "{theme:?} {ground:?}"
                );
            }
        }
    }

    #[test]
    fn the_style_sheet_knows_every_role() {
        let css = stylesheet();
        for paint in Paint::ALL {
            assert!(css.contains(&format!(".f-{}{{", paint.word())));
        }
        // The site's own style sheet holds them, word for word.
        let site = include_str!("../../../static/faultboard.css");
        assert!(
            site.contains(&css),
            "put this into static/faultboard.css:\n{css}"
        );
        assert_eq!(Theme::parse("dark"), Some(Theme::Dark));
        assert_eq!(Theme::parse("neon"), None);
    }
}
