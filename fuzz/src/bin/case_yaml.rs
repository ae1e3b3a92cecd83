//! Runs libFuzzer on the target `case_yaml`.

#![no_main]

#[path = "../../targets/case_yaml.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
