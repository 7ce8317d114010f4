//! A worker allocates nothing per exchange once its buffers have grown.

#![allow(clippy::unwrap_used)] // A test that cannot start may panic.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use engine::{
    Closed, Gate, Pace, Phase, Plan, RequestPlan, Source, Stop, Worker, WorkerShare, prepare,
};
use net::{Driver, Epoll, SourceAddresses};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use targets::{HelloSpec, Spec, Target, WsSpec};

const CERTIFICATE: &[u8] = include_bytes!("../../net/testdata/named.pem");
const KEY: &[u8] = include_bytes!("../../net/testdata/named.key");

/// Counts the allocations of this thread: target and test harness allocate beside it.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on as it came.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CONNECTIONS: u32 = 4;

/// Allocations of histograms, which grow when a value is the first of its size.
const HISTOGRAMS: u64 = 100;

/// Allocations of rustls per exchange: one to encrypt the request, one to decrypt the response.
const PER_TLS_EXCHANGE: u64 = 2;

/// Returns the allocations of a worker from its first turn to its end.
fn allocations(url: &str, requests: u64, change: &dyn Fn(&mut RequestPlan)) -> u64 {
    let mut request = RequestPlan { timeout_ns: 30_000_000_000, ..RequestPlan::get(url) };
    change(&mut request);
    let pace = Pace::Closed(Closed::new(CONNECTIONS));
    let mut plan = Plan::new(pace, Source::One { request }, Stop::Requests { requests });
    plan.transport.tls.insecure = true;
    // One interval, however long a busy machine takes.
    plan.interval_ns = 600_000_000_000;
    let driver = Epoll::new().unwrap();
    let (reports, inbox) = channel();
    let share = WorkerShare {
        number: 0,
        prepared: Arc::new(prepare(&plan).unwrap()),
        plan,
        gate: Arc::new(Gate::new(1)),
        reports,
        run_start: driver.now(),
        socket_budget: CONNECTIONS.into(),
        sources: SourceAddresses::default(),
        rows: None,
    };
    let worker = Worker::new(driver, share);
    let before = ALLOCATIONS.get();
    drop(worker.run());
    let count = ALLOCATIONS.get() - before;
    let tallies = inbox.iter().filter(|report| report.phase == Phase::Measure);
    let ok: u64 = tallies.map(|report| report.tallies.iter().map(|one| one.ok).sum::<u64>()).sum();
    assert_eq!(ok, requests);
    count
}

#[test]
fn ten_times_as_many_exchanges_need_no_more_allocations() {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let url = format!("http://{}/", target.addr());
    let with_variables = |request: &mut RequestPlan| {
        request.url = format!("{}/{{{{seq}}}}", request.url.trim_end_matches('/'));
        request.template = true;
    };
    let few = allocations(&url, 1_000, &|_| ());
    let many = allocations(&url, 10_000, &|_| ());
    assert!(many <= few + HISTOGRAMS, "{few} allocations of 1,000 exchanges, {many} of 10,000");
    let few = allocations(&url, 1_000, &with_variables);
    let many = allocations(&url, 10_000, &with_variables);
    assert!(many <= few + HISTOGRAMS, "with variables: {few} of 1,000 exchanges, {many} of 10,000");
}

#[test]
fn ten_times_as_many_messages_need_no_more_allocations() {
    let target = Target::start(Spec::Ws(WsSpec::default())).unwrap();
    let url = format!("ws://{}/", target.addr());
    let message = |request: &mut RequestPlan| {
        // {"id": {{seq}}}
        request.body = Some("eyJpZCI6IHt7c2VxfX19".into());
        (request.template, request.accept_statuses) = (true, vec![(101, 101)]);
    };
    let few = allocations(&url, 1_000, &message);
    let many = allocations(&url, 10_000, &message);
    assert!(many <= few + HISTOGRAMS, "{few} allocations of 1,000 messages, {many} of 10,000");
}

/// Starts a TLS server that answers each request on each connection.
fn tls_server() -> SocketAddr {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            thread::spawn(move || {
                let mut stream = StreamOwned::new(session, socket);
                // A request is smaller than one record.
                while stream.read(&mut [0; 4096]).is_ok_and(|length| length > 0) {
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    if stream.write_all(answer).is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn an_exchange_over_tls_needs_no_allocation_but_those_of_the_tls_library() {
    let url = format!("https://{}/", tls_server());
    let few = allocations(&url, 1_000, &|_| ());
    let many = allocations(&url, 3_000, &|_| ());
    assert!(many <= few + 2_000 * PER_TLS_EXCHANGE + HISTOGRAMS, "{few} of 1,000, {many} of 3,000");
}
