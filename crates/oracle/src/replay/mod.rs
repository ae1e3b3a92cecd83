//! Running the commands of a trace once more, in a fresh container of the case,
//! and saying where output, exit status or the resulting tree depart from what
//! was handed in. It judges nobody: departures have innocent reasons too.

mod compare;

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use faultboard_domain::Condition;
use faultboard_domain::view::{Departure, ReplayView, ReplayedStep, ReplayedTree};
use faultboard_sandbox::{Labels, Mount, Quota, RunControl};

use crate::case::OracleCase;
use crate::evaluate::{Oracle, OracleError};
use crate::prepare::blocking;
use crate::scratch::Scratch;
use crate::{patching, stages, tree};

/// The most commands of one trace.
const MOST_COMMANDS: usize = 5_000;
/// Seconds that one command may take, and all together.
const COMMAND_SECONDS: u64 = 120;
const ALL_SECONDS: u64 = 3_600;
/// The most that is read of what a command printed.
const MOST_OUTPUT: u64 = 1 << 20;
/// What the commands may print in all.
const PRINTED: Quota = Quota {
    bytes: 512 << 20,
    files: 20_000,
};

/// Runs each script in turn. A kept shell hands its folder and its exported
/// variables on to the next one.
const DRIVER: &str = r#"
set -u
mkdir -p /tmp/.replay
for script in /replay/*.sh; do
  name="${script##*/}"; name="${name%.sh}"
  cd /work/tree
  timeout -k 2 "$REPLAY_SECONDS" bash "/replay/$REPLAY_SHELL" "$script" </dev/null >"/seen/$name.out" 2>&1
  printf '%s\n' "$?" >"/seen/$name.code"
done
"#;
const FRESH: &str = "exec bash -c \"$(cat \"$1\")\"\n";
const KEPT: &str = r#"script="$(cat "$1")"
cd "$(cat /tmp/.replay/folder 2>/dev/null)" 2>/dev/null || cd /work/tree
[ ! -e /tmp/.replay/exported ] || . /tmp/.replay/exported 2>/dev/null
trap 'code=$?; pwd >/tmp/.replay/folder; export -p >/tmp/.replay/exported; exit $code' EXIT
eval "$script"
"#;

/// Whether commands share a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// Each has a fresh one, in the tree's folder.
    Fresh,
    /// One is kept over all: folder and exported variables stay.
    Kept,
}

impl Shell {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Kept => "kept",
        }
    }
}

/// A command of a trace and what the trace says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// 0-based position of its step.
    pub index: u32,
    /// The shell's script; `Err` says why it can't be run again.
    pub script: Result<String, String>,
    /// What it printed; none if the trace does not say.
    pub output: Option<String>,
    /// Its exit status, if the trace says.
    pub exit_code: Option<i64>,
    /// Whether the scaffold had cut the output.
    pub truncated: bool,
}

/// What is replayed.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What the agent knew: its workspace is laid out the same.
    pub condition: Condition,
    /// The commands, in order.
    pub told: &'a [Told],
    /// How they share a shell.
    pub shell: Shell,
    /// The patch that was handed in.
    pub patch: Option<&'a [u8]>,
}

impl Oracle {
    /// Replays a trace's commands.
    ///
    /// # Errors
    /// The platform's own failures, and a trace of too many commands.
    pub async fn replay(
        &self,
        case: &OracleCase,
        request: &Request<'_>,
        labels: &Labels,
        control: &RunControl,
    ) -> Result<ReplayView, OracleError> {
        let host = |what: &'static str| move |e| OracleError::host(what, e);
        if request.told.len() > MOST_COMMANDS {
            return Err(OracleError::Case(format!(
                "the trace has more than {MOST_COMMANDS} commands"
            )));
        }
        let scratch = Scratch::create(&self.scratch_dir(), &format!("replay-{}", (self.nonce)()))
            .map_err(host("making a working folder"))?;
        let dir = |name: &str| scratch.path().join(name);
        let (work, scripts, seen) = (dir("work"), dir("replay"), dir("seen"));
        let made = self
            .prepare_workspace(case, request.condition, &work, labels, control)
            .await?;
        self.lay_scripts(request, &scripts, &seen)
            .map_err(host("laying out a replay"))?;
        let mut spec = stages::in_tree(case, &self.settings, &work, labels, DRIVER);
        spec.env.insert("HOME".into(), "/work/.home".into());
        spec.env
            .insert("REPLAY_SECONDS".into(), COMMAND_SECONDS.to_string());
        spec.env
            .insert("REPLAY_SHELL".into(), request.shell.as_str().into());
        spec.mounts.push(Mount::read_only(&scripts, "/replay"));
        spec.mounts.push(Mount::writable(&seen, "/seen", PRINTED));
        spec.timeout = Duration::from_secs(ALL_SECONDS);
        let begun = self.clock.now();
        // Whatever ends the run early, each command says for itself how far it came.
        self.run(&spec, control.clone(), &made.image_digest).await?;
        let ended = self.clock.now();

        let mut steps = Vec::with_capacity(request.told.len());
        for (n, told) in request.told.iter().enumerate() {
            steps.push(replayed(told, &seen, n).map_err(host("reading a replay"))?);
        }
        let tree = match request.patch {
            None => None,
            Some(patch) => Some(self.trees(case, request, patch, &work, labels).await?),
        };
        let seconds = u32::try_from(ended.since_ms(begun).max(0)).unwrap_or(u32::MAX);
        blocking(move || {
            drop(scratch);
            Ok(())
        })
        .await
        .map_err(host("removing a working folder"))?;
        Ok(ReplayView {
            steps,
            tree,
            shell: request.shell.as_str().to_owned(),
            image_digest: made.image_digest,
            seconds: f64::from(seconds) / 1_000.0,
            at: ended,
        })
    }

    fn lay_scripts(&self, request: &Request<'_>, scripts: &Path, seen: &Path) -> io::Result<()> {
        fs::create_dir(scripts)?;
        fs::create_dir(seen)?;
        tree::give(seen, self.settings.builder)?;
        fs::write(scripts.join("fresh"), FRESH)?;
        fs::write(scripts.join("kept"), KEPT)?;
        for (n, told) in request.told.iter().enumerate() {
            if let Ok(script) = &told.script {
                fs::write(scripts.join(format!("{n:05}.sh")), script)?;
            }
        }
        Ok(())
    }

    /// Compares what the replay made of the tree with what the patch makes of it.
    async fn trees(
        &self,
        case: &OracleCase,
        request: &Request<'_>,
        patch: &[u8],
        work: &Path,
        labels: &Labels,
    ) -> Result<ReplayedTree, OracleError> {
        let host = |what: &'static str| move |e| OracleError::host(what, e);
        let replayed = self.workspace_patch(case, work, labels).await?;
        let other = work.with_file_name("patched");
        self.prepare_workspace(
            case,
            request.condition,
            &other,
            labels,
            &RunControl::default(),
        )
        .await?;
        let (root, owner, bytes) = (other.join("tree"), self.settings.builder, patch.to_vec());
        let applied = blocking(move || patching::apply(&root, &bytes, owner))
            .await
            .map_err(host("applying the patch"))?;
        if !applied.failures.is_empty() {
            return Ok(ReplayedTree {
                departs: vec![(
                    String::new(),
                    format!("the patch does not fit: {}", applied.failures.join("; ")),
                )],
                left_behind: Vec::new(),
            });
        }
        let handed_in = self.workspace_patch(case, &other, labels).await?;
        Ok(compare::trees(&replayed, &handed_in))
    }
}

/// What became of one command.
fn replayed(told: &Told, seen: &Path, n: usize) -> io::Result<ReplayedStep> {
    let mut step = ReplayedStep {
        index: told.index,
        command: String::new(),
        departure: Departure::NotRun,
        why: String::new(),
        told: String::new(),
        seen: String::new(),
    };
    match &told.script {
        Err(why) => step.why.clone_from(why),
        Ok(script) => {
            step.command = compare::beginning(script);
            let code = printed(&seen.join(format!("{n:05}.code")))?;
            let code = code.and_then(|c| String::from_utf8_lossy(&c).trim().parse::<i64>().ok());
            match (code, printed(&seen.join(format!("{n:05}.out")))?) {
                (Some(code), Some(output)) => {
                    compare::step(told, &String::from_utf8_lossy(&output), code, &mut step);
                }
                _ => "the replay ended before it".clone_into(&mut step.why),
            }
        }
    }
    Ok(step)
}

/// The beginning of a file that a container wrote: a plain one, never what a link
/// points at.
fn printed(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut options = fs::File::options();
    options
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
    let Ok(file) = options.open(path) else {
        return Ok(None);
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(MOST_OUTPUT).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
