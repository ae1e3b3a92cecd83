//! A value with its 95 % interval, drawn in the cell on one common scale and
//! read out as text. Drawn with SVG attributes alone.

use faultboard_domain::score::Estimate;
use faultboard_domain::view::Difference;
use leptos::prelude::*;

use crate::format;

/// Width of a bar's drawing, in its own units.
const WIDTH: f64 = 96.0;

/// A rate in per cent with its bar; the scale runs from 0 to 100.
pub fn rate(estimate: Option<&Estimate>, board_n: u32) -> AnyView {
    let Some(e) = estimate else {
        return unknown();
    };
    let short = (e.n < board_n).then(|| {
        view! { <abbr class="short-n" title=format!("from {} of {board_n} cases", e.n)>{format!("n\u{2009}=\u{2009}{}", e.n)}</abbr> }
    });
    let said = e.ci95.map(|(low, high)| {
        format!(
            ", 95 % interval {} to {}",
            format::percent(low),
            format::percent(high)
        )
    });
    view! {
        <span class="est" title=title(e.ci95, format::percent)>
            <span class="num">{format::percent(e.mean)}</span>
            {bar(0.0, 1.0, e.mean, e.ci95, None)}
            <span class="sr">{said}</span>
            {short}
        </span>
    }
    .into_any()
}

/// A rate in per cent without a bar; its interval is in the title.
pub fn plain_rate(estimate: Option<&Estimate>) -> AnyView {
    match estimate {
        None => unknown(),
        Some(e) => view! {
            <span class="num" title=title(e.ci95, format::percent)>{format::percent(e.mean)}</span>
        }
        .into_any(),
    }
}

/// A difference in points with its bar; the scale runs from `-reach` to `reach`
/// with a line at zero.
pub fn difference(difference: Option<&Difference>, reach: f64) -> AnyView {
    let Some(d) = difference else {
        return unknown();
    };
    let said = d.ci95.map(|(low, high)| {
        format!(
            ", 95 % interval {} to {}",
            format::points(low),
            format::points(high)
        )
    });
    let p = d.p.map(|p| format!(", p {}", format::p_equals(p)));
    view! {
        <span class="est" title=title(d.ci95, format::points)>
            <span class="num">{format::points(d.mean)}</span>
            {bar(-reach, reach, d.mean, d.ci95, Some(0.0))}
            <span class="sr">{said}{p}</span>
        </span>
    }
    .into_any()
}

/// What stands where there is no value.
pub fn unknown() -> AnyView {
    view! { <span class="unknown">{format::UNKNOWN}</span> }.into_any()
}

fn title(ci95: Option<(f64, f64)>, text: fn(f64) -> String) -> String {
    ci95.map_or_else(
        || "no interval: fewer than two cases".to_owned(),
        |(low, high)| format!("95 % interval {} to {}", text(low), text(high)),
    )
}

fn bar(low: f64, high: f64, mean: f64, ci95: Option<(f64, f64)>, zero: Option<f64>) -> AnyView {
    let x = |v: f64| {
        let share = ((v - low) / (high - low)).clamp(0.0, 1.0);
        format!("{:.1}", 4.0 + share * (WIDTH - 8.0))
    };
    // One path each, so that a board of a hundred rows stays light.
    let whisker = ci95.map(|(a, b)| {
        let (a, b) = (x(a), x(b));
        view! { <path class="whisker" d=format!("M{a} 8H{b}M{a} 5v6M{b} 5v6")></path> }
    });
    let zero = zero.map(|z| view! { <path class="zero" d=format!("M{} 1v14", x(z))></path> });
    view! {
        <svg class="bar" viewBox="0 0 96 16" aria-hidden="true">
            <path class="axis" d="M4 8h88"></path>
            {zero}
            {whisker}
            <circle cx=x(mean) cy="8" r="3.5"></circle>
        </svg>
    }
    .into_any()
}
