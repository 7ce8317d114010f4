//! The metrics of a target are those of its log.

use std::collections::BTreeMap;

use super::{CHAT, log_path, metric, post, receive, rows, send};
use crate::common::start;

/// Sends `each` requests from so many users at once, and returns the log and the page of metrics.
fn served(name: &str, more: &str, users: u64, each: u64) -> (Log, String) {
    let path = log_path(name);
    let target = start(&format!(
        r#"{{"kind":"chat","dialect":"openai","threads":2,"log":{path:?},"tokens":{{"kind":"uniform","least":1,"most":40}},"ttft":{{"kind":"constant","ns":4000000}},"itl":{{"kind":"constant","ns":100000}}{more}}}"#
    ));
    let texts = std::thread::scope(|scope| {
        let target = &target;
        let user = |user| {
            move || {
                let prompt = |turn| {
                    (0..20 + turn)
                        .map(|word| format!("w{} ", word * (1 + user % 3)))
                        .collect::<String>()
                };
                let body = |turn| {
                    format!(
                        r#"{{"stream":true,"messages":[{{"role":"user","content":"{}"}}]}}"#,
                        prompt(turn)
                    )
                };
                let texts = |turn| {
                    receive(send(target, CHAT, &body(turn))).matches("\"content\":\"").count() - 1
                };
                (0..each).map(texts).sum::<usize>()
            }
        };
        let users: Vec<_> = (0..users).map(|number| scope.spawn(user(number))).collect();
        users.into_iter().map(|user| user.join().unwrap()).sum::<usize>()
    });
    let page = post(&target, "/metrics", "");
    target.stop().unwrap();
    assert_eq!(target.counts().ends["ok"], users * each + 1);
    let log = Log::new(rows(&path));
    assert_eq!(log.count("text"), texts as u64);
    (log, page)
}

/// The rows of a log: planned times and tokens, by stream and event.
struct Log(BTreeMap<(u64, String), Vec<(u64, u64)>>);

impl Log {
    fn new(rows: Vec<(u64, String, u64, u64, u64)>) -> Self {
        let mut log: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (stream, event, planned_ns, sent_ns, tokens) in rows {
            assert!(planned_ns <= sent_ns, "{stream} {event}");
            log.entry((stream, event)).or_default().push((planned_ns, tokens));
        }
        Log(log)
    }

    fn of<'a>(&'a self, event: &'a str) -> impl Iterator<Item = &'a Vec<(u64, u64)>> {
        self.0.iter().filter(move |((_, found), _)| found == event).map(|(_, rows)| rows)
    }

    fn count(&self, event: &str) -> u64 {
        self.of(event).map(|rows| rows.len() as u64).sum()
    }

    fn tokens(&self, event: &str) -> f64 {
        self.of(event).flatten().map(|(_, tokens)| *tokens as f64).sum()
    }

    /// The sum of times from the arrival of each request to its first event of a kind, in seconds.
    fn until(&self, event: &str) -> f64 {
        let first = |rows: &Vec<(u64, u64)>| rows[0].0;
        let ends: u64 = self.of(event).map(first).sum();
        let begins: u64 = self.of("received").map(first).sum();
        (ends - begins) as f64 / 1e9
    }
}

fn agree(log: &Log, page: &str) {
    for (name, of_log) in [
        ("prompt_tokens_total", log.tokens("received")),
        ("generation_tokens_total", log.count("text") as f64),
        ("prefix_cache_hits_total", log.tokens("started")),
        ("num_preemptions_total", log.count("preempted") as f64),
        ("request_success_total", log.count("end") as f64),
        ("request_queue_time_seconds_count", log.count("started") as f64),
        ("time_to_first_token_seconds_count", log.count("started") as f64),
        ("num_requests_running", 0.0),
        ("kv_cache_usage_perc", 0.0),
    ] {
        assert_eq!(metric(page, name), of_log, "{name}");
    }
    for (name, of_log) in [
        ("request_queue_time_seconds_sum", log.until("started")),
        ("time_to_first_token_seconds_sum", log.until("text")),
    ] {
        assert!((metric(page, name) - of_log).abs() < 1e-6, "{name} {of_log}\n{page}");
    }
}

#[test]
fn a_target_without_limits_counts_what_it_logs() {
    let (log, page) = served("plain", "", 4, 10);
    agree(&log, &page);
    assert_eq!(metric(&page, "prefix_cache_queries_total"), 0.0);
}

#[test]
fn places_blocks_and_a_cache_count_what_they_log() {
    let limits =
        r#","capacity":5,"kv_tokens":96,"prefix_cache":128,"prefix_block":8,"prefill_ns":10000"#;
    let (log, page) = served("limited", limits, 8, 12);
    agree(&log, &page);
    let sum = |name| metric(&page, name);
    assert_eq!(sum("prefix_cache_queries_total"), sum("prompt_tokens_total"));
    assert!(sum("prefix_cache_hits_total") > 0.0);
    assert!(sum("num_preemptions_total") > 0.0, "{page}");
    assert!(sum("request_queue_time_seconds_sum") > 0.0);
    // Each text of a stream is planned after the one before it, also after a pause.
    for texts in log.of("text") {
        assert!(texts.is_sorted(), "{texts:?}");
    }
}
