//! Three raft nodes in one process, moved one step at a time.
//!
//! Started as the program under test. Reads one command a line from a named
//! pipe and answers each with one JSON line on standard output. It decides
//! nothing: which node's clock ticks, which message arrives and what is
//! proposed comes in as commands; what came out is reported.
//!
//! Arguments: the pipe, CHECK_QUORUM (0 or 1), then MIN-MAX ticks of the election
//! timeout for each node, `-` for the default range.
//!
//! Commands: `tick NODE`, `campaign NODE`, `deliver ID`, `propose NODE TEXT`,
//! `state NODE`. Every answer holds `sent`, the messages since the last one, and
//! `node`, with role, term and the values that the node has applied.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

use raft::eraftpb::{Entry, Message, MessageType};
use raft::storage::MemStorage;
use raft::{Config, Raft, StateRole};

const NODES: [u64; 3] = [1, 2, 3];

struct Bench {
    nodes: BTreeMap<u64, Raft<MemStorage>>,
    values: BTreeMap<u64, Vec<String>>,
    parked: Vec<Option<Message>>,
}

impl Bench {
    fn new(check_quorum: bool, ranges: &[String]) -> Bench {
        let mut nodes = BTreeMap::new();
        for (id, range) in NODES.iter().zip(ranges) {
            let mut c = Config::default();
            c.id = *id;
            c.peers = NODES.to_vec();
            c.election_tick = 10;
            c.heartbeat_tick = 1;
            c.max_inflight_msgs = 256;
            c.max_size_per_msg = u64::max_value();
            c.pre_vote = true;
            c.check_quorum = check_quorum;
            let mut ends = range.split('-').filter_map(|t| t.parse().ok());
            if let (Some(min), Some(max)) = (ends.next(), ends.next()) {
                c.min_election_tick = min;
                c.max_election_tick = max;
            }
            c.tag = format!("n{}", id);
            let mut raft = Raft::new(&c, MemStorage::new());
            raft.become_follower(1, 0);
            nodes.insert(*id, raft);
        }
        let values = NODES.iter().map(|id| (*id, Vec::new())).collect();
        Bench { nodes, values, parked: Vec::new() }
    }

    /// Applies what is committed and collects what was sent.
    fn settle(&mut self, id: u64) -> String {
        let raft = self.nodes.get_mut(&id).unwrap();
        if let Some(entries) = raft.raft_log.next_entries() {
            for e in &entries {
                if !e.get_data().is_empty() {
                    let text = String::from_utf8_lossy(e.get_data()).into_owned();
                    self.values.get_mut(&id).unwrap().push(text);
                }
            }
            if let Some(last) = entries.last() {
                raft.raft_log.applied_to(last.get_index());
            }
        }
        let mut sent = Vec::new();
        for m in raft.msgs.drain(..) {
            sent.push(format!(
                r#"{{"id":{},"from":{},"to":{},"type":"{:?}","term":{},"reject":{}}}"#,
                self.parked.len(), m.get_from(), m.get_to(), m.get_msg_type(), m.get_term(), m.get_reject()
            ));
            self.parked.push(Some(m));
        }
        let role = match raft.state {
            StateRole::Leader => "leader",
            StateRole::Follower => "follower",
            StateRole::Candidate => "candidate",
            StateRole::PreCandidate => "pre-candidate",
        };
        let values: Vec<String> = self.values[&id].iter().map(|v| format!("{:?}", v)).collect();
        format!(
            r#"{{"sent":[{}],"node":{{"id":{},"role":"{}","term":{},"values":[{}]}}}}"#,
            sent.join(","), id, role, raft.term, values.join(",")
        )
    }

    fn local(&mut self, id: u64, kind: MessageType, data: Option<&str>) {
        let mut m = Message::new();
        m.set_msg_type(kind);
        m.set_from(id);
        m.set_to(id);
        if let Some(text) = data {
            let mut e = Entry::new();
            e.set_data(text.as_bytes().to_vec());
            m.mut_entries().push(e);
        }
        let _ = self.nodes.get_mut(&id).unwrap().step(m);
    }

    fn run(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number: u64 = words[1].parse().unwrap();
        let id = match words[0] {
            "deliver" => {
                let m = self.parked[number as usize].take().unwrap();
                let to = m.get_to();
                let _ = self.nodes.get_mut(&to).unwrap().step(m);
                to
            }
            other => {
                match other {
                    "tick" => {
                        self.nodes.get_mut(&number).unwrap().tick();
                    }
                    "campaign" => self.local(number, MessageType::MsgHup, None),
                    "propose" => self.local(number, MessageType::MsgPropose, Some(words[2])),
                    _ => {}
                }
                number
            }
        };
        self.settle(id)
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut bench = Bench::new(args[1] == "1", &args[2..]);
    let commands = BufReader::new(File::open(&args[0]).unwrap());
    let stdout = io::stdout();
    let mut out = stdout.lock();
    for line in commands.lines() {
        let answer = bench.run(&line.unwrap());
        writeln!(out, "{}", answer).and_then(|_| out.flush()).unwrap();
    }
}
