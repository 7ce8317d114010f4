//! The chat target as an imitation of a server of language models.

mod cancelling;
mod endpoints;
mod metrics;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use serde_json::Value;
use targets::Target;

use crate::common::connect;

pub(super) const CHAT: &str = "/v1/chat/completions";

/// Sends a request to a path on a connection of its own.
pub(super) fn send(target: &Target, path: &str, body: &str) -> TcpStream {
    let mut stream = connect(target);
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Returns the body of a response, which ends with its connection.
pub(super) fn receive(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    if !head.contains("chunked") {
        return body.to_owned();
    }
    let (mut rest, mut whole) = (body, String::new());
    while let Some((size, chunk)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.push_str(&chunk[..size]);
        rest = &chunk[size + 2..];
    }
    whole
}

pub(super) fn post(target: &Target, path: &str, body: &str) -> String {
    receive(send(target, path, body))
}

pub(super) fn json(target: &Target, path: &str, body: &str) -> Value {
    let text = post(target, path, body);
    serde_json::from_str(&text).unwrap_or_else(|error| unreachable!("{path}: {error}\n{text}"))
}

/// Returns the data of the events of a stream that are JSON, and their names.
pub(super) fn events(stream: &str) -> Vec<(String, Value)> {
    let event = |text: &str| {
        let (name, data) = text.split_once("data: ").unwrap();
        let name = name.trim().trim_start_matches("event: ").to_owned();
        serde_json::from_str(data).ok().map(|data| (name, data))
    };
    stream.split_terminator("\n\n").filter_map(event).collect()
}

/// Returns the value of a metric; of all its labels, if it has several.
pub(super) fn metric(page: &str, name: &str) -> f64 {
    let begin = format!("vllm:{name}{{");
    page.lines()
        .filter(|line| line.starts_with(&begin))
        .map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap())
        .sum()
}

pub(super) fn log_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chat_{name}.csv"))
}

/// Returns the rows of a log: stream, event, planned, sent, tokens.
pub(super) fn rows(path: &Path) -> Vec<(u64, String, u64, u64, u64)> {
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<u64>().unwrap();
        (number(0), fields[1].to_owned(), number(2), number(3), number(4))
    };
    text.lines().skip(1).map(row).collect()
}
