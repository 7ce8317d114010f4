//! The delay target, over plain sockets; and what its log says.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::{GET, HELLO, connect, exchange, start, wait_for_requests};

/// received, planned, sent, delay, queued
type Row = [u64; 5];

#[test]
fn answers_no_earlier_than_its_delay() {
    let target = start(r#"{"kind":"delay","delay":{"kind":"constant","ns":20000000}}"#);
    let mut stream = connect(&target);
    for _ in 0..3 {
        let sent = Instant::now();
        assert_eq!(exchange(&mut stream, GET, HELLO.len()), HELLO);
        assert!(sent.elapsed() >= Duration::from_millis(20));
    }
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((counts.connections, counts.requests, counts.answered), (1, 3, 3));
    assert_eq!(counts.bytes_out, 3 * HELLO.len() as u64);
}

#[test]
fn an_answer_without_a_delay_is_due_when_its_request_has_come() {
    let path = log_path("nothing");
    let target = start(&format!(
        r#"{{"kind":"delay","delay":{{"kind":"constant","ns":0}},"log":{path:?}}}"#
    ));
    let expected = HELLO.repeat(10);
    assert_eq!(exchange(&mut connect(&target), &GET.repeat(10), expected.len()), expected);
    target.stop().unwrap();
    let rows = rows(&path);
    assert_eq!(rows.len(), 10);
    for [received, planned, _, delay, queued] in rows {
        assert_eq!((planned, delay, queued), (received, 0, 0));
    }
}

#[test]
fn the_log_has_when_each_response_was_due_and_sent() {
    let path = log_path("truth");
    let target = start(&format!(
        r#"{{"kind":"delay","delay":{{"kind":"bimodal","fast_ns":100000,"slow_ns":3000000,"slow_share":0.5}},"log":{path:?}}}"#
    ));
    let mut streams: Vec<_> = (0..4).map(|_| connect(&target)).collect();
    for _ in 0..5 {
        for stream in &mut streams {
            exchange(stream, GET, HELLO.len());
        }
    }
    target.stop().unwrap();
    let rows = rows(&path);
    assert_eq!(rows.len(), 20);
    for [received, planned, sent, delay, queued] in &rows {
        assert_eq!(*planned, received + delay);
        assert_eq!(*queued, 0);
        assert!(sent >= planned);
        assert!([100_000, 3_000_000].contains(delay));
    }
    assert!(rows.windows(2).all(|pair| pair[0][2] <= pair[1][2]), "in the order of sending");
}

#[test]
fn the_same_seed_draws_the_same_delays() {
    let draws = |seed: u64| {
        let path = log_path(&format!("seed{seed}"));
        let target = start(&format!(
            r#"{{"kind":"delay","delay":{{"kind":"heavy","median_ns":100000,"sigma":1.0}},"seed":{seed},"log":{path:?}}}"#
        ));
        let mut stream = connect(&target);
        for _ in 0..10 {
            exchange(&mut stream, GET, HELLO.len());
        }
        target.stop().unwrap();
        rows(&path).iter().map(|row| row[3]).collect::<Vec<_>>()
    };
    assert_eq!(draws(5), draws(5));
    assert_ne!(draws(5), draws(6));
}

#[test]
fn serves_no_more_at_once_than_its_capacity_in_the_order_of_arrival() {
    let path = log_path("capacity");
    let target = start(&format!(
        r#"{{"kind":"delay","delay":{{"kind":"constant","ns":10000000}},"capacity":2,"log":{path:?}}}"#
    ));
    let mut streams: Vec<_> = (0..8).map(|_| connect(&target)).collect();
    for _ in 0..5 {
        for stream in &mut streams {
            exchange(stream, GET, 0);
        }
        for stream in &mut streams {
            assert_eq!(crate::common::read(stream, HELLO.len()), HELLO);
        }
    }
    target.stop().unwrap();
    let mut rows = rows(&path);
    rows.sort_unstable();
    assert_eq!(rows.len(), 40);
    for [received, planned, sent, delay, queued] in &rows {
        assert_eq!(*planned, received + queued + delay);
        assert!(sent >= planned);
    }
    // With equal delays, a request starts when the second one before it ends, or on arrival.
    for (earlier, later) in rows.iter().zip(&rows[2..]) {
        assert_eq!(later[0] + later[4], earlier[1].max(later[0]));
    }
    // A busy machine may let one round of eight come singly, not each of five.
    assert!(rows.iter().any(|row| row[4] > 0), "nobody had to wait");
}

#[test]
fn a_client_that_leaves_is_a_request_without_an_answer() {
    let path = log_path("gone");
    // With this seed the first request takes an hour, and the second one 1 ns.
    let target = start(&format!(
        r#"{{"kind":"delay","delay":{{"kind":"bimodal","fast_ns":1,"slow_ns":3600000000000,"slow_share":0.5}},"seed":1,"log":{path:?}}}"#
    ));
    let mut gone = connect(&target);
    exchange(&mut gone, GET, 0);
    wait_for_requests(&target, 1);
    drop(gone);
    exchange(&mut connect(&target), GET, HELLO.len());
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((counts.requests, counts.answered), (2, 1));
    assert_eq!(rows(&path).len(), 1);
}

#[test]
fn says_which_log_cannot_be_written() {
    let spec = r#"{"kind":"delay","delay":{"kind":"constant","ns":1},"log":"/nowhere/at/all.csv"}"#;
    let spec = serde_json::from_str(spec).unwrap();
    let error = targets::Target::start(spec).unwrap_err();
    assert!(error.to_string().starts_with("log /nowhere/at/all.csv: "), "{error}");
}

#[test]
fn stopping_returns_that_the_log_is_not_complete() {
    let target = start(r#"{"kind":"delay","delay":{"kind":"constant","ns":1},"log":"/dev/full"}"#);
    exchange(&mut connect(&target), GET, HELLO.len());
    assert!(target.stop().is_err());
    assert!(target.stop().is_ok(), "again does nothing");
    assert_eq!(target.counts().answered, 1);
}

fn log_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("delay_{name}.csv"))
}

fn rows(path: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("received_ns,planned_ns,sent_ns,delay_ns,queued_ns"));
    lines
        .map(|line| {
            let numbers: Vec<u64> = line.split(',').map(|word| word.parse().unwrap()).collect();
            numbers.try_into().unwrap()
        })
        .collect()
}
