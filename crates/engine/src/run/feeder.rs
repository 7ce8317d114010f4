//! The feeder: reads rows ahead of the workers, and gives each to one of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use net::Nanos;

use crate::feed::{FeedBatch, FeedDemand, FeedLink, FeedRow, RowSource};
use crate::worker::gate::Gate;

/// The weight of the rows that a worker has ahead, on average over the workers, at first.
const FIRST_ROOM: u64 = 8 << 20;

/// The same at most, and the most that any worker has. It doubles when a worker has no row to send.
const MOST_ROOM: u64 = 128 << 20;

/// Rows that go to a worker at once.
const BATCH_ROWS: usize = 64;

/// The time until the workers are asked again whether they have room.
const PAUSE: Duration = Duration::from_millis(2);

/// Of at least so many sessions, those of the last rows, it is remembered which worker sends them.
/// The readers of traces remember no more, and a session that they forget begins anew.
const MOST_SESSIONS: usize = 1 << 16;

/// What the feeder and the coordinator tell each other.
#[derive(Debug, Default)]
pub(super) struct FeedState {
    /// What the workers tell, if users take the rows.
    demands: Vec<Arc<FeedDemand>>,
    /// Why the rows ended too early, if they did.
    failure: Mutex<Option<String>>,
    /// Whether the run is over, so that no row is needed.
    is_over: AtomicBool,
}

impl FeedState {
    /// Creates the state of a feed to workers, whose users take rows if they have some.
    pub(super) fn new(links: &[FeedLink], have_users: bool) -> Self {
        let demands = links.iter().filter(|_| have_users).map(|link| Arc::clone(&link.demand));
        Self { demands: demands.collect(), ..Self::default() }
    }

    /// Returns whether users take the rows, which then wait for their sessions, and not for times.
    fn have_users(&self) -> bool {
        !self.demands.is_empty()
    }

    /// Returns the percentage of a time in which users had no row, on average over the workers.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn starved_percent(&self, time: Nanos) -> f64 {
        let starved: u64 = self.demands.iter().map(|demand| demand.read().1).sum();
        let whole = time as f64 * self.demands.len() as f64;
        if whole > 0.0 { (100.0 * starved as f64 / whole).min(100.0) } else { 0.0 }
    }

    pub(super) fn fail(&self, error: String) {
        *self.lock() = Some(error);
    }

    pub(super) fn take_failure(&self) -> Option<String> {
        self.lock().take()
    }

    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that feeds workers.
pub(super) struct Feeder {
    source: Box<dyn RowSource>,
    links: Vec<WorkerFeed>,
    room: u64,
    sessions: SessionWorkers,
    state: Arc<FeedState>,
}

/// Which worker sends the rows of which session. Workers take turns with new sessions, so that each has
/// as many of them as the others for its users.
#[derive(Debug, Default)]
struct SessionWorkers {
    /// The worker of the session that began last.
    turn: usize,
    /// The sessions of the last rows.
    new: HashMap<u64, usize>,
    /// As many of before, of which rows may still come.
    old: HashMap<u64, usize>,
}

impl SessionWorkers {
    /// Returns the next of a number of workers.
    fn next(&mut self, workers: usize) -> usize {
        self.turn = (self.turn + 1) % workers;
        self.turn
    }

    /// Returns the one of a number of workers that sends the rows of a session.
    fn of(&mut self, session: u64, workers: usize) -> usize {
        if let Some(&worker) = self.new.get(&session) {
            return worker;
        }
        let worker = self.old.get(&session).copied();
        let worker = worker.unwrap_or_else(|| self.next(workers));
        if self.new.len() >= MOST_SESSIONS {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.insert(session, worker);
        worker
    }
}

/// What the feeder knows of one worker.
struct WorkerFeed {
    link: FeedLink,
    /// Rows that are sent together.
    batch: Vec<FeedRow>,
    /// The weight of all rows that were given to it.
    given: u64,
    /// How long it had been without rows when it was last asked.
    starved: u64,
    /// Whether it was sent anything: without, it does not begin.
    has_begun: bool,
}

impl Feeder {
    pub(super) fn new(
        source: Box<dyn RowSource>,
        links: Vec<FeedLink>,
        state: Arc<FeedState>,
    ) -> Self {
        let worker =
            |link| WorkerFeed { link, batch: Vec::new(), given: 0, starved: 0, has_begun: false };
        let links = links.into_iter().map(worker).collect();
        Self { source, links, room: FIRST_ROOM, sessions: SessionWorkers::default(), state }
    }

    /// Feeds the workers in a thread of its own, until the last row or the end of the run.
    pub(super) fn start(mut self, gate: Arc<Gate>) -> Result<(), String> {
        let body = move || self.feed_until(&gate);
        let thread = Builder::new().name("torr-feeder".into()).spawn(body);
        thread.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
    }

    fn feed_until(&mut self, gate: &Gate) {
        while !gate.is_stopped() && !self.state.is_over.load(Ordering::Acquire) {
            if !self.has_room() {
                self.begin_all();
                std::thread::sleep(PAUSE);
                continue;
            }
            match self.source.next() {
                Ok(rows) if rows.is_empty() => return self.flush(true),
                Ok(rows) => rows.into_iter().for_each(|row| self.give(row)),
                Err(error) => {
                    self.state.fail(error);
                    return self.flush(true);
                }
            }
            self.flush(false);
        }
    }

    /// Returns whether the workers have room together, and none has all that it may have; makes the room
    /// larger if one was without rows. A user who waits for a row of its session lets its worker have
    /// more, since nothing else lets that user go on.
    fn has_room(&mut self) -> bool {
        let (mut held, mut is_any_full, mut was_starved, mut is_stuck) = (0, false, false, false);
        for worker in &mut self.links {
            let (used, starved) = worker.link.demand.read();
            let is_starved = std::mem::replace(&mut worker.starved, starved) < starved;
            // A worker that has ended has used more than it was given.
            let own = worker.given.saturating_sub(used);
            let is_full = own >= MOST_ROOM;
            held += own;
            is_any_full |= is_full;
            was_starved |= is_starved;
            is_stuck |= is_full && is_starved;
        }
        let workers = self.links.len() as u64;
        if was_starved && held >= self.room * workers {
            self.room = (self.room * 2).min(MOST_ROOM);
        }
        let has_room = held < self.room * workers && !is_any_full;
        has_room || (is_stuck && self.state.have_users())
    }

    /// Lets workers begin that have no row, while others have as many as there is room for.
    fn begin_all(&mut self) {
        self.links
            .iter_mut()
            .filter(|worker| !worker.has_begun)
            .for_each(|worker| worker.send(false));
    }

    fn give(&mut self, row: FeedRow) {
        let is_alone = row.after.is_empty() && row.followers == Some(0);
        let count = self.links.len();
        let number =
            if is_alone { self.sessions.next(count) } else { self.sessions.of(row.session, count) };
        let worker = &mut self.links[number];
        worker.given += row.weight();
        worker.batch.push(row);
        if worker.batch.len() >= BATCH_ROWS {
            worker.flush(false);
        }
    }

    fn flush(&mut self, is_last: bool) {
        for worker in &mut self.links {
            worker.flush(is_last);
        }
    }
}

impl WorkerFeed {
    fn flush(&mut self, is_last: bool) {
        if is_last || !self.batch.is_empty() {
            self.send(is_last);
        }
    }

    fn send(&mut self, is_last: bool) {
        let rows = std::mem::take(&mut self.batch);
        self.has_begun = true;
        // A worker that takes no more has ended.
        (self.link.send)(FeedBatch { rows, is_last });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::feed::{FeedInbox, feed_channels};

    const LARGE: usize = 1 << 20;

    /// A row of about a mebibyte.
    fn row(number: u64, session: u64, followers: Option<u32>) -> FeedRow {
        let cells = vec!["x".repeat(LARGE).into()];
        FeedRow { number, session, followers, cells, ..FeedRow::default() }
    }

    /// A feeder of so many workers, what it tells, and the inboxes of the workers.
    fn feeder(
        rows: impl Iterator<Item = FeedRow> + Send + 'static,
        workers: usize,
    ) -> (Feeder, Arc<FeedState>, Vec<FeedInbox>) {
        let (senders, inboxes) = feed_channels(workers);
        let links = senders.into_iter().map(FeedLink::from).collect();
        let state = Arc::<FeedState>::default();
        (Feeder::new(Box::new(rows), links, Arc::clone(&state)), state, inboxes)
    }

    /// The numbers of the rows that have come, and whether the last has.
    fn received(inbox: &FeedInbox) -> (Vec<u64>, bool) {
        let batches: Vec<_> = std::iter::from_fn(|| inbox.take()).collect();
        let is_last = batches.iter().any(|batch| batch.is_last);
        let rows = batches.iter().flat_map(|batch| &batch.rows);
        (rows.map(|row| row.number).collect(), is_last)
    }

    /// Feeds as long as workers have room.
    fn fill(feeder: &mut Feeder) -> usize {
        let mut count = 0;
        while feeder.has_room() {
            let Ok(rows) = feeder.source.next() else { break };
            if rows.is_empty() {
                feeder.flush(true);
                break;
            }
            rows.into_iter().for_each(|row| feeder.give(row));
            feeder.flush(false);
            count += 1;
        }
        count
    }

    #[test]
    fn rows_are_read_ahead_as_far_as_there_is_room_and_further_once_a_worker_was_without() {
        let (mut feeder, _, inboxes) = feeder((0..).map(|number| row(number, 0, Some(0))), 1);
        let first = fill(&mut feeder);
        assert!((7..=9).contains(&first), "{first} rows");
        assert!(!feeder.has_room());
        inboxes[0].use_up(3 * LARGE as u64);
        assert_eq!(fill(&mut feeder), 3);
        // It had no row that could start, although it has as many as it has room for.
        inboxes[0].starve(1);
        assert_eq!(feeder.room, FIRST_ROOM);
        assert!(fill(&mut feeder) >= 7);
        assert_eq!(feeder.room, 2 * FIRST_ROOM);
    }

    #[test]
    fn the_rows_of_a_session_go_to_one_worker_and_others_to_all_in_turn() {
        let sessions = (0..40).map(|number| row(number, number % 4, None));
        let (mut feeder, _, inboxes) = feeder(sessions.take(12), 2);
        fill(&mut feeder);
        let received: Vec<_> = inboxes.iter().map(received).collect();
        assert!(received.iter().all(|(_, is_last)| *is_last));
        assert_eq!(received.iter().map(|(rows, _)| rows.len()).sum::<usize>(), 12);
        for (rows, _) in &received {
            for number in rows {
                let of_session = (0..12).filter(|other| other % 4 == number % 4);
                assert!(of_session.into_iter().all(|other| rows.contains(&other)));
            }
        }
        let (mut feeder, _, inboxes) = self::feeder((0..9).map(|n| row(n, n, Some(0))), 3);
        fill(&mut feeder);
        assert!(inboxes.iter().all(|inbox| self::received(inbox).0.len() == 3));
    }

    #[test]
    fn each_worker_has_as_many_sessions_as_the_others() {
        // Sessions with the numbers of a trace that counts them, and of one that hashes their names.
        for number_of in [|session| session, |session: u64| session.wrapping_mul(8 << 40)] {
            let rows = (0..8 * 3).map(move |number| row(number, number_of(number % 8), None));
            let (mut feeder, _, inboxes) = feeder(rows, 8);
            feeder.room = MOST_ROOM;
            fill(&mut feeder);
            let mut first: Vec<_> = inboxes.iter().map(|inbox| received(inbox).0).collect();
            first.sort_unstable();
            let all: Vec<_> =
                (0..8).map(|session| vec![session, session + 8, session + 16]).collect();
            assert_eq!(first, all);
        }
    }

    #[test]
    fn the_worker_of_a_session_is_remembered_while_rows_of_it_may_come() {
        let mut sessions = SessionWorkers::default();
        let begin = sessions.of(0, 3);
        for other in 1..3 * MOST_SESSIONS as u64 {
            // A row of the first session comes now and then.
            if other.is_multiple_of(MOST_SESSIONS as u64 / 2) {
                assert_eq!(sessions.of(0, 3), begin);
            }
            sessions.of(other, 3);
        }
        assert_eq!(sessions.of(0, 3), begin);
        assert!(sessions.new.len() + sessions.old.len() <= 2 * MOST_SESSIONS);
    }

    #[test]
    fn workers_read_ahead_together_no_further_than_each_alone_if_one_has_all_sessions() {
        let rows = (0..60).map(|number| row(number, 0, None));
        let (mut feeder, _, inboxes) = feeder(rows, 2);
        let first = fill(&mut feeder);
        assert!((15..=17).contains(&first), "{first} rows");
        let (with, without) = if feeder.links[0].given > 0 { (0, 1) } else { (1, 0) };
        inboxes[with].use_up(3 * LARGE as u64);
        assert_eq!(fill(&mut feeder), 3);
        inboxes[without].starve(1);
        assert!(fill(&mut feeder) >= 15);
    }

    #[test]
    fn a_worker_without_rows_begins_when_another_has_as_many_as_there_is_room_for() {
        let (mut feeder, _, inboxes) = feeder((0..).map(|number| row(number, 0, None)), 2);
        // The first of the workers that take turns is the second.
        let (gate, without) = (Gate::new(1), 0);
        let batch = std::thread::scope(|scope| {
            scope.spawn(|| feeder.feed_until(&gate));
            let mut batches = (0..10_000).filter_map(|_| {
                std::thread::sleep(Duration::from_millis(1));
                inboxes[without].take()
            });
            let first = batches.next();
            // Long enough to be told again.
            std::thread::sleep(10 * PAUSE);
            gate.stop();
            first
        });
        assert_eq!(batch, Some(FeedBatch::default()));
        assert_eq!(inboxes[without].take(), None, "it is told once");
    }

    #[test]
    fn a_worker_has_no_more_than_the_maximum_unless_one_of_its_users_waits_for_its_session() {
        for have_users in [true, false] {
            let (senders, inboxes) = feed_channels(3);
            let links: Vec<_> = senders.into_iter().map(FeedLink::from).collect();
            let state = Arc::new(FeedState::new(&links, have_users));
            let mut feeder = Feeder::new(Box::new(std::iter::empty()), links, state);
            feeder.room = MOST_ROOM;
            assert!(feeder.has_room());
            feeder.links[1].given = MOST_ROOM;
            inboxes[0].starve(1);
            assert!(!feeder.has_room(), "the users of another worker wait");
            inboxes[1].starve(1);
            assert_eq!(feeder.has_room(), have_users);
            assert!(!feeder.has_room());
            inboxes[1].use_up(1);
            assert!(feeder.has_room());
            feeder.links[1].given += 1;
            assert!(!feeder.has_room());
            feeder.links[1].link.demand.end();
            assert!(feeder.has_room(), "one that was lost uses nothing up");
        }
    }

    #[test]
    fn the_time_without_rows_is_a_mean_over_the_workers_that_have_users() {
        let (senders, inboxes) = feed_channels(4);
        let links: Vec<_> = senders.into_iter().map(FeedLink::from).collect();
        let [users, times] = [true, false].map(|have_users| FeedState::new(&links, have_users));
        inboxes[0].starve(30);
        inboxes[0].starve(20);
        inboxes[3].starve(10);
        assert!((users.starved_percent(100) - 15.0).abs() < 1e-9);
        assert!((users.starved_percent(1) - 100.0).abs() < 1e-9);
        assert!(times.starved_percent(100).abs() < 1e-9);
        assert!(FeedState::default().starved_percent(0).abs() < 1e-9);
    }

    #[test]
    fn a_source_that_fails_ends_the_rows_and_says_why() {
        struct Broken(u64);
        impl RowSource for Broken {
            fn next(&mut self) -> Result<Vec<FeedRow>, String> {
                self.0 += 1;
                if self.0 > 2 {
                    Err("line 3: no number".into())
                } else {
                    Ok(vec![row(self.0, 0, None)])
                }
            }
        }
        let (mut feeder, state, inboxes) = feeder(std::iter::empty(), 1);
        feeder.source = Box::new(Broken(0));
        feeder.feed_until(&Gate::new(1));
        assert_eq!(received(&inboxes[0]), (vec![1, 2], true));
        assert_eq!(state.take_failure(), Some("line 3: no number".into()));
    }

    #[test]
    fn a_run_that_is_over_or_stopped_reads_no_further_rows() {
        for is_over in [true, false] {
            let reads = Arc::<AtomicUsize>::default();
            let counted = Arc::clone(&reads);
            let rows = (0..).map(|number| row(number, 0, None));
            let rows = rows.inspect(move |_| {
                counted.fetch_add(1, Ordering::Relaxed);
            });
            let (gate, (mut feeder, state, inboxes)) = (Gate::new(1), feeder(rows, 1));
            if is_over {
                state.end();
            } else {
                gate.stop();
            }
            feeder.feed_until(&gate);
            assert_eq!(received(&inboxes[0]), (vec![], false));
            assert_eq!(reads.load(Ordering::Relaxed), 0);
        }
    }
}
