//! Published rates of another benchmark beside this board's: as reported, and
//! never mixed with scores. Pure.

use std::num::NonZeroU64;
use std::sync::LazyLock;

use faultboard_domain::Track;
use faultboard_domain::view::ReportedSet;
use faultboard_plot::{ContrastRow, Panel, PanelPair, PanelRow, SaturationContrast};
use faultboard_stats::unpaired;

use super::Source;

/// The set that stands beside the repair track.
const SET: &str = "swe-bench-verified";
/// Its column of rates.
const RATE: &str = "rate";
/// What it is called in figures.
const NAME: &str = "SWE-bench Verified";

fn set() -> Option<ReportedSet> {
    faultboard_catalog::reported::of(Track::Repair)
        .into_iter()
        .find(|s| s.id == SET)
}

/// Its rates, per cent, the best first.
fn rates(set: &ReportedSet) -> Vec<(String, f64)> {
    let mut rates: Vec<(String, f64)> = set
        .rows
        .iter()
        .filter_map(|r| Some((r.name.clone(), r.values.get(RATE)?.value)))
        .collect();
    rates.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rates
}

/// The reported pairs: the same on every board, and not quick to compute.
static PANEL: LazyLock<Option<Panel>> = LazyLock::new(|| {
    let set = set()?;
    let n = set.columns.iter().find(|c| c.key == RATE)?.n?;
    let tasks = NonZeroU64::new(u64::from(n))?;
    let rates = rates(&set);
    let passes: Vec<u64> = rates
        .iter()
        .map(|(_, rate)| unpaired::passes_of_rate(*rate, u64::from(n)))
        .collect();
    let pairs = unpaired::panel(&passes, tasks)?;
    Some(Panel {
        title: format!("{NAME}, unpaired test"),
        reported: true,
        source: set.source,
        n,
        rows: rates
            .into_iter()
            .map(|(name, rate)| PanelRow {
                name,
                rate: Some(rate / 100.0),
            })
            .collect(),
        pairs: pairs
            .into_iter()
            .map(|p| PanelPair {
                a: p.a,
                b: p.b,
                difference: Some(p.difference.delta),
                p: Some(p.difference.test.p),
                p_holm: Some(p.p_holm),
            })
            .collect(),
    })
});

/// The reported panel of a track, if it has one.
pub(crate) fn panel(track: Track) -> Option<Panel> {
    (track == Track::Repair).then(|| PANEL.clone()).flatten()
}

/// Letters and digits of a name: `GPT-5.4` and `gpt 5.4` are one model.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The board's models that have a reported rate; none if none has.
pub(crate) fn contrast(source: &Source<'_>) -> Option<SaturationContrast> {
    let set = set()?;
    let rates = rates(&set);
    let rows: Vec<ContrastRow> = source
        .rows
        .iter()
        .filter_map(|(row, _)| {
            let (_, rate) = rates.iter().find(|(n, _)| plain(n) == plain(&row.model))?;
            Some(ContrastRow {
                name: row.configuration.clone(),
                reported: Some(rate / 100.0),
                here: row.value("symptom"),
                here_reported: false,
            })
        })
        .collect();
    (!rows.is_empty()).then(|| SaturationContrast {
        about: source.about.clone(),
        benchmark: NAME.to_owned(),
        source: set.source,
        cases: source.view.n_cases,
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_rates_are_ordered_and_compared_as_published() {
        let panel = panel(Track::Repair).expect("there is a set");
        assert!(panel.reported && panel.rows.len() > 2);
        assert!(panel.rows.windows(2).all(|w| w[0].rate >= w[1].rate));
        let n = panel.rows.len();
        assert_eq!(panel.pairs.len(), n * (n - 1) / 2);
        assert!(panel.pairs.iter().all(|p| p.difference >= Some(0.0)));
    }

    #[test]
    fn names_are_compared_without_their_signs() {
        assert_eq!(plain("GPT-5.4"), plain("gpt 5.4"));
        assert_ne!(plain("GLM 5"), plain("GLM 4.7"));
    }
}
