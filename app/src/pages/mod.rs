//! One file per page: a pure function from a ready view to markup, and a thin
//! route wrapper that loads the view. Pages never compute a score and never
//! decide who may see what.

pub mod account;
pub mod admin;
pub mod attempt;
pub mod audit;
pub mod beside;
pub mod board;
pub mod board_row;
pub mod case;
pub mod cases;
pub mod changes;
pub mod compare;
pub mod compare_cases;
pub mod docs;
pub mod error;
pub mod figures;
pub mod home;
pub mod job;
pub mod me;
pub mod people;
pub mod queue;
pub mod reevaluation;
pub mod review;
pub mod submission;
pub mod submission_parts;
pub mod submit;
pub mod team;
pub mod trace;
pub mod workers;

#[cfg(test)]
mod operations_tests;
#[cfg(test)]
mod tests;

use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_params_map};

/// A parameter of the present address.
fn param(name: &str) -> String {
    use_params_map()
        .get_untracked()
        .get(name)
        .unwrap_or_default()
}

/// The query string of the present address, without its `?`.
fn query_string() -> String {
    use_location()
        .search
        .get_untracked()
        .trim_start_matches('?')
        .to_owned()
}

/// The path of the present address with its query string.
fn path_and_query() -> String {
    crate::query::href(&use_location().pathname.get_untracked(), &query_string())
}
