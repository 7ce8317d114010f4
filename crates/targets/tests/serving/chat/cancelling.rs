//! Clients that hang up: their places are free, and their ends are counted.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use targets::Target;

use super::{CHAT, log_path, metric, post, rows, send};
use crate::common::{connect, start, wait_for_requests};

const PATIENCE: Duration = Duration::from_secs(30);
const STREAMED: &str = r#"{"messages":[{"role":"user","content":"one two"}],"stream":true}"#;

/// Waits until so many requests run and wait.
fn wait_for(target: &Target, running: f64, waiting: f64) {
    let limit = Instant::now() + PATIENCE;
    loop {
        let page = post(target, "/metrics", "");
        let names = ["num_requests_running", "num_requests_waiting"];
        let found = names.map(|name| metric(&page, name));
        if found == [running, waiting] {
            return;
        }
        assert!(Instant::now() < limit, "{found:?} instead of {running} and {waiting}");
    }
}

/// A target whose streams go on for hours, of which two run at once.
fn endless(more: &str) -> Target {
    start(&format!(
        r#"{{"kind":"chat","dialect":"openai","capacity":2,"threads":2,"tokens":{{"kind":"constant","n":9}},"itl":{{"kind":"constant","ns":3600000000000}}{more}}}"#
    ))
}

#[test]
fn who_hangs_up_frees_its_place_whether_it_waits_or_streams() {
    let path = log_path("cancelled");
    let target = endless(&format!(r#","kv_tokens":160,"log":{path:?}"#));
    let mut streams: Vec<_> = (0..6).map(|_| send(&target, CHAT, STREAMED)).collect();
    wait_for_requests(&target, 6);
    wait_for(&target, 2.0, 4.0);
    // One that waits, or streams; and all the others.
    drop(streams.pop());
    wait_for_two_of(&target, 5);
    streams.clear();
    wait_for(&target, 0.0, 0.0);
    let page = post(&target, "/metrics", "");
    assert_eq!(metric(&page, "kv_cache_usage_perc"), 0.0);
    assert_eq!(metric(&page, "request_success_total"), 6.0);
    assert!(page.contains(r#"finished_reason="abort"} 6"#), "{page}");
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!(counts.ends["cancelled"], 6);
    assert_eq!(counts.ends.values().sum::<u64>(), counts.requests);
    let cancelled = rows(&path).iter().filter(|row| row.1 == "cancelled").count();
    assert_eq!(cancelled, 6);
}

/// Waits until two of so many requests run.
fn wait_for_two_of(target: &Target, all: u64) {
    wait_for(target, 2.0, (all - 2) as f64);
}

#[test]
fn a_reset_and_a_close_behind_another_request_are_noticed_too() {
    let target = endless("");
    let reset = send(&target, CHAT, STREAMED);
    socket2::SockRef::from(&reset).set_linger(Some(Duration::ZERO)).unwrap();
    let mut both = connect(&target);
    let request =
        format!("POST {CHAT} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{STREAMED}", STREAMED.len());
    both.write_all(request.repeat(2).as_bytes()).unwrap();
    wait_for(&target, 2.0, 0.0);
    drop(reset);
    wait_for(&target, 1.0, 0.0);
    both.shutdown(Shutdown::Write).unwrap();
    wait_for(&target, 0.0, 0.0);
    target.stop().unwrap();
    assert_eq!(target.counts().ends["cancelled"], 2);
}

#[test]
fn requests_that_the_target_ends_are_stopped() {
    let target = endless("");
    let streams: Vec<TcpStream> = (0..3).map(|_| send(&target, CHAT, STREAMED)).collect();
    wait_for_requests(&target, 3);
    target.stop().unwrap();
    assert_eq!(target.counts().ends.into_iter().collect::<Vec<_>>(), [("stopped", 3)]);
    for mut stream in streams {
        stream.read_to_end(&mut Vec::new()).unwrap();
    }
}

#[test]
fn a_place_is_held_until_the_target_notices_that_the_client_has_hung_up() {
    let target = endless(r#","notice_after_ns":300000000"#);
    let streams: Vec<TcpStream> = (0..3).map(|_| send(&target, CHAT, STREAMED)).collect();
    wait_for(&target, 2.0, 1.0);
    let hung_up = Instant::now();
    drop(streams);
    wait_for(&target, 0.0, 0.0);
    assert!(hung_up.elapsed() >= Duration::from_millis(300), "{:?}", hung_up.elapsed());
    target.stop().unwrap();
    assert_eq!(target.counts().ends["cancelled"], 3);
}

#[test]
fn a_response_is_complete_if_its_client_is_not_missed() {
    let target = start(
        r#"{"kind":"chat","dialect":"openai","tokens":{"kind":"constant","n":9},"itl":{"kind":"constant","ns":50000000},"notice_after_ns":3600000000000}"#,
    );
    let stream = send(&target, CHAT, STREAMED);
    while target.counts().requests == 0 {
        std::thread::yield_now();
    }
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    drop(stream);
    // The place is free when the last text is due, before that text is sent.
    wait_for_ends(&target, "ok");
    target.stop().unwrap();
    assert_eq!(target.counts().ends["ok"], target.counts().requests);
}

/// Waits until each request has ended in one way.
fn wait_for_ends(target: &Target, end: &str) {
    let limit = Instant::now() + PATIENCE;
    loop {
        let counts = target.counts();
        if counts.ends.get(end) == Some(&counts.requests) {
            return;
        }
        assert!(Instant::now() < limit, "{:?} of {}", counts.ends, counts.requests);
        std::thread::yield_now();
    }
}
