//! Content-addressed bytes over `object_store`: a blob's name is its SHA-256, so
//! equal bytes are kept once and a name never lies. It never knows what a blob
//! means, and it never deletes.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use faultboard_domain::Digest;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, WriteMultipart};
use sha2::Digest as _;
use tokio::io::AsyncReadExt;

/// Why bytes could not be kept or brought.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// There is no such blob.
    #[error("blob {0} is missing")]
    Missing(Digest),
    /// The store refused or could not be reached.
    #[error("object store: {0}")]
    Store(object_store::Error),
    /// The folder of blobs is not where it was: moved away, or its disk is not mounted.
    #[error(
        "the folder of blobs {0} is gone, or not the one that was used before (it holds no file `{MARK}`)"
    )]
    Away(PathBuf),
    /// A local file could not be read or written.
    #[error("file: {0}")]
    File(#[from] std::io::Error),
    /// A blob is larger than the caller allows.
    #[error("blob {digest} has {size} bytes, more than {most}")]
    TooLarge {
        /// The blob.
        digest: Digest,
        /// Its size.
        size: u64,
        /// What the caller allows.
        most: u64,
    },
}

type Result<T> = std::result::Result<T, BlobError>;

/// The blob store.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    /// The folder, where blobs are files on this machine.
    local: Option<PathBuf>,
}

/// A blob as a file on this machine.
#[derive(Debug)]
pub struct LocalFile {
    path: PathBuf,
    temporary: bool,
}

impl LocalFile {
    /// Where it lies. It must only be read.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LocalFile {
    fn drop(&mut self) {
        if self.temporary {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Tells the folder that blobs were put into from an empty one in its place, such
/// as the mount point of a disk that is not there.
const MARK: &str = ".faultboard-blobs";

/// Where a blob lies below the store's root.
fn key(digest: &Digest) -> String {
    let d = digest.as_str();
    format!("sha256/{}/{}", &d[..2], d)
}

impl Blobs {
    /// Blobs in a local folder, made if it is missing.
    pub fn local(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        let mark = folder.join(MARK);
        if !mark.exists() {
            std::fs::write(&mark, "Blobs of Faultboard, each named by its SHA-256.\n")?;
        }
        let store = LocalFileSystem::new_with_prefix(&folder)
            .map_err(BlobError::Store)?
            .with_fsync(true);
        Ok(Self {
            store: Arc::new(store),
            local: Some(folder),
        })
    }

    /// Blobs in any object store.
    pub fn remote(store: Arc<dyn ObjectStore>) -> Self {
        Self { store, local: None }
    }

    fn path(digest: &Digest) -> object_store::path::Path {
        object_store::path::Path::from(key(digest))
    }

    fn error(digest: &Digest, e: object_store::Error) -> BlobError {
        match e {
            object_store::Error::NotFound { .. } => BlobError::Missing(digest.clone()),
            e => BlobError::Store(e),
        }
    }

    /// Whether the local folder, if there is one, is still the one that was opened.
    async fn at_home(&self) -> Result<()> {
        match &self.local {
            Some(folder) if tokio::fs::metadata(folder.join(MARK)).await.is_err() => {
                Err(BlobError::Away(folder.clone()))
            }
            _ => Ok(()),
        }
    }

    /// A blob's size in bytes.
    pub async fn size(&self, digest: &Digest) -> Result<u64> {
        Ok(self
            .store
            .head(&Self::path(digest))
            .await
            .map_err(|e| Self::error(digest, e))?
            .size)
    }

    /// Whether a blob is there.
    pub async fn has(&self, digest: &Digest) -> Result<bool> {
        match self.size(digest).await {
            Ok(_) => Ok(true),
            Err(BlobError::Missing(_)) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Keeps small bytes; their digest.
    pub async fn put(&self, bytes: Bytes) -> Result<Digest> {
        let digest = Digest::of(&bytes);
        self.at_home().await?;
        if !self.has(&digest).await? {
            self.store
                .put(&Self::path(&digest), bytes.into())
                .await
                .map_err(BlobError::Store)?;
        }
        Ok(digest)
    }

    /// Takes a file in under its digest, which the caller has computed while it
    /// wrote the file; the file is gone afterwards. Does nothing twice.
    pub async fn import_file(&self, file: &Path, digest: &Digest) -> Result<()> {
        self.at_home().await?;
        if self.has(digest).await? {
            tokio::fs::remove_file(file).await?;
            return Ok(());
        }
        if let Some(folder) = &self.local {
            let target = folder.join(key(digest));
            let parent = target.parent().unwrap_or(folder);
            tokio::fs::create_dir_all(parent).await?;
            let handle = tokio::fs::File::open(file).await?;
            handle.sync_all().await?;
            match tokio::fs::rename(file, &target).await {
                Ok(()) => {
                    tokio::fs::File::open(parent).await?.sync_all().await?;
                    return Ok(());
                }
                // Another file system: copy below.
                Err(e) if e.kind() == std::io::ErrorKind::CrossesDevices => {}
                Err(e) => return Err(e.into()),
            }
        }
        let upload = self
            .store
            .put_multipart(&Self::path(digest))
            .await
            .map_err(BlobError::Store)?;
        let mut writer = WriteMultipart::new(upload);
        let mut source = tokio::fs::File::open(file).await?;
        let mut buffer = vec![0; 1 << 20];
        loop {
            let n = source.read(&mut buffer).await?;
            if n == 0 {
                break;
            }
            writer
                .wait_for_capacity(4)
                .await
                .map_err(BlobError::Store)?;
            writer.write(&buffer[..n]);
        }
        writer.finish().await.map_err(BlobError::Store)?;
        tokio::fs::remove_file(file).await?;
        Ok(())
    }

    /// A blob's bytes, if they are at most `most`.
    pub async fn get(&self, digest: &Digest, most: u64) -> Result<Bytes> {
        let size = self.size(digest).await?;
        if size > most {
            return Err(BlobError::TooLarge {
                digest: digest.clone(),
                size,
                most,
            });
        }
        let got = self
            .store
            .get(&Self::path(digest))
            .await
            .map_err(|e| Self::error(digest, e))?;
        got.bytes().await.map_err(BlobError::Store)
    }

    /// A half-open range of a blob's bytes; the range must lie within the blob.
    pub async fn range(&self, digest: &Digest, range: Range<u64>) -> Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        self.store
            .get_range(&Self::path(digest), range)
            .await
            .map_err(|e| Self::error(digest, e))
    }

    /// A blob, or a range of it, as a stream.
    pub async fn stream(
        &self,
        digest: &Digest,
        range: Option<Range<u64>>,
    ) -> Result<BoxStream<'static, std::io::Result<Bytes>>> {
        let options = GetOptions {
            range: range.map(GetRange::Bounded),
            ..GetOptions::default()
        };
        let got = self
            .store
            .get_opts(&Self::path(digest), options)
            .await
            .map_err(|e| Self::error(digest, e))?;
        Ok(got
            .into_stream()
            .map(|r| r.map_err(std::io::Error::other))
            .boxed())
    }

    /// A blob as a file, for readers that must seek: the blob itself where it
    /// lies on this machine, else a copy below `scratch` that goes with the value.
    pub async fn local_file(&self, digest: &Digest, scratch: &Path) -> Result<LocalFile> {
        if let Some(folder) = &self.local {
            let path = folder.join(key(digest));
            if !tokio::fs::try_exists(&path).await? {
                return Err(BlobError::Missing(digest.clone()));
            }
            return Ok(LocalFile {
                path,
                temporary: false,
            });
        }
        tokio::fs::create_dir_all(scratch).await?;
        let file = LocalFile {
            path: scratch.join(format!("blob-{}-{}", digest.short(), std::process::id())),
            temporary: true,
        };
        let mut out = tokio::fs::File::create(&file.path).await?;
        let mut stream = self.stream(digest, None).await?;
        while let Some(chunk) = stream.next().await {
            tokio::io::AsyncWriteExt::write_all(&mut out, &chunk?).await?;
        }
        tokio::io::AsyncWriteExt::flush(&mut out).await?;
        Ok(file)
    }

    /// Whether the store answers.
    pub async fn ready(&self) -> Result<()> {
        self.at_home().await?;
        match self
            .store
            .head(&object_store::path::Path::from("ready"))
            .await
        {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(BlobError::Store(e)),
        }
    }
}

/// A writer that counts and hashes what passes through to a file.
pub struct HashingFile {
    file: std::io::BufWriter<std::fs::File>,
    hash: sha2::Sha256,
    size: u64,
}

impl HashingFile {
    /// Makes the file, or empties it.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        Ok(Self {
            file: std::io::BufWriter::with_capacity(1 << 17, std::fs::File::create(path)?),
            hash: sha2::Sha256::new(),
            size: 0,
        })
    }

    /// Flushes; the digest and the size.
    pub fn finish(mut self) -> std::io::Result<(Digest, u64)> {
        std::io::Write::flush(&mut self.file)?;
        Ok((Digest::from_bytes(self.hash.finalize().into()), self.size))
    }
}

impl std::io::Write for HashingFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.hash.update(&bytes[..n]);
        self.size += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_that_was_moved_away_is_missed_and_not_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (home, away) = (folder.path().join("blobs"), folder.path().join("away"));
        let blobs = Blobs::local(&home).unwrap();
        let digest = blobs.put(Bytes::from_static(b"kept")).await.unwrap();
        std::fs::rename(&home, &away).unwrap();
        std::fs::create_dir(&home).unwrap();
        assert!(matches!(blobs.ready().await, Err(BlobError::Away(_))));
        let late = blobs.put(Bytes::from_static(b"late")).await;
        assert!(matches!(late, Err(BlobError::Away(_))));
        assert!(std::fs::read_dir(&home).unwrap().next().is_none());
        std::fs::remove_dir(&home).unwrap();
        std::fs::rename(&away, &home).unwrap();
        blobs.ready().await.unwrap();
        assert_eq!(blobs.get(&digest, 10).await.unwrap(), "kept");
    }

    async fn round_trip(blobs: &Blobs, scratch: &Path) {
        let digest = blobs.put(Bytes::from_static(b"hello world")).await.unwrap();
        assert_eq!(
            blobs.put(Bytes::from_static(b"hello world")).await.unwrap(),
            digest
        );
        assert_eq!(blobs.range(&digest, 6..11).await.unwrap(), "world");
        let file = scratch.join("incoming");
        std::fs::write(&file, b"a file").unwrap();
        let named = Digest::of(b"a file");
        blobs.import_file(&file, &named).await.unwrap();
        assert!(!file.exists());
        assert_eq!(blobs.get(&named, 100).await.unwrap(), "a file");
        assert!(matches!(
            blobs.get(&named, 3).await,
            Err(BlobError::TooLarge { size: 6, .. })
        ));
        let copy = blobs.local_file(&named, scratch).await.unwrap();
        assert_eq!(std::fs::read(copy.path()).unwrap(), b"a file");
        let parts: Vec<_> = blobs
            .stream(&digest, Some(0..5))
            .await
            .unwrap()
            .collect()
            .await;
        let bytes: Vec<u8> = parts
            .into_iter()
            .flat_map(|p| p.unwrap().to_vec())
            .collect();
        assert_eq!(bytes, b"hello");
        let missing = Digest::of(b"never stored");
        assert!(matches!(
            blobs.get(&missing, 1).await,
            Err(BlobError::Missing(_))
        ));
        assert!(matches!(
            blobs.stream(&missing, None).await,
            Err(BlobError::Missing(_))
        ));
        blobs.ready().await.unwrap();
    }

    #[tokio::test]
    async fn local_and_remote_stores_behave_alike() {
        let folder = tempfile::tempdir().unwrap();
        round_trip(
            &Blobs::local(&folder.path().join("blobs")).unwrap(),
            folder.path(),
        )
        .await;
        round_trip(
            &Blobs::remote(Arc::new(object_store::memory::InMemory::new())),
            folder.path(),
        )
        .await;
    }
}
