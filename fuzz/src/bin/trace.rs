//! Runs libFuzzer on one trace format, which `FAULTBOARD_FUZZ_FORMAT` names; without it
//! on the format that the bytes look like.

#![no_main]

use std::sync::LazyLock;

#[path = "../../targets/trace.rs"]
mod target;

static FORMAT: LazyLock<Option<String>> =
    LazyLock::new(|| std::env::var("FAULTBOARD_FUZZ_FORMAT").ok());

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(FORMAT.as_deref(), data));
