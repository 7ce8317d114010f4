//! Cases that mostly wait, checked at the same time.

use std::thread::{self, Builder};

/// Checks each case in a thread that has the name of the case, so that a failed assertion says it.
pub(crate) fn at_once<Case: Send>(
    cases: impl IntoIterator<Item = (String, Case)>,
    check: impl Fn(Case) + Sync,
) {
    let check = &check;
    thread::scope(|scope| {
        let start = |(name, case): (String, Case)| {
            let thread = Builder::new().name(name.clone());
            (name, thread.spawn_scoped(scope, move || check(case)).unwrap())
        };
        let threads: Vec<_> = cases.into_iter().map(start).collect();
        assert!(!threads.is_empty(), "no case");
        let ends = threads.into_iter().map(|(name, thread)| (name, thread.join()));
        let failed: Vec<_> = ends.filter(|(_, end)| end.is_err()).map(|(name, _)| name).collect();
        assert!(failed.is_empty(), "failed: {failed:?}");
    });
}
