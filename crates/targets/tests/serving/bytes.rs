//! The bytes target, over plain sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::common::{GET, HEAD, connect, exchange, start};

#[test]
fn sends_exactly_so_many_bytes_and_counts_them() {
    for size in [0, 1, 11, 4_095, 4_096, 65_536, 1 << 20, (1 << 20) + 7, 5_000_000] {
        let target = start(&format!(r#"{{"kind":"bytes","size":{size}}}"#));
        let head = head_of(size);
        let mut stream = connect(&target);
        for _ in 0..2 {
            let answer = exchange(&mut stream, GET, head.len() + size);
            assert!(answer.starts_with(&head), "{size}");
            assert!(is_the_body(&answer.as_bytes()[head.len()..], size), "{size}");
        }
        target.stop().unwrap();
        let counts = target.counts();
        assert_eq!((counts.requests, counts.answered), (2, 2), "{size}");
        assert_eq!(counts.bytes_out, 2 * (head.len() + size) as u64, "{size}");
    }
}

#[test]
fn sends_chunks_of_16_kib() {
    for size in [1, 16_384, 16_385, 100_000, 3_000_000] {
        let target = start(&format!(r#"{{"kind":"bytes","size":{size},"chunked":true}}"#));
        let mut stream = BufReader::new(connect(&target));
        for _ in 0..2 {
            stream.get_mut().write_all(GET).unwrap();
            let head = read_head(&mut stream);
            assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
            assert!(!head.contains("content-length"), "{head}");
            let chunks = read_chunks(&mut stream);
            assert!(chunks.iter().rev().skip(1).all(|chunk| chunk.len() == 16_384));
            assert!(is_the_body(&chunks.concat(), size), "{size}");
        }
        target.stop().unwrap();
        assert_eq!(target.counts().answered, 2);
    }
}

#[test]
fn gives_head_the_length_only() {
    let target = start(r#"{"kind":"bytes","size":70000}"#);
    let head = head_of(70_000);
    let mut stream = connect(&target);
    assert_eq!(exchange(&mut stream, HEAD, head.len()), head);
    assert_eq!(exchange(&mut stream, HEAD, head.len()), head);
    target.stop().unwrap();
    assert_eq!(target.counts().answered, 2);
    assert_eq!(target.counts().bytes_out, 2 * head.len() as u64);
}

#[test]
fn does_not_count_an_answer_that_the_client_did_not_wait_for() {
    let target = start(r#"{"kind":"bytes","size":1073741824}"#);
    let mut stream = connect(&target);
    exchange(&mut stream, GET, 1_000);
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((counts.requests, counts.answered), (1, 0));
    assert!(counts.bytes_out >= 1_000 && counts.bytes_out < 1_073_741_824);
}

fn head_of(size: usize) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-length: {size}\r\n\r\n"
    )
}

fn is_the_body(bytes: &[u8], size: usize) -> bool {
    let letters = b"abcdefghijklmnop".iter().cycle();
    bytes.len() == size && bytes.iter().zip(letters).all(|(byte, letter)| byte == letter)
}

fn read_head(stream: &mut BufReader<TcpStream>) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).unwrap(), 0);
    }
    head
}

fn read_chunks(stream: &mut BufReader<TcpStream>) -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    loop {
        let mut size = String::new();
        stream.read_line(&mut size).unwrap();
        let mut chunk = vec![0; usize::from_str_radix(size.trim(), 16).unwrap() + 2];
        stream.read_exact(&mut chunk).unwrap();
        assert!(chunk.ends_with(b"\r\n"));
        chunk.truncate(chunk.len() - 2);
        if chunk.is_empty() {
            return chunks;
        }
        chunks.push(chunk);
    }
}
