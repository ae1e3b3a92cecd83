//! Runs libFuzzer on the target `diagnosis`.

#![no_main]

#[path = "../../targets/diagnosis.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
