//! Runs libFuzzer on the target `archive`.

#![no_main]

#[path = "../../targets/archive.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
