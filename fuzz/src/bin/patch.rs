//! Runs libFuzzer on the target `patch`.

#![no_main]

#[path = "../../targets/patch.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
