//! Checks and captures: any head and body is judged, and what is captured comes from them.

#![no_main]

use std::sync::OnceLock;

use engine::fuzzing::Look;
use engine::{BodyCheck, Capture, CaptureFrom, JsonCheck, RequestPlan};
use libfuzzer_sys::fuzz_target;

/// The most bytes of a captured value.
const MOST_BYTES: usize = 256 * 1024;

fuzz_target!(|data: &[u8]| {
    static LOOKS: OnceLock<Vec<Look>> = OnceLock::new();
    // The head ends where a head does; there is none where nothing ends it.
    let end = data.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |at| at + 4);
    let (head, body) = data.split_at(end);
    for look in LOOKS.get_or_init(looks) {
        let found = look.look(head, body);
        assert_eq!(found, look.look(head, body));
        if let Ok(values) = found {
            assert!(values.iter().all(|value| value.len() <= MOST_BYTES));
        }
    }
});

fn looks() -> Vec<Look> {
    let capture = |from, what: &str| Capture { name: what.into(), from, what: what.into() };
    let plans = [
        plan(|plan| plan.captures = vec![capture(CaptureFrom::Header, "Location")]),
        plan(|plan| plan.captures = vec![capture(CaptureFrom::Json, "$..a[0]")]),
        plan(|plan| plan.captures = vec![capture(CaptureFrom::Regex, "a=([^;]*)")]),
        plan(|plan| plan.expect_body = vec![BodyCheck::Regex { pattern: "(?i)o+k$".into() }]),
        plan(|plan| {
            plan.expect_json = vec![JsonCheck { path: "$.a[?@.b > 1].c".into(), value: 7.into() }];
        }),
        plan(|plan| {
            plan.compressed = true;
            plan.expect_body = vec![BodyCheck::Text { text: "ok".into() }];
        }),
    ];
    let looks = plans.iter().map(|plan| Look::new(plan).expect("they are right"));
    looks.map(|look| look.expect("they look for something")).collect()
}

fn plan(change: impl FnOnce(&mut RequestPlan)) -> RequestPlan {
    let mut plan = RequestPlan::get("http://h/");
    change(&mut plan);
    plan
}
