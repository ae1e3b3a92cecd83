//! The few building blocks that pages share. Each turns a plain value into
//! markup; none loads anything or keeps state.

pub mod attempts;
pub mod board_statistics;
pub mod breakdown;
pub mod diff;
pub mod field;
pub mod figure;
pub mod findings;
#[cfg(feature = "ssr")]
pub mod frame;
pub mod glyph;
pub mod interval;
pub mod notice;
pub mod pager;
#[cfg(feature = "ssr")]
pub mod proof;
#[cfg(feature = "ssr")]
pub mod replay;
pub mod reported;
pub mod sort_head;
pub mod stat;
pub mod state;
pub mod submissions;
pub mod timeline;
#[cfg(feature = "ssr")]
pub mod when;
