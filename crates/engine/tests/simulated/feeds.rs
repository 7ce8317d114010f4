//! Rows that come while the load runs: when they start, in which order, with which values.

use crate::world::{HELLO, MS, Outcome, SECOND, Target, simulate_fed};
use engine::{
    Capture, CaptureFrom, Data, Fed, FeedRow, Pace, Plan, Remember, RequestPlan, Source, Stop,
};
use net::{Act, Dial, Nanos, Peer};

/// A peer that notes when each path was asked for, and answers it after a time with a text.
struct Notes<A> {
    answer: A,
    seen: Vec<(Nanos, String)>,
}

impl<A: FnMut(&str) -> (Nanos, String)> Peer for Notes<A> {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, _: u64, bytes: &[u8], now: Nanos) -> Vec<(Nanos, Act)> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let path = text.split(' ').nth(1).unwrap().to_owned();
        let (delay, body) = (self.answer)(&path);
        self.seen.push((now, path));
        let head = format!("HTTP/1.1 200 OK\r\nX-Path: {body}\r\nContent-Length: 0\r\n\r\n");
        vec![(delay, Act::Bytes(head.into_bytes()))]
    }
}

fn request(path: &str) -> RequestPlan {
    let url = format!("http://127.0.0.1:80{path}");
    let (name, timeout_ns) = (path.to_owned(), 60 * SECOND);
    RequestPlan { name, template: true, timeout_ns, ..RequestPlan::get(&url) }
}

fn plan(requests: &[RequestPlan], connections: u32, is_timed: bool) -> Plan {
    let pace = Pace::Fed(Fed { connections, is_timed, max_in_flight: None });
    let mut plan = Plan::new(pace, Source::Turn { requests: requests.to_vec() }, Stop::Rows);
    plan.groups[0].data = Some(Data::Fed { fed: vec!["id".into()] });
    plan
}

/// A row that waits for nothing and that no other waits for.
fn row(number: u64, due_ns: Nanos) -> FeedRow {
    let cells = vec![number.to_string().into()];
    FeedRow { number, session: number, followers: Some(0), due_ns, cells, ..FeedRow::default() }
}

/// A row of a session, which waits for the rows before it.
fn turn(number: u64, session: u64, after: &[u64], followers: u32, due_ns: Nanos) -> FeedRow {
    let (after, followers) = (after.to_vec(), Some(followers));
    FeedRow { session, after, followers, ..row(number, due_ns) }
}

fn simulate<A: FnMut(&str) -> (Nanos, String)>(
    plan: Plan,
    rows: Vec<FeedRow>,
    answer: A,
) -> Outcome<Notes<A>> {
    let outcome = simulate_fed(plan, rows, Notes { answer, seen: Vec::new() });
    outcome.assert_balanced();
    outcome
}

/// What was asked for, and when from the start of the window.
fn seen<A>(outcome: &Outcome<Notes<A>>) -> Vec<(Nanos, &str)> {
    let start = outcome.window.0;
    let seen = outcome.world.peer.seen.iter();
    seen.map(|(at, path)| (at - start, path.as_str())).collect()
}

/// The same in milliseconds.
fn in_ms<A>(outcome: &Outcome<Notes<A>>) -> Vec<(Nanos, &str)> {
    seen(outcome).into_iter().map(|(at, path)| (at / MS, path)).collect()
}

fn after(delay: Nanos) -> impl FnMut(&str) -> (Nanos, String) {
    move |path| (delay, path.to_owned())
}

#[test]
fn rows_with_times_start_when_they_are_due_and_the_load_ends_after_the_last() {
    let rows = vec![row(0, 0), row(1, 5 * MS), row(2, 5 * MS), row(3, 700 * MS)];
    let outcome = simulate(plan(&[request("/{{row.id}}")], 9, true), rows, after(50 * MS));
    let expected = [(0, "/0"), (5 * MS, "/1"), (5 * MS, "/2"), (700 * MS, "/3")];
    assert_eq!(seen(&outcome), expected);
    assert_eq!((outcome.measured.ok, outcome.measured.scheduled), (4, 4));
    assert_eq!(outcome.window.1 - outcome.window.0, 750 * MS);
    assert_eq!((outcome.measured.postponed, outcome.measured.left_out), (0, 0));
}

#[test]
fn a_window_that_ends_before_the_rows_leaves_the_later_ones() {
    let mut plan = plan(&[request("/{{row.id}}")], 9, true);
    plan.stop = Stop::Duration { duration_ns: SECOND };
    let rows = (0..30).map(|number| row(number, number * 100 * MS)).collect();
    let outcome = simulate(plan, rows, after(MS));
    assert_eq!((outcome.measured.planned, outcome.measured.ok), (10, 10));
    assert_eq!(outcome.window.1 - outcome.window.0, SECOND);
}

#[test]
fn a_row_does_not_start_before_the_one_before_it_has_ended_and_its_delay_is_counted() {
    let later = FeedRow { pause_ns: 30 * MS, ..turn(2, 7, &[1], 0, 20 * MS) };
    let rows = vec![turn(0, 7, &[], 1, 0), turn(1, 7, &[0], 1, 10 * MS), later, row(3, 15 * MS)];
    let outcome = simulate(plan(&[request("/{{row.id}}")], 9, true), rows, after(50 * MS));
    let expected = [(0, "/0"), (15 * MS, "/3"), (50 * MS, "/1"), (130 * MS, "/2")];
    assert_eq!(seen(&outcome), expected);
    // By 40 and by 110 ms.
    assert_eq!((outcome.measured.postponed, outcome.measured.postponed_ns), (2, 150 * MS));
    assert!(outcome.measured.accepted.lag.mean() < 1e6, "it was not the generator");
}

#[test]
fn a_pause_that_ends_before_a_row_is_due_delays_nothing() {
    let later = FeedRow { pause_ns: 30 * MS, ..turn(1, 7, &[0], 0, 200 * MS) };
    let rows = vec![turn(0, 7, &[], 1, 0), later];
    let outcome = simulate(plan(&[request("/{{row.id}}")], 9, true), rows, after(50 * MS));
    assert_eq!(seen(&outcome), [(0, "/0"), (200 * MS, "/1")]);
    assert_eq!(outcome.measured.postponed, 0);
}

#[test]
fn branches_run_beside_each_other_and_are_joined() {
    let rows = vec![
        turn(0, 7, &[], 2, 0),
        turn(1, 7, &[0], 1, 0),
        turn(2, 7, &[0], 1, 0),
        turn(3, 7, &[1, 2], 0, 0),
    ];
    let answer = |path: &str| (if path == "/2" { 90 * MS } else { 10 * MS }, path.to_owned());
    for is_timed in [true, false] {
        let plan = plan(&[request("/{{row.id}}")], 5, is_timed);
        let outcome = simulate(plan, rows.clone(), answer);
        let order: Vec<_> = seen(&outcome).iter().map(|(_, path)| (*path).to_owned()).collect();
        assert_eq!(order, ["/0", "/1", "/2", "/3"]);
        let times: Vec<_> = seen(&outcome).iter().map(|(at, _)| at / MS).collect();
        assert_eq!((times[1], times[2], times[3]), (10, 10, 100), "timed: {is_timed}");
    }
}

#[test]
fn users_send_the_rows_in_order_each_when_it_has_its_answer() {
    let rows = (0..6).map(|number| row(number, 0)).collect();
    let outcome = simulate(plan(&[request("/{{row.id}}")], 2, false), rows, after(10 * MS));
    // After its first answer, a connection is observed for 5 ms.
    assert_eq!(
        in_ms(&outcome),
        [(0, "/0"), (0, "/1"), (15, "/2"), (15, "/3"), (25, "/4"), (25, "/5")]
    );
    assert_eq!((outcome.measured.ok, outcome.measured.scheduled), (6, 0));
}

#[test]
fn a_user_whose_session_pauses_thinks_and_takes_no_other_session() {
    let later = FeedRow { pause_ns: 100 * MS, ..turn(1, 7, &[0], 0, 0) };
    let rows = vec![turn(0, 7, &[], 1, 0), later, row(2, 0), row(3, 0)];
    let outcome = simulate(plan(&[request("/{{row.id}}")], 1, false), rows, after(10 * MS));
    assert_eq!(in_ms(&outcome), [(0, "/0"), (110, "/1"), (120, "/2"), (130, "/3")]);
    assert_eq!(outcome.measured.postponed, 0);
}

#[test]
fn users_of_rows_wait_after_a_failed_dial_so_that_an_outage_does_not_use_up_the_rows() {
    const OUTAGE: Nanos = 250 * MS;
    let alone: Vec<_> = (0..100).map(|number| row(number, 0)).collect();
    let session = (0..100).map(|number| {
        let after = if number == 0 { vec![] } else { vec![number - 1] };
        turn(number, 7, &after, 1, 0)
    });
    // Two users fail once or twice each in the window, and one session is played by one user.
    for (rows, failures) in [(alone, 4), (session.collect(), 2)] {
        let dial = |_, now| {
            if now < OUTAGE { Dial::Fail(MS, libc::ECONNREFUSED) } else { Dial::Accept(0) }
        };
        let target = Target::new(dial, |_, _| vec![(MS, Act::Bytes(HELLO.to_vec()))]);
        let outcome = simulate_fed(plan(&[request("/{{row.id}}")], 2, false), rows, target);
        outcome.assert_balanced();
        assert_eq!(outcome.reasons(), [("connect.refused".to_owned(), failures)]);
        assert_eq!(outcome.measured.ok, 100 - failures);
    }
}

#[test]
fn few_users_play_many_sessions_one_after_another_with_their_think_times() {
    const SESSIONS: u64 = 40;
    const TURNS: u64 = 4;
    const USERS: u32 = 3;
    let rows = (0..SESSIONS * TURNS).map(|number| {
        let (session, place) = (number / TURNS, number % TURNS);
        let after = if place == 0 { vec![] } else { vec![number - 1] };
        let followers = u32::from(place + 1 < TURNS);
        let pause_ns = if place == 0 { 0 } else { (20 + session % 5) * MS };
        FeedRow { pause_ns, ..turn(number, session, &after, followers, 0) }
    });
    let plan = plan(&[request("/{{row.id}}")], USERS, false);
    let outcome = simulate(plan, rows.collect(), after(10 * MS));
    let mut starts = vec![0; (SESSIONS * TURNS) as usize];
    for (at, path) in seen(&outcome) {
        starts[path[1..].parse::<usize>().unwrap()] = at;
    }
    let sessions: Vec<_> = starts.chunks(TURNS as usize).collect();
    for (session, number) in sessions.iter().zip(0..) {
        let pause_ns = (20 + number % 5) * MS;
        let pauses = session.windows(2).map(|turns| turns[1] - turns[0] - 10 * MS);
        assert!(pauses.into_iter().all(|pause| pause == pause_ns), "session {number}: {session:?}");
    }
    assert!(sessions.windows(2).all(|pair| pair[0][0] <= pair[1][0]), "sessions begin in order");
    let open = sessions.iter().map(|session| {
        let now = session[0];
        let is_open = |other: &&&[Nanos]| other[0] <= now && now < other[3] + 10 * MS;
        sessions.iter().filter(is_open).count()
    });
    assert!(open.into_iter().all(|count| count == USERS as usize), "no more and no fewer are open");
    assert_eq!((outcome.measured.ok, outcome.measured.postponed), (SESSIONS * TURNS, 0));
}

#[test]
fn branches_wait_for_the_connections_of_all_users_before_any_session_is_opened() {
    let rows = vec![
        turn(0, 7, &[], 3, 0),
        turn(1, 7, &[0], 1, 0),
        turn(2, 7, &[0], 1, 0),
        turn(3, 7, &[0], 1, 0),
        turn(4, 7, &[1, 2, 3], 0, 0),
        turn(5, 8, &[], 1, 0),
        turn(6, 8, &[5], 0, 0),
        row(9, 0),
    ];
    let outcome = simulate(plan(&[request("/{{row.id}}")], 2, false), rows, after(10 * MS));
    let expected = [
        (0, "/0"),
        (0, "/5"),
        (15, "/1"),
        (15, "/2"),
        (25, "/3"),
        (25, "/6"),
        (35, "/4"),
        (35, "/9"),
    ];
    assert_eq!(in_ms(&outcome), expected);
    // Two could have started at 10 ms; that others wait until a connection is known to be kept is no
    // postponement.
    assert_eq!((outcome.measured.postponed, outcome.measured.postponed_ns), (2, 30 * MS));
}

#[test]
fn branches_that_begin_a_session_run_beside_each_other_if_there_are_connections() {
    for (users, times, postponed) in [(3, [0, 0, 0], 0), (1, [0, 15, 25], 1)] {
        let rows = vec![turn(0, 7, &[], 0, 0), turn(1, 7, &[], 1, 0), row(2, 0)];
        let outcome = simulate(plan(&[request("/{{row.id}}")], users, false), rows, after(10 * MS));
        let expected: Vec<_> = times.into_iter().zip(["/0", "/1", "/2"]).collect();
        assert_eq!((in_ms(&outcome), outcome.measured.postponed), (expected, postponed));
    }
}

#[test]
fn of_sessions_that_come_mixed_a_user_plays_one_to_its_last_row_that_has_come() {
    let unknown = |row: FeedRow| FeedRow { followers: None, ..row };
    let rows = vec![turn(0, 7, &[], 0, 0), turn(1, 8, &[], 0, 0), turn(2, 7, &[0], 0, 0)];
    let more = vec![turn(3, 8, &[1], 0, 0), turn(4, 7, &[2], 0, 0)];
    let rows = rows.into_iter().chain(more).map(unknown).collect();
    let outcome = simulate(plan(&[request("/{{row.id}}")], 1, false), rows, after(10 * MS));
    let order: Vec<_> = seen(&outcome).iter().map(|(_, path)| (*path).to_owned()).collect();
    assert_eq!(order, ["/0", "/2", "/4", "/1", "/3"]);
}

#[test]
fn rows_that_were_announced_and_never_come_keep_no_user() {
    let rows = vec![turn(0, 7, &[], 1, 0), turn(1, 8, &[], 1, 0), row(2, 0)];
    let outcome = simulate(plan(&[request("/{{row.id}}")], 1, false), rows, after(10 * MS));
    assert_eq!(outcome.measured.ok, 3);
}

#[test]
fn a_row_chooses_its_request_and_has_a_row_of_its_own_in_the_tables() {
    let requests = [request("/first/{{row.id}}"), request("/later/{{row.id}}")];
    let rows = vec![row(0, 0), FeedRow { request: 1, ..row(1, 0) }];
    let outcome = simulate(plan(&requests, 1, false), rows, after(MS));
    let paths: Vec<_> = seen(&outcome).iter().map(|(_, path)| (*path).to_owned()).collect();
    assert_eq!(paths, ["/first/0", "/later/1"]);
    let later: u64 = outcome.reports.iter().map(|report| report.tallies[1].ok).sum();
    assert_eq!(later, 1);
}

/// A plan whose rows send the values that the rows before them have captured.
fn capturing(connections: u32) -> Plan {
    let capture = Capture { name: "seen".into(), from: CaptureFrom::Header, what: "X-Path".into() };
    let captures = vec![capture];
    plan(&[RequestPlan { captures, ..request("/{{row.id}}-{{seen}}") }], connections, false)
}

#[test]
fn the_rows_of_a_session_share_what_they_capture_and_those_of_others_do_not() {
    let rows = vec![
        turn(0, 7, &[], 1, 0),
        turn(1, 8, &[], 1, 0),
        turn(2, 7, &[0], 1, 0),
        turn(3, 8, &[1], 0, 0),
        turn(4, 7, &[2], 0, 0),
    ];
    let answer = |path: &str| (MS, path.replace('/', ""));
    let outcome = simulate(capturing(1), rows, answer);
    let paths: Vec<_> = seen(&outcome).iter().map(|(_, path)| (*path).to_owned()).collect();
    assert_eq!(paths, ["/0-", "/2-0-", "/4-2-0-", "/1-", "/3-1-"]);
}

#[test]
fn a_session_remembers_its_good_answers_in_order() {
    let mut plan = capturing(2);
    let Source::Turn { requests } = &mut plan.groups[0].source else { unreachable!() };
    requests[0].url = "http://127.0.0.1:80/{{row.id}}?{{history}}".into();
    requests[0].remember =
        Some(Remember { name: "history".into(), text: "({{row.id}}:{{seen}})".into() });
    let rows = vec![
        turn(0, 7, &[], 1, 0),
        turn(1, 7, &[0], 1, 0),
        turn(2, 8, &[], 0, 0),
        turn(3, 7, &[1], 0, 0),
    ];
    let answer = |path: &str| (MS, format!("re{}", &path[1..2]));
    let outcome = simulate(plan, rows, answer);
    let mut paths: Vec<_> = seen(&outcome).iter().map(|(_, path)| (*path).to_owned()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/0?", "/1?(0:re0)", "/2?", "/3?(0:re0)(1:re1)"]);
}

#[test]
fn rows_that_need_the_answer_of_a_failed_one_are_left_out_and_counted() {
    let rows = vec![
        turn(0, 7, &[], 1, 0),
        turn(1, 7, &[0], 1, 0),
        turn(2, 7, &[1], 1, 0),
        turn(3, 8, &[], 1, 0),
        turn(4, 8, &[3], 0, 0),
        turn(5, 7, &[2], 0, 0),
    ];
    for users in [1, 2] {
        let mut plan = capturing(users);
        let Source::Turn { requests } = &mut plan.groups[0].source else { unreachable!() };
        requests[0].captures[0].what = "X-Other".into();
        let outcome = simulate(plan, rows.clone(), |path: &str| (MS, path.replace('/', "")));
        assert_eq!(outcome.reasons(), [("check.capture".to_owned(), 2)]);
        assert_eq!((outcome.measured.attempted, outcome.measured.left_out), (2, 4));
    }
}

#[test]
fn a_row_that_is_dropped_counts_as_ended_for_those_after_it() {
    let mut plan = plan(&[request("/{{row.id}}")], 1, true);
    let Pace::Fed(fed) = &mut plan.groups[0].pace else { unreachable!() };
    fed.max_in_flight = Some(1);
    let rows = vec![row(0, 0), turn(1, 7, &[], 1, MS), turn(2, 7, &[1], 0, 60 * MS)];
    let outcome = simulate(plan, rows, after(50 * MS));
    assert_eq!(seen(&outcome), [(0, "/0"), (60 * MS, "/2")]);
    assert_eq!((outcome.measured.dropped, outcome.measured.postponed), (1, 0));
}

#[test]
fn a_row_after_one_that_never_comes_starts_at_its_time() {
    let rows = vec![turn(1, 7, &[0], 0, 20 * MS)];
    let outcome = simulate(plan(&[request("/{{row.id}}")], 1, true), rows, after(MS));
    assert_eq!(seen(&outcome), [(20 * MS, "/1")]);
}

#[test]
fn a_feed_without_rows_ends_at_once() {
    let outcome = simulate(plan(&[request("/")], 1, true), Vec::new(), after(MS));
    assert_eq!((outcome.measured.planned, outcome.world.peer.seen.len()), (0, 0));
}
