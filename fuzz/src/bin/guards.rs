//! Runs libFuzzer on the target `guards`.

#![no_main]

#[path = "../../targets/guards.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
