//! What a submission changes against the one before of the same configuration
//! by the same people. It only tells: what is scored anew is decided by the
//! verdict's key, which nothing of a name or a date goes into.

use std::collections::BTreeMap;

use faultboard_domain::Digest;
use faultboard_domain::metadata::Metadata;
use faultboard_store::Tx;
use faultboard_store::attempts::{self, Attempt};
use faultboard_store::submissions::{self, Submission};

use crate::Result;

/// The most attempts that are named.
const NAMED: usize = 10;

/// An attempt's place in its submission, and what it hands in.
fn answers(rows: &[Attempt]) -> BTreeMap<String, Option<&Digest>> {
    rows.iter()
        .map(|a| {
            let condition = a.condition.map_or(String::new(), |c| format!("{c}/"));
            let answer = a.patch.as_ref().or(a.diagnosis.as_ref());
            (
                format!("{}/{condition}{}", a.case, a.run),
                answer.map(|s| &s.digest),
            )
        })
        .collect()
}

/// In words, what differs from the submission before; none if there is none.
pub(crate) async fn compared(
    tx: &mut Tx,
    s: &Submission,
    m: &Metadata,
    rows: &[Attempt],
) -> Result<Option<String>> {
    let key = m.configuration_key();
    let Some(before) = submissions::predecessor(tx, s, &key).await? else {
        return Ok(None);
    };
    let old = attempts::of_submission(tx, &before).await?;
    let (old, new) = (answers(&old), answers(rows));
    let changed: Vec<&str> = new
        .iter()
        .filter(|(place, answer)| old.get(*place).is_some_and(|was| was != *answer))
        .map(|(place, _)| place.as_str())
        .collect();
    let same = new
        .iter()
        .filter(|(place, answer)| old.get(*place) == Some(answer))
        .count();
    let added = new.keys().filter(|place| !old.contains_key(*place)).count();
    let gone = old.keys().filter(|place| !new.contains_key(*place)).count();
    let mut words = format!(
        "The same configuration as submission {before}: {same} answer(s) unchanged, {} changed, {added} added, {gone} left out. Unchanged ones keep their verdict where case, images, oracle and scorer are the same too; all others are judged anew.",
        changed.len()
    );
    if !changed.is_empty() {
        words.push_str(" Changed: ");
        words.push_str(&changed[..changed.len().min(NAMED)].join(", "));
        if changed.len() > NAMED {
            words.push_str(&format!(" and {} more", changed.len() - NAMED));
        }
        words.push('.');
    }
    Ok(Some(words))
}
