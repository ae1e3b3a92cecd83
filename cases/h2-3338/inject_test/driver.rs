//! An HTTP/2 client whose every move is told.
//!
//! Started as the program under test with two arguments: a named pipe that holds
//! one command a line, and the port of the server on the loopback address. Each
//! command is answered by one JSON line on standard output. It decides nothing:
//! which requests there are and what they carry comes in as commands.
//!
//!   open ID             start a POST; `stream` in the answer is its number
//!   push ID N TOKEN     hand over N bytes at once, the body's last ones
//!   part ID N TOKEN     the same, but more will follow
//!   feed ID N TOKEN     hand over N bytes bit by bit, as the library grants room; then end the body
//!   reset ID            give the request up
//!   status              what became of all requests
//!
//! A body repeats its TOKEN.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::future::poll_fn;
use std::io::{BufRead, BufReader, Write};
use std::rc::Rc;

use harness::bytes::Bytes;
use harness::h2::client::SendRequest;
use harness::h2::{self, Reason, SendStream};
use harness::http::Request;
use harness::tokio;

#[derive(Default)]
struct Call {
    answer: Option<String>,
    error: Option<String>,
}

type Calls = Rc<RefCell<BTreeMap<String, Call>>>;

struct Body {
    token: Vec<u8>,
    at: usize,
}

impl Body {
    fn next(&mut self, n: usize) -> Bytes {
        let bytes: Vec<u8> = (self.at..self.at + n).map(|i| self.token[i % self.token.len()]).collect();
        self.at += n;
        bytes.into()
    }
}

async fn answer(response: h2::client::ResponseFuture) -> Result<String, h2::Error> {
    let mut body = response.await?.into_body();
    let mut text = Vec::new();
    while let Some(block) = body.data().await {
        let block = block?;
        let _ = body.flow_control().release_capacity(block.len());
        text.extend_from_slice(&block);
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

async fn feed(mut stream: SendStream<Bytes>, mut body: Body, total: usize) -> Result<(), h2::Error> {
    let mut left = total;
    while left > 0 {
        stream.reserve_capacity(left.min(8192));
        let room = match poll_fn(|cx| stream.poll_capacity(cx)).await {
            Some(room) => room?,
            None => return Ok(()),
        };
        let n = room.min(left);
        left -= n;
        stream.send_data(body.next(n), left == 0)?;
    }
    Ok(())
}

struct Client {
    requests: SendRequest<Bytes>,
    calls: Calls,
    open: BTreeMap<String, (SendStream<Bytes>, usize)>,
}

impl Client {
    async fn run(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut stream_id = 0;
        match words[0] {
            "open" => {
                let request = Request::builder().method("POST").uri("http://server/").body(()).unwrap();
                let (response, stream) = self.requests.clone().send_request(request, false).unwrap();
                stream_id = response.stream_id().as_u32();
                let (id, calls) = (words[1].to_string(), self.calls.clone());
                self.open.insert(id.clone(), (stream, 0));
                calls.borrow_mut().insert(id.clone(), Call::default());
                tokio::task::spawn_local(async move {
                    let end = answer(response).await;
                    let mut calls = calls.borrow_mut();
                    let call = calls.get_mut(&id).unwrap();
                    match end {
                        Ok(text) => call.answer = Some(text),
                        Err(e) => call.error = Some(e.to_string()),
                    }
                });
            }
            "push" | "part" => {
                let (stream, at) = self.open.get_mut(words[1]).unwrap();
                let n: usize = words[2].parse().unwrap();
                let mut body = Body { token: words[3].into(), at: *at };
                *at += n;
                stream.send_data(body.next(n), words[0] == "push").unwrap();
            }
            "feed" => {
                let (stream, at) = self.open.remove(words[1]).unwrap();
                let body = Body { token: words[3].into(), at };
                tokio::task::spawn_local(feed(stream, body, words[2].parse().unwrap()));
            }
            "reset" => {
                let (mut stream, _) = self.open.remove(words[1]).unwrap();
                stream.send_reset(Reason::CANCEL);
            }
            _ => {}
        }
        // Let the connection act on it, and never starve it.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        let quote = |t: &Option<String>| t.as_ref().map_or("null".to_string(), |t| format!("{:?}", t));
        let calls: Vec<String> = self
            .calls
            .borrow()
            .iter()
            .map(|(id, c)| format!(r#""{}":{{"answer":{},"error":{}}}"#, id, quote(&c.answer), quote(&c.error)))
            .collect();
        format!(r#"{{"stream":{},"calls":{{{}}}}}"#, stream_id, calls.join(","))
    }
}

async fn drive(pipe: String, port: u16) {
    let socket = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    socket.set_nodelay(true).unwrap();
    let (requests, connection) = h2::client::handshake(socket).await.unwrap();
    tokio::task::spawn_local(async move {
        let _ = connection.await;
    });
    let (sender, mut lines) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in BufReader::new(File::open(pipe).unwrap()).lines() {
            if sender.send(line.unwrap()).is_err() {
                break;
            }
        }
    });
    let mut client = Client { requests, calls: Calls::default(), open: BTreeMap::new() };
    while let Some(line) = lines.recv().await {
        let text = client.run(&line).await;
        let mut out = std::io::stdout();
        writeln!(out, "{}", text).and_then(|_| out.flush()).unwrap();
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, drive(args[1].clone(), args[2].parse().unwrap()));
}
