//! Loads of several real processes: they count as one does, and what is lost is said.

#![allow(clippy::unwrap_used)] // A test that cannot start may panic.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engine::{
    ChildTransport, Closed, Data, Fed, FeedRow, Open, Pace, Plan, Processes, RequestPlan,
    RowSource, Run, SocketChild, Source, StartError, Stop, Summary, Tally, Think, level_json,
    serve_on,
};
use targets::{Fault, FaultVersion, FaultySpec, HelloSpec, Spec, Target};

const MS: u64 = 1_000_000;
const CHILD: &str = env!("CARGO_BIN_EXE_engine-child");

/// However long a busy machine takes.
const PATIENCE_NS: u64 = 30_000 * MS;

/// A window of an hour.
const ENDLESS_NS: u64 = 3_600_000 * MS;

/// Longer than any of these tests takes.
const PATIENCE: Duration = Duration::from_secs(120);

fn plan(url: &str, pace: Pace, stop: Stop) -> Plan {
    let request = RequestPlan { timeout_ns: PATIENCE_NS, ..RequestPlan::get(url) };
    let plan = Plan::new(pace, Source::One { request }, stop);
    let (processes, drain_ns) = (Processes::Exactly(3), 2 * PATIENCE_NS);
    Plan { retry_delay_ns: 10 * MS, workers: 4, processes, seed: 7, drain_ns, ..plan }
}

/// The one request of a plan.
fn one(plan: &mut Plan) -> &mut RequestPlan {
    match &mut plan.groups[0].source {
        Source::One { request } => request,
        _ => unreachable!("these plans have one request"),
    }
}

fn requests(url: &str, users: u32, requests: u64) -> Plan {
    plan(url, Pace::Closed(Closed::new(users)), Stop::Requests { requests })
}

/// A load that lasts until it is ended.
fn endless(url: &str, users: u32) -> Plan {
    let stop = Stop::Duration { duration_ns: ENDLESS_NS };
    thinking(plan(url, Pace::Closed(Closed::new(users)), stop))
}

/// The plan with users that leave the cores to others.
fn thinking(mut plan: Plan) -> Plan {
    plan.groups[0].think = Some(Think::Uniform { from_ns: 5 * MS, to_ns: 5 * MS });
    plan
}

/// A load whose children bear a word by which they are found.
fn start(plan: &Plan, word: &str) -> Run {
    Run::start_with(plan, &[CHILD.into(), own(word)]).unwrap()
}

/// The word that children of this process bear: its tests may run more than once at a time.
fn own(word: &str) -> String {
    format!("{word}-{}", std::process::id())
}

fn end(run: &Run) -> Summary {
    let limit = Instant::now() + PATIENCE;
    while !run.is_done() {
        let _ = run.next_interval(Duration::from_millis(50));
        assert!(Instant::now() < limit, "the run does not end");
    }
    run.summary().unwrap()
}

fn run(plan: &Plan) -> Summary {
    end(&start(plan, "any"))
}

/// What sends the parts of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Executor {
    /// Workers of this process.
    Threads,
    /// Three processes behind pipes.
    Processes,
    /// Three nodes behind sockets, which are threads of the test.
    Nodes,
}

const EXECUTORS: [Executor; 3] = [Executor::Threads, Executor::Processes, Executor::Nodes];

impl Executor {
    fn processes(self) -> u32 {
        if self == Self::Threads { 1 } else { 3 }
    }

    fn run(self, plan: &Plan) -> Summary {
        let plan = Plan { processes: Processes::Exactly(self.processes()), ..plan.clone() };
        match self {
            Self::Threads | Self::Processes => run(&plan),
            Self::Nodes => end(&start_on_sockets(&plan, 3).0),
        }
    }
}

/// Starts a load on nodes behind sockets; returns it with the node's ends of the sockets.
fn start_on_sockets(plan: &Plan, count: usize) -> (Run, Vec<UnixStream>) {
    let (nodes, sockets): (Vec<_>, Vec<_>) = (0..count).map(|_| node()).unzip();
    (Run::start_on(plan, nodes).unwrap(), sockets)
}

/// Serves loads on a socket pair; returns the way to it, and its end of the socket.
fn node() -> (Box<dyn ChildTransport>, UnixStream) {
    let (parent, own) = UnixStream::pair().unwrap();
    let (input, output) = (own.try_clone().unwrap(), own.try_clone().unwrap());
    std::thread::spawn(move || serve_on(input, output));
    (Box::new(SocketChild::new(parent).with_silence_limit(PATIENCE)), own)
}

fn balanced(summary: &Summary) -> Tally {
    let total = summary.total();
    assert_eq!(total.planned, total.attempted + total.dropped);
    assert_eq!(total.attempted, total.ended() + summary.in_flight);
    total
}

fn hello() -> (Target, String) {
    let target = Target::start(Spec::Hello(HelloSpec::default())).unwrap();
    let url = format!("http://{}/", target.addr());
    (target, url)
}

/// The processes of this machine with that word in their command.
fn children(word: &str) -> Vec<u32> {
    let word = own(word);
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok());
    let mut found: Vec<u32> = numbers
        .filter(|number| {
            let command = std::fs::read_to_string(format!("/proc/{number}/cmdline"));
            command.is_ok_and(|text| text.split('\0').eq([CHILD, word.as_str(), ""]))
        })
        .collect();
    found.sort_unstable();
    found
}

fn signal(name: &str, process: u32) {
    let words = [format!("-{name}"), process.to_string()];
    assert!(Command::new("kill").args(words).status().unwrap().success());
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < limit, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until the window has brought some intervals with answers.
fn wait_for_window(run: &Run) {
    let mut intervals = 0;
    wait_until("no window came", || {
        let interval = run.next_interval(Duration::from_millis(50));
        intervals += u32::from(interval.is_some_and(|interval| {
            interval["phase"] == "measure" && interval["counts"]["ok"].as_u64() > Some(0)
        }));
        intervals == 3
    });
}

#[test]
fn all_executors_count_the_same_and_the_target_agrees() {
    for executor in EXECUTORS {
        let (target, url) = hello();
        let summary = executor.run(&requests(&url, 10, 3001));
        target.stop().unwrap();
        let (total, counts) = (balanced(&summary), target.counts());
        assert_eq!((total.ok, counts.requests, counts.answered), (3001, 3001, 3001));
        assert_eq!(total.bytes_in, counts.bytes_out);
        assert_eq!(counts.connections, 10);
        assert_eq!(total.accepted.service.count(), 3001);
        assert_eq!((summary.concurrency, summary.connections.asked), (10, 10));
        assert_eq!((summary.generator.processes, summary.workers.len()), (executor.processes(), 4));
        assert_eq!((&summary.failure, summary.lost), (&None, 0));
        assert!(summary.generator.cpu_ns > 0);
    }
}

#[test]
fn warm_up_and_window_together_are_what_the_target_saw() {
    for executor in EXECUTORS {
        let (target, url) = hello();
        let mut plan = endless(&url, 8);
        (plan.warmup_ns, plan.stop) = (200 * MS, Stop::Duration { duration_ns: 300 * MS });
        let summary = executor.run(&plan);
        target.stop().unwrap();
        let warmup: u64 = summary.warmup.iter().map(|tally| tally.attempted).sum();
        let total = balanced(&summary);
        assert!(warmup > 0);
        assert_eq!(target.counts().requests, warmup + total.attempted);
        assert_eq!(summary.window_ns, 300 * MS, "all begin and end together");
    }
}

#[test]
fn an_open_load_sends_what_was_planned() {
    for executor in EXECUTORS {
        let (target, url) = hello();
        let open = Open::new(2000.0, 16);
        let stop = Stop::Duration { duration_ns: 500 * MS };
        let summary = executor.run(&plan(&url, Pace::Constant(open), stop));
        target.stop().unwrap();
        let total = balanced(&summary);
        assert_eq!((total.planned, total.ok, target.counts().requests), (1000, 1000, 1000));
        assert_eq!(summary.rate, Some(2000.0));
    }
}

/// Faults that end by a timeout alone.
const SILENT: [Fault; 6] = [
    Fault::SlowLoris,
    Fault::LengthTooLong,
    Fault::SlowHead,
    Fault::EndlessBody,
    Fault::EndlessLine,
    Fault::Hang,
];

fn faulty(fault: Fault, share: f64) -> (Target, String) {
    let host = "127.0.0.1".into();
    let spec = FaultySpec { host, port: 0, threads: 1, fault, share, seed: 1 };
    let target = Target::start(Spec::Faulty(spec)).unwrap();
    let url = format!("http://{}/", target.addr());
    (target, url)
}

#[test]
fn faults_balance_and_the_targets_agree() {
    for executor in EXECUTORS {
        let is_met = |fault: &&Fault| {
            let is_of_http1 = fault.version() == FaultVersion::Http1;
            is_of_http1 && **fault != Fault::NoAccept && !SILENT.contains(fault)
        };
        let faults: Vec<Fault> = Fault::ALL.iter().filter(is_met).copied().collect();
        let targets: Vec<_> = faults.iter().map(|fault| faulty(*fault, 0.5)).collect();
        // A user of each process for each fault; the whole plan is one load.
        let groups = faults.iter().zip(&targets).map(|(fault, (_, url))| {
            let mut plan = requests(url, 3, 1);
            one(&mut plan).name = fault.name().into();
            plan.groups.remove(0)
        });
        let mut plan = requests("http://127.0.0.1:1/", 1, 30 * faults.len() as u64);
        (plan.groups, plan.workers) = (groups.collect(), 3);
        // An interval with so many rows takes long to hand over where nothing is optimized.
        plan.interval_ns = PATIENCE_NS;
        let summary = executor.run(&plan);
        let total = balanced(&summary);
        assert_eq!((total.attempted, summary.in_flight), (30 * faults.len() as u64, 0));
        for (fault, (target, _)) in faults.iter().zip(targets) {
            target.stop().unwrap();
            let (name, counts) = (fault.name(), target.counts());
            let tally =
                &summary.measured[summary.names.iter().position(|row| row == name).unwrap()];
            let met = counts.faults[name];
            // The first request of each connection is spared by closed_on_reuse.
            assert!(met < counts.requests && (met > 0 || *fault == Fault::ClosedOnReuse), "{name}");
            // A connection that closes under a request: the target never saw that one.
            let unseen = if *fault == Fault::CloseAfter { tally.attempted - tally.ok } else { 0 };
            assert_eq!(counts.requests + unseen, tally.attempted, "{name}");
            let is_failed = !fault.answers() || *fault == Fault::Status503;
            let failed = if is_failed { met } else { unseen };
            assert_eq!(tally.ok, tally.attempted - failed, "{name}");
            let answered =
                tally.statuses.values().sum::<u64>() - tally.rejected.values().sum::<u64>();
            assert_eq!(tally.ok, answered, "{name}");
        }
    }
}

#[test]
fn silent_faults_balance_and_the_targets_agree() {
    let (healthy, url) = hello();
    let targets = SILENT.map(|fault| faulty(fault, 1.0));
    // Three users of each process for each fault. Each sends one request that is answered, and then
    // one that is not.
    let groups = targets.iter().map(|(_, silent_url)| {
        let mut plan = requests(&url, 9, 1);
        let answered = one(&mut plan).clone();
        let unanswered = RequestPlan { timeout_ns: 4_000 * MS, ..RequestPlan::get(silent_url) };
        plan.groups[0].source = Source::Steps { requests: vec![answered, unanswered] };
        plan.groups.remove(0)
    });
    let pairs = 9 * SILENT.len() as u64;
    let mut plan = requests(&url, 1, 2 * pairs);
    (plan.groups, plan.workers) = (groups.collect(), 3);
    let summary = run(&plan);
    healthy.stop().unwrap();
    let total = balanced(&summary);
    assert_eq!((total.attempted, total.ok, summary.in_flight), (2 * pairs, pairs, 0));
    assert_eq!(healthy.counts().answered, pairs);
    for (fault, (target, _)) in SILENT.iter().zip(targets) {
        target.stop().unwrap();
        let counts = target.counts();
        assert_eq!((counts.requests, counts.faults[fault.name()]), (9, 9), "{}", fault.name());
    }
}

#[test]
fn every_exchange_is_in_the_log_in_the_order_of_their_ends() {
    for executor in EXECUTORS {
        let (target, url) = hello();
        let path = std::env::temp_dir().join(format!("torr-fleet-{}.csv", std::process::id()));
        let mut plan = requests(&url, 6, 1200);
        (plan.log, plan.interval_ns) = (Some(path.clone()), 5 * MS);
        let summary = executor.run(&plan);
        target.stop().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(balanced(&summary).ok, 1200);
        let rows: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(rows.len(), 1200);
        assert!(rows.iter().all(|row| row.starts_with("GET /,measure,ok,,200,")), "{text}");
        let ends = rows.iter().map(|row| row.split(',').nth(11).unwrap().parse::<u64>().unwrap());
        assert!(ends.is_sorted(), "{executor:?}");
    }
}

#[test]
fn a_process_that_is_killed_is_a_recorded_loss_and_the_rest_goes_on() {
    let (target, url) = hello();
    let run = start(&endless(&url, 9), "killed");
    wait_for_window(&run);
    let found = children("killed");
    assert_eq!(found.len(), 3);
    signal("KILL", found[1]);
    wait_until("it lives", || children("killed") == [found[0], found[2]]);
    let seen = target.counts().requests;
    wait_until("the others have stopped", || target.counts().requests > seen + 100);
    run.stop();
    let summary = end(&run);
    target.stop().unwrap();
    let total = balanced(&summary);
    assert!(total.ok > 0 && target.counts().requests >= total.attempted);
    assert_eq!((summary.lost, &summary.failure), (1, &None));
    assert_eq!(summary.connections.asked, 9);
    let warning = &summary.warnings[0].text;
    assert!(warning.starts_with("engine process "), "{warning}");
    assert!(warning.contains(" of 3 died (signal 9) "), "{warning}");
    assert!(warning.contains(" s after the window began. From then on"), "{warning}");
    let level = level_json(&summary);
    assert_eq!(level["health"]["verdict"], "generator-limited");
    drop(run);
    assert_eq!(children("killed"), [0_u32; 0]);
}

#[test]
fn a_node_whose_connection_ends_is_a_recorded_loss_and_the_rest_goes_on() {
    let (target, url) = hello();
    let (run, sockets) = start_on_sockets(&endless(&url, 9), 3);
    wait_for_window(&run);
    sockets[1].shutdown(std::net::Shutdown::Both).unwrap();
    let seen = target.counts().requests;
    wait_until("the others have stopped", || target.counts().requests > seen + 100);
    run.stop();
    let summary = end(&run);
    target.stop().unwrap();
    assert!(balanced(&summary).ok > 0);
    assert_eq!((summary.lost, &summary.failure), (1, &None));
    let warning = &summary.warnings[0].text;
    assert!(warning.contains(" of 3 closed its connection "), "{warning}");
}

#[test]
fn a_node_that_is_silent_is_a_recorded_loss() {
    let (target, url) = hello();
    let (lively, _own) = node();
    let (silent, relay) = silenced_node();
    let silent = SocketChild::new(silent).with_silence_limit(Duration::from_millis(1500));
    let run = Run::start_on(&endless(&url, 2), vec![lively, Box::new(silent)]).unwrap();
    wait_for_window(&run);
    relay.send(()).unwrap();
    // The run waits for its last reports, which do not come.
    run.stop();
    let summary = end(&run);
    target.stop().unwrap();
    assert_eq!((summary.lost, &summary.failure), (1, &None));
    let warning = &summary.warnings[0].text;
    assert!(warning.contains(" of 2 was silent for 1 s "), "{warning}");
}

/// A node whose replies are held back once the sender has sent; its socket stays open.
fn silenced_node() -> (UnixStream, std::sync::mpsc::Sender<()>) {
    use std::io::{Read, Write};
    let (parent, mut relay) = UnixStream::pair().unwrap();
    let (node, mut orders) = UnixStream::pair().unwrap();
    let (mut from_node, mut to_parent) = (orders.try_clone().unwrap(), relay.try_clone().unwrap());
    std::thread::spawn(move || serve_on(node.try_clone().unwrap(), node));
    std::thread::spawn(move || std::io::copy(&mut relay, &mut orders));
    let (hold, is_held) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 64 * 1024];
        while let Ok(count @ 1..) = from_node.read(&mut buffer) {
            if is_held.try_recv().is_ok() || to_parent.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        // Its end would close the socket.
        let _ = from_node.read_to_end(&mut Vec::new());
    });
    (parent, hold)
}

#[test]
fn a_process_that_is_killed_before_the_window_delays_no_other() {
    let (target, url) = hello();
    let mut plan = thinking(requests(&url, 9, 300));
    plan.warmup_ns = 10_000 * MS;
    let run = start(&plan, "early");
    signal("KILL", children("early")[0]);
    let summary = end(&run);
    target.stop().unwrap();
    assert_eq!(balanced(&summary).ok, 200, "the shares of the other two");
    let warning = &summary.warnings[0].text;
    assert!(warning.contains("died (signal 9) before the window"), "{warning}");
}

#[test]
fn a_load_all_of_whose_processes_die_has_failed() {
    let (target, url) = hello();
    let run = start(&endless(&url, 9), "all");
    wait_for_window(&run);
    children("all").into_iter().for_each(|child| signal("KILL", child));
    let summary = end(&run);
    target.stop().unwrap();
    assert!(balanced(&summary).ok > 0, "what was reported is kept");
    assert!(summary.window_ns < ENDLESS_NS, "{}", summary.window_ns);
    let failure = summary.failure.unwrap();
    assert_eq!(failure.code, "failure.all_processes_lost");
    assert_eq!(failure.values["last"]["code"], "warning.process_lost");
}

#[test]
fn a_stop_and_an_abort_reach_every_process() {
    let (target, url) = hello();
    for order in [Run::stop, Run::abort] {
        let run = start(&endless(&url, 9), "ordered");
        wait_for_window(&run);
        order(&run);
        let summary = end(&run);
        assert!(balanced(&summary).ok > 0);
        assert!(summary.interrupted);
        assert!((1..ENDLESS_NS).contains(&summary.window_ns), "{}", summary.window_ns);
        assert_eq!(summary.lost, 0, "{:?}", summary.warnings);
    }
    target.stop().unwrap();
}

#[test]
fn a_process_that_hears_no_order_is_ended_by_an_abort() {
    let (target, url) = hello();
    let run = start(&endless(&url, 9), "deaf");
    wait_for_window(&run);
    signal("STOP", children("deaf")[0]);
    run.abort();
    let summary = end(&run);
    target.stop().unwrap();
    balanced(&summary);
    // On a busy machine the others may need more than the time after which an abort ends them too.
    assert!((1..=3).contains(&summary.lost), "{}", summary.lost);
    drop(run);
    assert_eq!(children("deaf"), [0_u32; 0]);
}

#[test]
fn a_dropped_run_leaves_no_process() {
    let (target, url) = hello();
    let run = start(&endless(&url, 9), "dropped");
    assert_eq!(children("dropped").len(), 3);
    drop(run);
    assert_eq!(children("dropped"), [0_u32; 0]);
    target.stop().unwrap();
}

#[test]
fn a_process_without_a_parent_ends_by_itself() {
    let ended = Command::new(CHILD).stdin(std::process::Stdio::null()).output().unwrap();
    assert!(ended.status.success());
}

#[test]
fn a_command_that_is_no_child_is_refused_before_any_load() {
    let (target, url) = hello();
    let plan = requests(&url, 9, 100);
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let table = [
        (words(&[]), "cannot start an engine process: no program is known"),
        (words(&["/nowhere/child"]), "cannot start an engine process: No such file"),
        (
            words(&["sh", "-c", "echo first >&2; echo no such module >&2; exit 7"]),
            "an engine process could not start: it died (exit code 7: no such module)",
        ),
        (words(&["sh", "-c", "echo hello; sleep 60"]), "its first bytes are not torr's"),
    ];
    for (command, message) in table {
        let Err(StartError::Machine(error)) = Run::start_with(&plan, &command) else {
            unreachable!("{command:?} is no child");
        };
        assert!(error.contains(message), "{error}");
    }
    target.stop().unwrap();
    assert_eq!(target.counts().connections, 0);
}

#[test]
fn processes_are_never_more_than_connections() {
    let (target, url) = hello();
    let summary = run(&requests(&url, 2, 50));
    target.stop().unwrap();
    assert_eq!((balanced(&summary).ok, summary.generator.processes), (50, 2));
}

#[test]
fn a_load_of_processes_starts_when_the_last_of_them_has_prepared_its_part() {
    let (target, url) = hello();
    let folder = std::env::temp_dir().join(own("torr-held-orders"));
    std::fs::create_dir_all(&folder).unwrap();
    // A child that is there at once, but gets its part of the plan only when the test says so.
    let script = "f=$(mktemp -p \"$0\"); { head -c 1 > \"$f\"; touch \"$f.asked\"; \
        while [ ! -e \"$f.go\" ]; do sleep 0.05; done; cat \"$f\" -; } | \"$1\"";
    let words = ["sh", "-c", script, folder.to_str().unwrap(), CHILD].map(str::to_owned);
    let place = folder.clone();
    let release = move || {
        let asked = || -> Vec<_> {
            let paths = std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path());
            paths.filter(|path| path.extension().is_some_and(|end| end == "asked")).collect()
        };
        while asked().len() < 2 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut released_at = 0;
        for path in asked() {
            // Longer than the notice that comes between the orders and the start.
            std::thread::sleep(Duration::from_millis(200));
            released_at = net::monotonic_ns();
            std::fs::write(path.with_extension("go"), "").unwrap();
        }
        released_at
    };
    let mut plan = requests(&url, 4, 40);
    plan.processes = Processes::Exactly(2);
    let releasing = std::thread::spawn(release);
    let summary = end(&Run::start_with(&plan, &words).unwrap());
    let released_at = releasing.join().unwrap();
    target.stop().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(balanced(&summary).ok, 40);
    let run_start = summary.window_start - summary.warmup_ns;
    assert!(run_start > released_at, "{} ns too early", released_at - run_start);
}

#[test]
fn a_load_is_stopped_while_its_processes_still_prepare_it() {
    // They are there, and never get their part of the plan.
    let script = "sleep 600 | \"$0\"";
    let words = ["sh", "-c", script, CHILD].map(str::to_owned);
    let run = Run::start_with(&requests("http://127.0.0.1:1/", 4, 40), &words).unwrap();
    run.stop();
    let summary = end(&run);
    assert_eq!((summary.interrupted, &summary.failure), (true, &None));
    assert_eq!(balanced(&summary).planned, 0);
    assert_eq!(level_json(&summary)["interrupted"], true);
}

/// Serves loads in a thread, as a node of that name does.
fn named_node(name: &str) -> (Box<dyn ChildTransport>, UnixStream) {
    let (parent, own) = UnixStream::pair().unwrap();
    let (input, output) = (own.try_clone().unwrap(), own.try_clone().unwrap());
    std::thread::spawn(move || serve_on(input, output));
    let node = SocketChild::new(parent).with_silence_limit(PATIENCE).on_node(name);
    (Box::new(node), own)
}

#[test]
fn nodes_are_named_with_their_processes_and_their_losses() {
    let (target, url) = hello();
    let (nodes, sockets): (Vec<_>, Vec<_>) = ["a", "b", "b"].into_iter().map(named_node).unzip();
    let run = Run::start_on(&endless(&url, 6), nodes).unwrap();
    wait_for_window(&run);
    let _ = sockets[2].shutdown(std::net::Shutdown::Both);
    wait_until("no loss was noticed", || {
        run.next_interval(Duration::from_millis(50))
            .is_some_and(|one| one["t_s"].as_f64() > Some(1.0))
    });
    run.stop();
    let summary = end(&run);
    target.stop().unwrap();
    balanced(&summary);
    let nodes: Vec<_> =
        summary.nodes.iter().map(|one| (one.name.as_str(), one.processes, one.lost)).collect();
    assert_eq!(nodes, [("a", 1, 0), ("b", 2, 1)]);
    assert!(summary.nodes.iter().all(|one| one.clock.is_none()), "they have this clock");
    let text = &summary.warnings[0].text;
    assert!(text.starts_with("engine process 3 of 3, on b, closed its connection "), "{text}");
    let level = level_json(&summary);
    assert_eq!(level["generator"]["nodes"][1]["lost_processes"], 1);
}

#[test]
fn a_load_of_fewer_users_than_nodes_is_sent_by_the_first_nodes() {
    let (target, url) = hello();
    let nodes = ["a", "b", "c"].map(|name| named_node(name).0);
    let summary = end(&Run::start_on(&requests(&url, 2, 100), nodes.into()).unwrap());
    target.stop().unwrap();
    assert_eq!((balanced(&summary).ok, target.counts().requests), (100, 100));
    let names: Vec<_> = summary.nodes.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names, summary.lost), (vec!["a", "b"], 0));
}

#[test]
fn one_node_is_a_load_like_any_other() {
    let (target, url) = hello();
    let plan = requests(&url, 4, 100);
    let summary = end(&Run::start_on(&plan, vec![named_node("a").0]).unwrap());
    target.stop().unwrap();
    assert_eq!((balanced(&summary).ok, target.counts().requests), (100, 100));
    assert_eq!((summary.generator.processes, summary.nodes.len()), (1, 1));
    assert!(summary.generator.cpu_ns > 0);
}

/// A load of so many rows, each of which is due in its turn; every other one waits for the one before.
fn fed(url: &str, is_timed: bool) -> Plan {
    let pace = Pace::Fed(Fed { connections: 8, is_timed, max_in_flight: None });
    let mut plan = plan(&format!("{url}{{{{row.id}}}}"), pace, Stop::Rows);
    one(&mut plan).template = true;
    plan.groups[0].data = Some(Data::Fed { fed: vec!["id".into()] });
    plan
}

fn fed_rows(count: u64) -> impl Iterator<Item = FeedRow> + Send + 'static {
    (0..count).map(|number| {
        let is_second = number % 2 == 1;
        FeedRow {
            number,
            session: number / 2,
            after: if is_second { vec![number - 1] } else { Vec::new() },
            followers: Some(u32::from(!is_second)),
            due_ns: number * MS / 10,
            cells: vec![number.to_string().into()],
            ..FeedRow::default()
        }
    })
}

/// Serves from threads that end with their connections; returns the URL, and the paths of all requests in
/// the order in which they came.
fn listing_server() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let paths = Arc::<Mutex<Vec<String>>>::default();
    let listed = Arc::clone(&paths);
    std::thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let listed = Arc::clone(&listed);
            std::thread::spawn(move || {
                let lines = BufReader::new(socket.try_clone().unwrap()).lines();
                for line in lines.map_while(Result::ok) {
                    if let Some(rest) = line.strip_prefix("GET ") {
                        let path = rest.split(' ').next().unwrap();
                        listed.lock().unwrap().push(path.to_owned());
                    }
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    if line.is_empty() && socket.write_all(answer).is_err() {
                        break;
                    }
                }
            });
        }
    });
    (url, paths)
}

#[test]
fn every_row_of_a_feed_is_sent_once_by_threads_processes_and_nodes() {
    const ROWS: u64 = 500;
    let (url, paths) = listing_server();
    for executor in EXECUTORS {
        for is_timed in [true, false] {
            let plan =
                Plan { processes: Processes::Exactly(executor.processes()), ..fed(&url, is_timed) };
            let rows = Some(Box::new(fed_rows(ROWS)) as _);
            let run = match executor {
                Executor::Threads | Executor::Processes => {
                    Run::start_fed(&plan, &[CHILD.into(), own("fed")], rows).unwrap()
                }
                Executor::Nodes => {
                    let nodes = (0..3).map(|_| node().0).collect();
                    Run::start_fed_on(&plan, nodes, rows).unwrap()
                }
            };
            let total = balanced(&end(&run));
            assert_eq!(total.ok, ROWS, "{executor:?}, timed: {is_timed}");
            let sent = std::mem::take(&mut *paths.lock().unwrap());
            let place = |number: u64| sent.iter().position(|path| *path == format!("/{number}"));
            let places: Vec<_> = (0..ROWS).map(place).collect();
            assert!(places.iter().all(Option::is_some) && sent.len() as u64 == ROWS, "{sent:?}");
            // The second row of a session waits for the answer to the first.
            assert!(places.chunks(2).all(|pair| pair[0] < pair[1]), "{sent:?}");
        }
    }
}

#[test]
fn a_source_of_rows_that_fails_is_a_failure_of_the_run_with_its_words() {
    struct Broken;
    impl RowSource for Broken {
        fn next(&mut self) -> Result<Vec<FeedRow>, String> {
            Err("line 1: no number".into())
        }
    }
    let (_target, url) = hello();
    let plan = Plan { processes: Processes::Exactly(1), ..fed(&url, false) };
    let summary = end(&Run::start_fed(&plan, &[], Some(Box::new(Broken))).unwrap());
    let failure = summary.failure.unwrap();
    assert_eq!(failure.code, "failure.rows_ended_early");
    assert!(failure.text.ends_with("line 1: no number"), "{failure:?}");
}

#[test]
fn users_who_wait_for_rows_that_were_not_read_are_a_warning_and_rows_with_times_are_none() {
    for is_timed in [false, true] {
        let (target, url) = hello();
        let target = Arc::new(target);
        let counted = Arc::clone(&target);
        // A row is read long after the request before it has been sent.
        let slow = fed_rows(10).inspect(move |row| {
            while counted.counts().requests < row.number {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(20));
        });
        let processes = Processes::Exactly(1);
        let plan = Plan { processes, workers: 1, ..fed(&url, is_timed) };
        let summary = end(&Run::start_fed(&plan, &[], Some(Box::new(slow))).unwrap());
        assert_eq!(balanced(&summary).ok, 10);
        let codes: Vec<_> = summary.warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(codes.contains(&"warning.waited_for_rows"), !is_timed, "{codes:?}");
    }
}

#[test]
fn a_plan_with_a_feed_needs_rows_and_others_take_none() {
    let (_target, url) = hello();
    for (plan, rows) in [
        (fed(&url, true), None),
        (requests(&url, 1, 1), Some(Box::new(fed_rows(1)) as Box<dyn RowSource>)),
    ] {
        let Err(StartError::Plan(error)) = Run::start_fed(&plan, &[], rows) else {
            unreachable!("it must not start")
        };
        assert!(error.contains("rows"), "{error}");
    }
}
