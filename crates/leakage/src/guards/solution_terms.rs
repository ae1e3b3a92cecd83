//! Knowing too much: the name of the faulty function before any text that the
//! agent was shown held it, or a sentence of the solution anywhere. Names that
//! one could guess, such as `close` or `step`, are none of its business.

use faultboard_domain::finding::GuardSeverity;

use crate::guard::{Confirmed, Guard, Hit, Pattern, Terms};
use crate::reference::is_telling;
use crate::segment::{Source, Sources};

pub(crate) struct SolutionTerms;

const FUNCTION: u16 = 1;
const SENTENCE: u16 = 2;
/// Characters of the shortest name that nobody types by chance, and its words:
/// `read_response` is what one would call it, `become_pre_candidate` is not.
const TELLING: usize = 10;
const WORDS: usize = 3;

/// The bare name of a function, if it is one that can't be guessed: long, and of
/// several words.
fn name(function: &str) -> Option<&str> {
    let bare = function
        .rsplit(['.', ':', '/', '#'])
        .next()?
        .trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_')
        .trim_start_matches(['(', '*', '&']);
    let inner = bare.trim_matches('_');
    let humps = inner
        .chars()
        .zip(inner.chars().skip(1))
        .filter(|(a, b)| *a == '_' || (a.is_lowercase() && b.is_uppercase()))
        .count();
    (inner.chars().count() >= TELLING && humps + 1 >= WORDS).then_some(bare)
}

impl Guard for SolutionTerms {
    fn id(&self) -> &'static str {
        "solution-terms"
    }

    fn version(&self) -> u32 {
        1
    }

    fn severity(&self) -> GuardSeverity {
        GuardSeverity::Flag
    }

    fn describe(&self) -> &'static str {
        "The faulty function's name before anything showed it, or a sentence of the solution."
    }

    fn patterns(&self, terms: &Terms<'_>) -> Vec<Pattern> {
        // To search for a name that one guesses is how people look; to speak of
        // it is to know it.
        let said = Sources::of(&[Source::Thought]);
        let mut names: Vec<&str> = terms
            .case
            .functions
            .iter()
            .filter_map(|f| name(f))
            .collect();
        names.sort_unstable();
        names.dedup();
        let names = names
            .into_iter()
            .map(|n| Pattern::plain(n, FUNCTION, 0).only_in(said).unless_read());
        let sentences = terms.case.sentences.iter().enumerate();
        let sentences = sentences
            .filter(|(_, s)| is_telling(s))
            .map(|(i, s)| Pattern::words(s, SENTENCE, i));
        names.chain(sentences).collect()
    }

    fn confirm(&self, hit: &Hit<'_>) -> Option<Confirmed> {
        if hit.pattern.tag == SENTENCE {
            return hit.phrase("holds a sentence of the solution");
        }
        let part = |c: char| c.is_alphanumeric() || c == '_';
        if hit.before().is_some_and(part) || hit.after().is_some_and(part) {
            return None;
        }
        hit.itself("names the faulty function before any prompt or output showed it")
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn only_names_that_nobody_guesses_count() {
        assert_eq!(name("SyncObj._handleRaftTick"), Some("_handleRaftTick"));
        assert_eq!(
            name("Raft::become_pre_candidate"),
            Some("become_pre_candidate")
        );
        assert_eq!(name("update_term/2"), None);
        assert_eq!(
            name("(*Raft).startStopReplication"),
            Some("startStopReplication")
        );
        for short in [
            "close",
            "Channel.close",
            "Connection.read_response",
            "_onTick",
            "poll_next",
            "transmission",
            "",
        ] {
            assert_eq!(name(short), None, "{short}");
        }
    }
}
