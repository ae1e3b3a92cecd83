//! What is computed of a board as a whole: what its comparisons could find, the
//! effect of context over all rows, and the mixed model in plain words.

use faultboard_domain::view::{BoardView, CoefficientLine, MixedModelView, PowerNote};
use leptos::prelude::*;

use crate::format;

/// What a comparison of a size could find, in a sentence.
pub fn power(p: &PowerNote) -> String {
    let size = format!(
        "{} with {} each",
        format::counted(u64::from(p.cases), "common case", "common cases"),
        format::counted(u64::from(p.attempts), "attempt", "attempts")
    );
    match p.points {
        Some(points) => format!(
            "On {size}, a true difference of {} would be found in four of five experiments (simulated; weaker rate {} %). Smaller ones are easily missed, so no significant difference does not mean no difference.",
            format::counted(u64::from(points), "point", "points"),
            format::percent(p.base_rate)
        ),
        None => format!(
            "On {size}, not even the largest possible difference would be found in four of five experiments (simulated; weaker rate {} %).",
            format::percent(p.base_rate)
        ),
    }
}

/// The section below a board's table; nothing until a job has computed it.
pub fn section(view: &BoardView) -> AnyView {
    let Some(s) = view.statistics.as_deref() else {
        return ().into_any();
    };
    let power = s
        .power
        .as_ref()
        .map(|p| view! { <p class="remark" id="power">{power(p)}</p> });
    let flips = s.pooled_flips.map(|f| {
        let lift = s
            .mean_lift
            .map(|l| format!("Mean lift {} points. ", format::points(l)));
        let text = format!(
            "Over all rows, context turned {} from fail to pass and {} from pass to fail; {} stayed (McNemar's exact test, p {}).",
            format::counted(f.gained, "pair", "pairs"),
            format::count(f.lost),
            format::count(f.both_pass + f.both_fail),
            format::p_equals(f.p_exact),
        );
        view! { <p>{lift}{text}</p> }
    });
    let mixed = s.mixed.as_ref().map(mixed);
    let context = (flips.is_some() || mixed.is_some()).then(|| {
        view! {
            <section class="context-effect" id="context-effect" aria-labelledby="context-effect-head">
                <h2 id="context-effect-head">"The effect of context over all rows"</h2>
                {flips}
                {mixed}
            </section>
        }
    });
    view! { {power}{context} }.into_any()
}

fn mixed(m: &MixedModelView) -> AnyView {
    let line = |name: &'static str, c: &CoefficientLine| {
        let three = |v: f64| format::number(v, 3);
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td class="fig num">{three(c.estimate)}</td>
                <td class="fig num">{three(c.se)}</td>
                <td class="fig num">{format!("{} to {}", three(c.ci95.0), three(c.ci95.1))}</td>
                <td class="fig num">{format::number(c.z, 2)}</td>
                <td class="fig num">{format::p_value(c.p)}</td>
            </tr>
        }
        .into_any()
    };
    let notes: Vec<AnyView> = m
        .notes
        .iter()
        .map(|n| view! { <p class="remark">{n.clone()}</p> }.into_any())
        .collect();
    let size = format!(
        "logit P(pass) = b0 + b_ctx context + u_configuration + u_case, {} of {} on {}.",
        format::counted(u64::from(m.attempts), "attempt", "attempts"),
        format::counted(
            u64::from(m.configurations),
            "configuration",
            "configurations"
        ),
        format::counted(u64::from(m.cases), "case", "cases"),
    );
    let table = m.fit.as_ref().map(|f| {
        let rest = format!(
            "Odds ratio {} ({} to {}); average marginal effect {} points; variance between configurations {}, between cases {}; log-likelihood {}, AIC {}.",
            format::number(f.odds_ratio.0, 2),
            format::number(f.odds_ratio.1, 2),
            format::number(f.odds_ratio.2, 2),
            format::points(f.marginal),
            format::number(f.var_configuration, 3),
            format::number(f.var_case, 3),
            format::number(f.loglik, 2),
            format::number(f.aic, 2),
        );
        view! {
            <div class="scroll" tabindex="0" role="region" aria-label="Mixed model">
                <table class="data breakdown">
                    <caption class="sr">"Mixed model, logit scale"</caption>
                    <thead><tr>
                        <th scope="col">"coefficient"</th><th scope="col" class="fig">"estimate"</th><th scope="col" class="fig">"SE"</th>
                        <th scope="col" class="fig">"95 % interval"</th><th scope="col" class="fig">"z"</th><th scope="col" class="fig">"p"</th>
                    </tr></thead>
                    <tbody>{line("constant", &f.intercept)}{line("context", &f.context)}</tbody>
                </table>
            </div>
            <p class="remark">{rest}</p>
        }
    });
    view! {
        <p>{m.reading.clone()}</p>
        {notes}
        <details class="more">
            <summary>"Mixed-effects logistic regression"</summary>
            {table}
            <p class="remark">{size}</p>
        </details>
    }
    .into_any()
}
