//! The memory of a worker's tallies.

#![allow(clippy::unwrap_used)] // A test that cannot start may panic.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::mpsc::channel;

use engine::{Closed, Gate, Pace, Plan, RequestPlan, Source, Stop, Worker, WorkerShare, prepare};
use net::{Act, Dial, Nanos, Peer, Simulated, SourceAddresses};

const MS: Nanos = 1_000_000;

/// Counts the bytes that this thread holds: the test's harness allocates beside it.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on as it came.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get() + layout.size().cast_signed());
        MOST.set(MOST.get().max(HELD.get()));
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Answers after times that are spread evenly over three decades, from 1 ms on.
struct Spread(u64);

impl Peer for Spread {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss
        )]
        let after = (1e6 * 1000_f64.powf((self.0 >> 11) as f64 / (1_u64 << 53) as f64)) as Nanos;
        vec![(after, Act::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec()))]
    }
}

#[test]
fn sixteen_workers_with_two_hundred_names_need_300_mb_at_most() {
    const NAMES: usize = 200;
    const WORKERS: isize = 16;
    let request = |number: usize| RequestPlan {
        name: format!("name {number}"),
        timeout_ns: 30_000 * MS,
        ..RequestPlan::get("http://127.0.0.1:80/")
    };
    let source = Source::Turn { requests: (0..NAMES).map(request).collect() };
    let stop = Stop::Requests { requests: 100_000 };
    let plan = Plan::new(Pace::Closed(Closed::new(500)), source, stop);
    let (reports, inbox) = channel();
    // They are not read, so that only the memory of the worker counts.
    drop(inbox);
    let share = WorkerShare {
        number: 0,
        prepared: Arc::new(prepare(&plan).unwrap()),
        plan,
        gate: Arc::new(Gate::new(1)),
        reports,
        run_start: 0,
        socket_budget: 500,
        sources: SourceAddresses::default(),
        rows: None,
    };
    let before = HELD.get();
    MOST.set(before);
    let world = Worker::new(Simulated::new(Spread(1)), share).run();
    assert!(world.dials() >= 500);
    let bytes = MOST.get() - before;
    assert!(bytes * WORKERS <= 300_000_000, "{bytes} bytes of one worker");
}
