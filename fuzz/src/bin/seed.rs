//! Writes what fuzzing begins with, out of the tests' own examples: a folder for each
//! target, in the folder that `FAULTBOARD_FUZZ_SEEDS` names. It never writes anything
//! else. It is linked as the targets are, because instrumented packages need libFuzzer.

#![no_main]

#[path = "../../../crates/trace/tests/fixtures/mod.rs"]
mod fixtures;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use faultboard_bundle::hostile::{self, table};
use faultboard_trace::{Limits, read_trace, write_normalised};

struct Seeds {
    root: PathBuf,
    count: usize,
}

impl Seeds {
    fn put(&mut self, target: &str, bytes: &[u8]) -> std::io::Result<()> {
        // Large ones slow every mutation down and show nothing that small ones don't.
        if bytes.len() > 64 << 10 {
            return Ok(());
        }
        let folder = self.root.join(target);
        std::fs::create_dir_all(&folder)?;
        self.count += 1;
        std::fs::write(folder.join(format!("seed-{:04}", self.count)), bytes)
    }
}

libfuzzer_sys::fuzz_target!(
    init: {
        write().expect("the seeds can be written");
        std::process::exit(0);
    },
    |_data: &[u8]| {}
);

fn write() -> std::io::Result<()> {
    let root = std::env::var_os("FAULTBOARD_FUZZ_SEEDS").expect("FAULTBOARD_FUZZ_SEEDS is set");
    let mut seeds = Seeds {
        root: root.into(),
        count: 0,
    };
    for hostile in table() {
        seeds.put("archive", &hostile.bytes)?;
        if hostile.bytes.starts_with(&[0x1f, 0x8b]) {
            let mut tar = vec![b't'];
            let mut gz = flate2::read::GzDecoder::new(&hostile.bytes[..]);
            // A broken one gives what comes before the break.
            let _ = gz.by_ref().take(64 << 10).read_to_end(&mut tar);
            seeds.put("archive", &tar)?;
        }
    }
    seeds.put("diagnosis", hostile::DIAGNOSIS.as_bytes())?;
    seeds.put(
        "diagnosis",
        br#"{"bug_cause_description":"","buggy_blocks":[]}"#,
    )?;
    seeds.put("patch", hostile::PATCH.as_bytes())?;
    seeds.put(
        "patch",
        b"old\n\0diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-old\n+new\n\\ No newline at end of file\n",
    )?;
    seeds.put(
        "patch",
        b"diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n",
    )?;
    for (format, bytes, _) in fixtures::fixtures() {
        seeds.put(&format!("trace-{format}"), &bytes)?;
        seeds.put("trace", &bytes)?;
        let mut steps = Vec::new();
        let _ = read_trace(&mut &bytes[..], &Limits::default(), &mut |s| steps.push(s));
        seeds.put("trace-faultboard", &write_normalised(&steps).0)?;
    }
    below(Path::new("cases"), &mut |file| {
        let name = file.file_name().unwrap_or_default();
        if name == "case.yaml" {
            seeds.put("case_yaml", &std::fs::read(file)?)?;
        }
        Ok(())
    })?;
    below(Path::new("cases-solution"), &mut |file| {
        if file
            .extension()
            .is_some_and(|e| e == "diff" || e == "patch")
        {
            seeds.put("patch", &std::fs::read(file)?)?;
        }
        if file.extension().is_some_and(|e| e == "json") {
            seeds.put("diagnosis", &std::fs::read(file)?)?;
        }
        Ok(())
    })?;
    below(Path::new("crates/leakage/tests/corpus"), &mut |file| {
        for line in std::fs::read_to_string(file)?.lines() {
            let example: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            if let Some(text) = example["text"].as_str() {
                seeds.put("guards", text.as_bytes())?;
            }
        }
        Ok(())
    })
}

fn below(folder: &Path, see: &mut dyn FnMut(&Path) -> std::io::Result<()>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            below(&path, see)?;
        } else {
            see(&path)?;
        }
    }
    Ok(())
}
