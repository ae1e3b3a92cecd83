//! Reads everything that the site serves to an anonymous reader: pages, assets
//! and downloads, archives unpacked. What is read is handed to the caller.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read;

use anyhow::{Context, Result, ensure};
use reqwest::header::CONTENT_TYPE;

use crate::reader::Reader;

/// The most addresses that are read; more would mean a trap.
const MOST: usize = 6_000;
/// The most queries of one path: a board's filters combine without end.
const MOST_QUERIES: usize = 40;
/// The most bytes that one archive may unpack to.
const MOST_UNPACKED: u64 = 512 << 20;

/// One thing that was read.
#[derive(Debug)]
pub struct Found {
    /// The address, and the path within an archive after `!`.
    pub place: String,
    /// The status.
    pub status: u16,
    /// The bytes, unpacked.
    pub bytes: Vec<u8>,
}

/// Follows every link from these addresses on; how many addresses were read.
pub async fn crawl(
    reader: &Reader,
    starts: &[String],
    mut visit: impl FnMut(&Found) -> Result<()>,
) -> Result<usize> {
    let mut open: VecDeque<String> = starts.iter().cloned().collect();
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    let mut queries: BTreeMap<String, usize> = BTreeMap::new();
    let mut read = 0;
    while let Some(address) = open.pop_front() {
        ensure!(
            read < MOST,
            "more than {MOST} addresses; the last one is {address}"
        );
        read += 1;
        let answer = reader.get(&address).await?;
        let status = answer.status().as_u16();
        let kind = answer
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|v| v.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let next = answer
            .headers()
            .get("location")
            .and_then(|v| v.to_str().ok())
            .map(str::to_owned);
        // Headers are served too.
        let headers = format!("{:?}", answer.headers()).into_bytes();
        visit(&Found {
            place: format!("{address} (headers)"),
            status,
            bytes: headers,
        })?;
        let bytes = answer
            .bytes()
            .await
            .with_context(|| address.clone())?
            .to_vec();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut links: Vec<String> = next.into_iter().collect();
        if kind.contains("html")
            || kind.contains("css")
            || kind.contains("javascript")
            || kind.contains("svg")
        {
            links.extend(links_in(&text));
        }
        for part in unpack(&address, status, &kind, bytes)? {
            visit(&part)?;
        }
        for link in links {
            let Some(link) = resolve(&address, &link) else {
                continue;
            };
            let path = link.split('?').next().unwrap_or_default().to_owned();
            let count = queries.entry(path).or_default();
            if *count < MOST_QUERIES && seen.insert(link.clone()) {
                *count += 1;
                open.push_back(link);
            }
        }
    }
    Ok(read)
}

/// The addresses that a document names.
fn links_in(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for mark in [
        "href=\"",
        "src=\"",
        "data-js=\"",
        "data-wasm=\"",
        "content=\"/",
        "url(\"",
        "url('",
        "url(",
        "from\"",
        "from \"",
        "import(\"",
    ] {
        for (at, _) in text.match_indices(mark) {
            let rest = &text[at + mark.len()..];
            let end = rest
                .find(['"', '\'', ')', '<', '>', ' ', '\n'])
                .unwrap_or(0);
            let link = rest[..end].replace("&amp;", "&");
            links.push(if mark.ends_with('/') {
                format!("/{link}")
            } else {
                link
            });
        }
    }
    links
}

/// A link as a path of this site; nothing if it leads elsewhere, changes
/// something, or never ends.
fn resolve(from: &str, link: &str) -> Option<String> {
    let link = link.split('#').next().unwrap_or_default();
    if link.is_empty() || link.starts_with("//") || link.contains("//") || link.contains(':') {
        return None;
    }
    let path = if link.starts_with('/') {
        link.to_owned()
    } else if let Some(query) = link.strip_prefix('?') {
        format!("{}?{query}", from.split('?').next().unwrap_or_default())
    } else {
        let folder = from
            .split('?')
            .next()
            .unwrap_or_default()
            .rsplit_once('/')?
            .0;
        format!("{folder}/{}", link.trim_start_matches("./"))
    };
    // Live streams never end; they are read on their own.
    (!path
        .split('?')
        .next()
        .unwrap_or_default()
        .ends_with("/events"))
    .then_some(path)
}

/// What was served, and what lies in it if it is an archive.
fn unpack(address: &str, status: u16, kind: &str, bytes: Vec<u8>) -> Result<Vec<Found>> {
    let mut parts = Vec::new();
    let mut add = |name: &str, reader: &mut dyn Read| -> Result<()> {
        let mut bytes = Vec::new();
        reader.take(MOST_UNPACKED).read_to_end(&mut bytes)?;
        parts.push(Found {
            place: format!("{address}!{name}"),
            status,
            bytes,
        });
        Ok(())
    };
    let path = address.split('?').next().unwrap_or_default();
    if kind.contains("zip") && path.ends_with(".zip") {
        let mut zip = zip::ZipArchive::new(std::io::Cursor::new(&bytes))
            .with_context(|| address.to_owned())?;
        for index in 0..zip.len() {
            let mut entry = zip.by_index(index)?;
            let name = entry.name()?.into_owned();
            add(&name, &mut entry)?;
        }
    } else if path.ends_with(".tar.zst") && status == 200 {
        let mut tar = tar::Archive::new(zstd::Decoder::new(&bytes[..])?);
        for entry in tar.entries().with_context(|| address.to_owned())? {
            let mut entry = entry?;
            let name = entry.path()?.display().to_string();
            add(&name, &mut entry)?;
        }
    }
    parts.push(Found {
        place: address.to_owned(),
        status,
        bytes,
    });
    Ok(parts)
}

/// The names and bytes of a downloaded archive.
pub fn entries(address: &str, bytes: Vec<u8>) -> Result<BTreeMap<String, Vec<u8>>> {
    let kind = if address.ends_with(".zip") {
        "application/zip"
    } else {
        "application/zstd"
    };
    Ok(unpack(address, 200, kind, bytes)?
        .into_iter()
        .filter_map(|part| Some((part.place.split_once('!')?.1.to_owned(), part.bytes)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_on_the_site_and_end() {
        let html = r##"<a href="/a?x=1&amp;y=2">1</a><a href="#top">2</a><a href="https://e.org/">3</a><img src="b.png">"##;
        let links: Vec<String> = links_in(html)
            .iter()
            .filter_map(|l| resolve("/dir/page", l))
            .collect();
        assert_eq!(links, ["/a?x=1&y=2", "/dir/b.png"]);
        assert_eq!(
            resolve("/board/repair?a=1", "?b=2").as_deref(),
            Some("/board/repair?b=2")
        );
        assert_eq!(resolve("/", "/submissions/s1/events"), None);
    }
}
