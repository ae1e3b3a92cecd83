//! Two replicas of a document in one process, moved one step at a time.
//!
//! Started as the program under test. Reads one command a line from the named
//! pipe that is its argument and answers each with one JSON line on standard
//! output. It decides nothing: what is edited, which message is made and which
//! one arrives comes in as commands.
//!
//!   new                 two empty documents, and two fresh peer states
//!   set R KEY VALUE     edit replica R (0 or 1) and commit
//!   make R              what R has to say to the other, in hex, or null
//!   take R HEX          R receives a message
//!   state R             keys and values of R
//!   lose R              R starts anew, without its document and its peer state
//!   reconnect R         R writes its peer state down and reads it back
//!
//! Every answer holds `heads`, those of the replica spoken of.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

use harness::automerge::sync::{Message, State, SyncDoc};
use harness::automerge::transaction::Transactable;
use harness::automerge::{AutoCommit, ReadDoc, ROOT};

struct Replica {
    doc: AutoCommit,
    peer: State,
}

impl Replica {
    fn new() -> Replica {
        Replica { doc: AutoCommit::new(), peer: State::new() }
    }

    fn heads(&mut self) -> String {
        let mut heads: Vec<String> = self.doc.get_heads().iter().map(|h| format!("\"{}\"", h)).collect();
        heads.sort();
        format!("[{}]", heads.join(","))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{:02x}", b)).collect()
}

fn bytes(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn run(replicas: &mut [Replica; 2], line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words[0] == "new" {
        *replicas = [Replica::new(), Replica::new()];
        return r#"{"heads":[]}"#.to_string();
    }
    let r = &mut replicas[words[1].parse::<usize>().unwrap()];
    let more = match words[0] {
        "set" => {
            r.doc.put(ROOT, words[2], words[3]).unwrap();
            r.doc.commit();
            String::new()
        }
        "make" => match r.doc.sync().generate_sync_message(&mut r.peer) {
            Some(m) => format!(r#","message":"{}""#, hex(&m.encode())),
            None => r#","message":null"#.to_string(),
        },
        "take" => {
            let m = Message::decode(&bytes(words[2])).unwrap();
            r.doc.sync().receive_sync_message(&mut r.peer, m).unwrap();
            String::new()
        }
        "state" => {
            let keys: Vec<String> = r.doc.keys(ROOT).collect();
            let mut values = BTreeMap::new();
            for key in keys {
                if let Ok(Some((value, _))) = r.doc.get(ROOT, &key) {
                    values.insert(key, value.to_str().unwrap_or("?").to_string());
                }
            }
            let pairs: Vec<String> = values.iter().map(|(k, v)| format!("{:?}:{:?}", k, v)).collect();
            format!(r#","values":{{{}}}"#, pairs.join(","))
        }
        "lose" => {
            *r = Replica::new();
            String::new()
        }
        "reconnect" => {
            r.peer = State::decode(&r.peer.encode()).unwrap();
            String::new()
        }
        other => panic!("unknown command {}", other),
    };
    format!(r#"{{"heads":{}{}}}"#, r.heads(), more)
}

fn main() {
    let commands = BufReader::new(File::open(std::env::args().nth(1).unwrap()).unwrap());
    let mut replicas = [Replica::new(), Replica::new()];
    let stdout = io::stdout();
    let mut out = stdout.lock();
    for line in commands.lines() {
        let answer = run(&mut replicas, &line.unwrap());
        writeln!(out, "{}", answer).and_then(|_| out.flush()).unwrap();
    }
}
