//! Stored boards, parsed once for many requests: a board of a thousand rows is
//! megabytes of JSON. An entry belongs to one generation of the boards, so a
//! rebuild, by whatever process, empties it. It never decides what is shown.

use std::sync::{Arc, Mutex, PoisonError};

use faultboard_domain::CaseId;
use faultboard_domain::view::BoardView;
use faultboard_store::boards::{self, BoardKey};
use faultboard_store::{Connection, flag};

use crate::board::{CaseBoard, GENERATION_FLAG};
use crate::{Portal, Result};

/// The most boards, and the most cases' boards, that are held.
const MOST: usize = 16;

/// What was parsed of one generation.
pub(crate) struct Parsed<K, V> {
    held: Mutex<Held<K, V>>,
}

struct Held<K, V> {
    generation: String,
    /// The latest used last.
    entries: Vec<(K, Arc<V>)>,
}

impl<K, V> Default for Parsed<K, V> {
    fn default() -> Self {
        Self {
            held: Mutex::new(Held {
                generation: String::new(),
                entries: Vec::new(),
            }),
        }
    }
}

impl<K: PartialEq, V> Parsed<K, V> {
    fn get(&self, generation: &str, key: &K) -> Option<Arc<V>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.generation != generation {
            return None;
        }
        let at = held.entries.iter().position(|(k, _)| k == key)?;
        let entry = held.entries.remove(at);
        let found = Arc::clone(&entry.1);
        held.entries.push(entry);
        Some(found)
    }

    fn put(&self, generation: String, key: K, value: Arc<V>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.generation != generation {
            *held = Held {
                generation,
                entries: Vec::new(),
            };
        }
        held.entries.retain(|(k, _)| *k != key);
        if held.entries.len() >= MOST {
            held.entries.remove(0);
        }
        held.entries.push((key, value));
    }
}

/// Everything that is held parsed.
#[derive(Default)]
pub(crate) struct ParsedBoards {
    boards: Parsed<BoardKey, BoardView>,
    cases: Parsed<CaseId, CaseBoard>,
}

impl Portal {
    /// A board as the job stored it; none: not built.
    pub(crate) async fn stored_board(
        &self,
        c: &mut Connection,
        key: &BoardKey,
    ) -> Result<Option<Arc<BoardView>>> {
        // Read first: what is stored now is of this generation or a later one,
        // and a later one is asked for under its own name.
        let generation = flag(c, GENERATION_FLAG).await?.unwrap_or_default();
        if let Some(found) = self.parsed.boards.get(&generation, key) {
            return Ok(Some(found));
        }
        let Some(view) = boards::board(c, key).await? else {
            return Ok(None);
        };
        let view = Arc::new(view);
        let held = &self.parsed.boards;
        held.put(generation, key.clone(), Arc::clone(&view));
        Ok(Some(view))
    }

    /// What published configurations reached on a case, as the job stored it.
    pub(crate) async fn stored_case_board(
        &self,
        c: &mut Connection,
        case: &CaseId,
    ) -> Result<Arc<CaseBoard>> {
        let generation = flag(c, GENERATION_FLAG).await?.unwrap_or_default();
        if let Some(found) = self.parsed.cases.get(&generation, case) {
            return Ok(found);
        }
        let board: CaseBoard = boards::case_board(c, case).await?.unwrap_or_default();
        let board = Arc::new(board);
        let held = &self.parsed.cases;
        held.put(generation, case.clone(), Arc::clone(&board));
        Ok(board)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_generation_knows_nothing_of_the_last_one() {
        let held: Parsed<u8, &str> = Parsed::default();
        held.put("a".into(), 1, Arc::new("one"));
        assert_eq!(held.get("a", &1).as_deref(), Some(&"one"));
        assert!(held.get("b", &1).is_none());
        held.put("b".into(), 2, Arc::new("two"));
        assert!(held.get("b", &1).is_none() && held.get("a", &1).is_none());
    }

    #[test]
    fn what_was_not_used_longest_goes_first() {
        let held: Parsed<usize, usize> = Parsed::default();
        for i in 0..MOST {
            held.put("a".into(), i, Arc::new(i));
        }
        assert!(held.get("a", &0).is_some());
        held.put("a".into(), MOST, Arc::new(MOST));
        assert!(held.get("a", &0).is_some() && held.get("a", &1).is_none());
    }
}
