//! The root file system of a run: an unpacked image, or the host's `/usr` where
//! the site allows it to stand in. Read-only either way.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use sha2::{Digest as _, Sha256};

use super::BubblewrapConfig;
use super::argv::parents;
use super::state::RunFolder;
use crate::error::RuntimeError;

/// Folder for the site's own programs beside the host's.
const TOOLS: &str = "/opt/faultboard/bin";

/// Entries that a run makes itself.
const OWN: &[&str] = &["proc", "dev", "tmp", "sys", "work", "case", "oracle"];

/// What the host's `/etc` may show; passwords and keys are not in it.
const HOST_ETC: &[&str] = &[
    "alternatives",
    "ca-certificates.conf",
    "ca-certificates",
    "host.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nsswitch.conf",
    "protocols",
    "resolv.conf",
    "services",
    "python3",
    "python3.11",
    "python3.12",
];

const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\n\
    agent:x:1000:1000::/home/agent:/bin/bash\n\
    subject:x:1001:1001::/tmp/subject:/usr/sbin/nologin\n\
    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUP: &str = "root:x:0:\nagent:x:1000:\nsubject:x:1001:\nnogroup:x:65534:\n";

/// Where a run's programs come from.
#[derive(Debug)]
pub(super) enum Root {
    /// An unpacked image.
    Image(PathBuf),
    /// The host.
    Host {
        /// The site's own programs.
        tools: Option<PathBuf>,
    },
}

impl Root {
    pub(super) fn find(config: &BubblewrapConfig, image: &str) -> Result<Self, RuntimeError> {
        let name = image.replace(['/', ':'], "_");
        let folder = config.rootfs_dir.join(&name);
        // A name of dots would be another folder than the image's.
        if !name.starts_with('.') && folder.join("usr").is_dir() {
            return Ok(Self::Image(folder));
        }
        if config.host_images.iter().any(|i| i == image) {
            return Ok(Self::Host {
                tools: config.tools_dir.clone(),
            });
        }
        Err(RuntimeError::ImageMissing {
            image: image.to_owned(),
            detail: format!("there is no root file system at {}", folder.display()),
        })
    }

    /// What to say on a result, if anything.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Self::Image(_) => None,
            Self::Host { .. } => Some("the host's own /usr stood in for the image".to_owned()),
        }
    }

    pub(super) fn extra_path(&self) -> Option<&'static str> {
        matches!(self, Self::Host { tools: Some(_) }).then_some(TOOLS)
    }

    /// Arguments that put the root together on an empty tmpfs, so that every
    /// mount point can be made.
    pub(super) fn mounts(&self, folder: &RunFolder) -> Result<Vec<String>, RuntimeError> {
        match self {
            Self::Image(root) => image_mounts(root),
            Self::Host { tools } => host_mounts(tools.as_deref(), folder),
        }
    }

    /// A digest that changes when the programs do.
    pub(super) async fn digest(&self) -> Result<String, RuntimeError> {
        let root = match self {
            Self::Image(root) => Some(root.clone()),
            Self::Host { .. } => None,
        };
        tokio::task::spawn_blocking(move || match root {
            Some(root) => image_digest(&root),
            None => host_digest(),
        })
        .await
        .map_err(|e| RuntimeError::io("reading the root file system", std::io::Error::other(e)))?
    }
}

fn image_mounts(root: &Path) -> Result<Vec<String>, RuntimeError> {
    let mut argv = Vec::new();
    let entries = std::fs::read_dir(root)
        .map_err(|e| RuntimeError::io(format!("reading {}", root.display()), e))?;
    let mut entries: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else {
            continue;
        };
        if OWN.contains(&name) {
            continue;
        }
        argv.extend(entry(&path, &format!("/{name}")));
    }
    Ok(argv)
}

fn host_mounts(tools: Option<&Path>, folder: &RunFolder) -> Result<Vec<String>, RuntimeError> {
    let mut argv = entry(Path::new("/usr"), "/usr");
    for name in ["bin", "sbin", "lib", "lib32", "lib64", "libx32"] {
        let path = Path::new("/").join(name);
        if path.symlink_metadata().is_ok() {
            argv.extend(entry(&path, &format!("/{name}")));
        }
    }
    argv.extend(parents("/etc/ssl/certs"));
    for name in HOST_ETC {
        let path = Path::new("/etc").join(name);
        if let Ok(real) = path.canonicalize() {
            argv.extend([
                "--ro-bind".into(),
                real.to_string_lossy().into_owned(),
                format!("/etc/{name}"),
            ]);
        }
    }
    if Path::new("/etc/ssl/certs").is_dir() {
        argv.extend([
            "--ro-bind".into(),
            "/etc/ssl/certs".into(),
            "/etc/ssl/certs".into(),
        ]);
    }
    for (name, text) in [("passwd", PASSWD), ("group", GROUP)] {
        let file = folder.write(name, text.as_bytes())?;
        argv.extend([
            "--ro-bind".into(),
            file.to_string_lossy().into_owned(),
            format!("/etc/{name}"),
        ]);
    }
    if let Some(tools) = tools {
        argv.extend(parents(TOOLS));
        argv.extend([
            "--ro-bind".into(),
            tools.to_string_lossy().into_owned(),
            TOOLS.into(),
        ]);
    }
    argv.extend(parents("/var/tmp/x"));
    argv.extend(parents("/run/x"));
    Ok(argv)
}

/// A link stays a link; anything else is bound read-only.
fn entry(path: &Path, target: &str) -> Vec<String> {
    match std::fs::read_link(path) {
        Ok(goal) => vec![
            "--symlink".into(),
            goal.to_string_lossy().into_owned(),
            target.to_owned(),
        ],
        Err(_) => vec![
            "--ro-bind".into(),
            path.to_string_lossy().into_owned(),
            target.to_owned(),
        ],
    }
}

/// Digest over names, kinds, sizes and times of an unpacked image. Reading all
/// bytes would take seconds for each run; the walk is remembered per folder and
/// repeated when the folder's own time changes.
fn image_digest(root: &Path) -> Result<String, RuntimeError> {
    type Seen = Mutex<HashMap<PathBuf, (i64, String)>>;
    static SEEN: OnceLock<Seen> = OnceLock::new();
    let failed = |e| RuntimeError::io(format!("reading {}", root.display()), e);
    let changed = std::fs::metadata(root).map_err(failed)?.mtime();
    let seen = SEEN.get_or_init(Mutex::default);
    if let Some((at, digest)) = seen
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(root)
        && *at == changed
    {
        return Ok(digest.clone());
    }
    let mut lines = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for item in std::fs::read_dir(&folder).map_err(failed)? {
            let item = item.map_err(failed)?;
            let meta = item.metadata().map_err(failed)?;
            let path = item.path();
            let name = path
                .strip_prefix(root)
                .unwrap_or(&path)
                .as_os_str()
                .as_encoded_bytes()
                .to_vec();
            // A folder's size and time say nothing that its entries don't.
            let (size, time) = if meta.is_dir() {
                (0, 0)
            } else {
                (meta.size(), meta.mtime())
            };
            lines.push((name, format!(" {:o} {size} {time}\n", meta.mode())));
            if meta.is_dir() {
                folders.push(path);
            }
        }
    }
    lines.sort();
    let mut hash = Sha256::new();
    for (name, rest) in lines {
        hash.update(name);
        hash.update(rest);
    }
    let digest = format!("sha256:{}", hex::encode(hash.finalize()));
    seen.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(root.to_owned(), (changed, digest.clone()));
    Ok(digest)
}

/// Digest over the host's release and its installed packages.
fn host_digest() -> Result<String, RuntimeError> {
    let mut hash = Sha256::new();
    hash.update(b"host\n");
    for path in ["/etc/os-release", "/var/lib/dpkg/status"] {
        match std::fs::read(path) {
            Ok(bytes) => hash.update(bytes),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(RuntimeError::io(format!("reading {path}"), e)),
        }
    }
    Ok(format!("sha256:{}", hex::encode(hash.finalize())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_found_by_name_and_nothing_stands_in_unasked() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = BubblewrapConfig::under(dir.path());
        std::fs::create_dir_all(config.rootfs_dir.join("faultboard_base_1/usr")).unwrap();
        assert!(matches!(
            Root::find(&config, "faultboard/base:1").unwrap(),
            Root::Image(_)
        ));
        let missing = Root::find(&config, "faultboard/none:1").unwrap_err();
        assert!(
            missing.to_string().contains("`faultboard/none:1`"),
            "{missing}"
        );
        assert!(Root::find(&config, "../faultboard_base_1").is_err());
        config.host_images.push("faultboard/none:1".into());
        assert!(
            Root::find(&config, "faultboard/none:1")
                .unwrap()
                .note()
                .is_some()
        );
    }

    #[test]
    fn an_image_s_digest_follows_its_files() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        for root in [&a, &b] {
            std::fs::create_dir_all(root.join("usr")).unwrap();
            std::fs::write(root.join("usr/x"), b"1").unwrap();
        }
        let time = std::time::SystemTime::UNIX_EPOCH;
        for root in [&a, &b] {
            std::fs::File::options()
                .write(true)
                .open(root.join("usr/x"))
                .unwrap()
                .set_modified(time)
                .unwrap();
        }
        assert_eq!(image_digest(&a).unwrap(), image_digest(&b).unwrap());
        std::fs::write(b.join("usr/y"), b"2").unwrap();
        std::fs::File::open(&b).unwrap().set_modified(time).unwrap();
        assert_ne!(image_digest(&a).unwrap(), image_digest(&b).unwrap());
    }
}
