//! Plans: any text is read or refused; what is read is written and read back the same.

#![no_main]

use engine::Plan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(plan) = Plan::from_json(text) else { return };
    let written = serde_json::to_string(&plan).expect("a plan is plain data");
    assert_eq!(Plan::from_json(&written).as_ref(), Ok(&plan));
    // What everybody asks of a plan that was accepted.
    assert!(plan.connections() > 0 && plan.concurrency() > 0);
    for group in &plan.groups {
        assert!(!group.source.requests().is_empty());
        assert!(group.pace.rate_per_s().is_none_or(|rate| rate >= 0.0));
    }
});
