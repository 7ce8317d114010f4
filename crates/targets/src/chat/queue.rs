//! The requests of a chat target: decides times, length and defect of each, and shares the scheduler among
//! the threads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::ask::{ChatAsk, LengthAsk};
use super::kv_blocks::BlockLimits;
use super::scheduler::{FinishReason, Job, RequestScheduler, SchedulerLimits, Snapshot, View};
use super::story::answer_token;
use super::tokenizer::TokenId;
use super::{AnswerLength, ChatSpec};
use crate::{Defect, clock, random};

/// Series of random numbers that are independent of each other.
const TEXT_SEED: u64 = 0x7465_7874;
const TOKEN_SEED: u64 = 0x746f_6b65;
const DEFECT_SEED: u64 = 0x6465_6665;

/// The maximum number of texts of a stream, so that streams have different random numbers.
pub(crate) const MOST_TOKENS: u64 = 1 << 20;

/// The shared state of the threads of a chat target.
#[derive(Debug)]
pub(crate) struct ChatQueue {
    spec: ChatSpec,
    number: AtomicU64,
    shared: Mutex<SharedQueue>,
}

#[derive(Debug)]
struct SharedQueue {
    scheduler: RequestScheduler,
    /// Wakes the task of a request when there are news about it.
    notices: HashMap<u64, Arc<Notify>>,
}

/// A request that was taken.
#[derive(Debug)]
pub(crate) struct ChatTurn {
    /// Its number, in the order of requests.
    pub(crate) number: u64,
    pub(crate) texts: usize,
    pub(crate) is_cut: bool,
    pub(crate) prompt_tokens: u64,
    pub(crate) defect: Option<Defect>,
    pub(crate) place: Place,
    pub(crate) noted: Noted,
}

/// What the log has about the place of a request.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    pub(crate) has_start: bool,
    pub(crate) pauses: usize,
}

impl ChatTurn {
    /// Returns when its last text is due.
    pub(crate) fn end_ns(&self) -> u64 {
        let View { at_ns, start_ns, .. } = &self.place.view;
        at_ns.last().copied().or(*start_ns).unwrap_or_default()
    }
}

/// The place of a request in the queue, or among those that run; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    queue: Arc<ChatQueue>,
    number: u64,
    notice: Arc<Notify>,
    /// What is known about the request.
    pub(crate) view: View,
    reason: FinishReason,
}

impl ChatQueue {
    pub(crate) fn new(spec: &ChatSpec) -> Self {
        let block_tokens = spec.prefix_block;
        let blocks = BlockLimits {
            total: spec.kv_tokens.map(|tokens| tokens / block_tokens),
            cached: spec.prefix_cache.unwrap_or_default() / block_tokens,
        };
        let scheduler = RequestScheduler::new(SchedulerLimits {
            places: spec.capacity,
            blocks,
            block_tokens,
            prefill_ns: spec.prefill_ns,
            answer: answer_token,
        });
        let shared = Mutex::new(SharedQueue { scheduler, notices: HashMap::new() });
        ChatQueue { spec: spec.clone(), number: AtomicU64::new(0), shared }
    }

    pub(crate) fn spec(&self) -> &ChatSpec {
        &self.spec
    }

    /// Takes a request for an answer. An error says why it cannot be served.
    pub(crate) fn generate(
        self: &Arc<Self>,
        ask: &mut ChatAsk,
        received_ns: u64,
    ) -> Result<ChatTurn, String> {
        let prompt = std::mem::take(&mut ask.prompt);
        let room = self.room(prompt.len())?;
        let number = self.number.fetch_add(1, Relaxed);
        let (texts, is_cut) = length(self.tokens(number), ask.length, room);
        let job = Job { prompt, offsets_ns: self.offsets(number, texts), generates: true, is_cut };
        Ok(self.take(number, job, received_ns))
    }

    /// Takes a request whose result comes after the time to a first text.
    pub(crate) fn compute(
        self: &Arc<Self>,
        prompt: Vec<TokenId>,
        received_ns: u64,
    ) -> Result<ChatTurn, String> {
        self.room(prompt.len())?;
        let number = self.number.fetch_add(1, Relaxed);
        let offsets_ns = self.offsets(number, 1);
        let job = Job { prompt, offsets_ns, generates: false, is_cut: false };
        let turn = self.take(number, job, received_ns);
        Ok(ChatTurn { defect: None, ..turn })
    }

    /// Returns the state now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut shared = self.shared();
        shared.scheduler.advance(clock::now_ns());
        let snapshot = shared.scheduler.snapshot();
        shared.wake();
        snapshot
    }

    fn take(self: &Arc<Self>, number: u64, job: Job, received_ns: u64) -> ChatTurn {
        let (texts, is_cut) = (job.offsets_ns.len(), job.is_cut);
        let prompt_tokens = job.prompt.len() as u64;
        let notice = Arc::new(Notify::new());
        let mut shared = self.shared();
        shared.scheduler.arrive(number, job, received_ns);
        let view = shared.scheduler.view(number).unwrap_or_default();
        shared.wake();
        shared.notices.insert(number, Arc::clone(&notice));
        drop(shared);
        let reason = FinishReason::Abort;
        let place = Place { queue: Arc::clone(self), number, notice, view, reason };
        let defect = self.defect(number);
        let noted = Noted::default();
        ChatTurn { number, texts, is_cut, prompt_tokens, defect, place, noted }
    }

    /// Returns how many tokens the KV cache has for the answer to a prompt; an error if it has none.
    fn room(&self, prompt_tokens: usize) -> Result<u64, String> {
        let Some(most) = self.shared().scheduler.most_tokens() else {
            return Ok(MOST_TOKENS);
        };
        let room = most.saturating_sub(prompt_tokens as u64);
        let problem = || {
            format!(
                "this model's maximum context length is {most} tokens, but the prompt has {prompt_tokens}"
            )
        };
        if room == 0 { Err(problem()) } else { Ok(room.min(MOST_TOKENS)) }
    }

    /// Returns when each text is due, from the start of the request.
    fn offsets(&self, number: u64, texts: u64) -> Vec<u64> {
        let spec = &self.spec;
        let mut offset_ns = spec.ttft.draw(spec.seed, number);
        let after = |text: u64| {
            if text > 0 {
                offset_ns += spec.itl.draw(spec.seed ^ TEXT_SEED, number * MOST_TOKENS + text);
            }
            offset_ns
        };
        (0..texts).map(after).collect()
    }

    /// Returns how many texts an answer has by itself.
    fn tokens(&self, number: u64) -> u64 {
        match self.spec.tokens {
            AnswerLength::Constant { n } => n,
            AnswerLength::Uniform { least, most } => {
                let unit = random::unit(self.spec.seed ^ TOKEN_SEED, 0, number);
                (least + (unit * (most - least + 1) as f64) as u64).min(most)
            }
        }
    }

    /// Returns the defect, if there is one: the shares divide the range of one random number.
    fn defect(&self, number: u64) -> Option<Defect> {
        let drawn = random::unit(self.spec.seed ^ DEFECT_SEED, 0, number);
        let mut below = 0.0;
        self.spec.defects.iter().find_map(|chance| {
            below += chance.share;
            (drawn < below).then_some(chance.defect)
        })
    }

    fn shared(&self) -> MutexGuard<'_, SharedQueue> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedQueue {
    /// Wakes the tasks of requests with news.
    fn wake(&mut self) {
        for number in self.scheduler.take_news() {
            if let Some(notice) = self.notices.get(&number) {
                notice.notify_one();
            }
        }
    }
}

impl Place {
    /// Looks again what is known.
    pub(crate) fn look(&mut self) {
        let mut shared = self.queue.shared();
        shared.scheduler.advance(clock::now_ns());
        if let Some(view) = shared.scheduler.view(self.number) {
            self.view = view;
        }
        shared.wake();
    }

    /// Returns when there are news.
    pub(crate) async fn news(&self) {
        self.notice.notified().await;
    }

    /// Returns when a text is due, if that is certain.
    pub(crate) fn certain_ns(&self, text: usize) -> Option<u64> {
        let is_certain = text < self.view.certain;
        is_certain.then(|| self.view.at_ns.get(text).copied()).flatten()
    }

    /// Says why the request ends, if it ends before its last text is due.
    pub(crate) fn ends_by(&mut self, reason: FinishReason) {
        self.reason = reason;
    }

    /// Gives the place back.
    pub(crate) fn leave(&mut self) {
        let mut shared = self.queue.shared();
        if shared.notices.remove(&self.number).is_some() {
            shared.scheduler.advance(clock::now_ns());
            if let Some(view) = shared.scheduler.view(self.number) {
                self.view = view;
            }
            shared.scheduler.leave(self.number, clock::now_ns(), self.reason);
            shared.wake();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Returns the number of texts of an answer, and whether a limit ends it; `own` is its length without
/// limits.
fn length(own: u64, asked: LengthAsk, room: u64) -> (u64, bool) {
    let least = own.max(asked.least);
    let wanted = match asked.most {
        Some(most) if asked.ignores_end => most,
        Some(most) => least.min(most),
        None => least,
    };
    let is_cut = asked.most.is_some() && (asked.ignores_end || wanted < least);
    (wanted.min(room), is_cut || wanted > room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Delay;
    use crate::chat::{Chance, ChatDialect};

    fn queue(change: impl FnOnce(&mut ChatSpec)) -> Arc<ChatQueue> {
        let mut spec = ChatSpec::new(ChatDialect::Openai);
        spec.ttft = Delay::Constant { ns: 100 };
        spec.itl = Delay::Constant { ns: 10 };
        spec.tokens = AnswerLength::Constant { n: 4 };
        change(&mut spec);
        Arc::new(ChatQueue::new(&spec))
    }

    fn take(queue: &Arc<ChatQueue>, prompt: usize) -> Result<ChatTurn, String> {
        let mut ask = ChatAsk { prompt: vec![1; prompt], ..ChatAsk::default() };
        queue.generate(&mut ask, 1_000)
    }

    #[test]
    fn texts_have_the_times_of_the_spec() {
        let turn = take(&queue(|_| ()), 3).unwrap();
        assert_eq!((turn.texts, turn.prompt_tokens, turn.is_cut), (4, 3, false));
        assert_eq!(*turn.place.view.at_ns, [1_100, 1_110, 1_120, 1_130]);
        assert_eq!(turn.place.certain_ns(3), Some(1_130));
        let slow = take(&queue(|spec| spec.prefill_ns = 5), 3).unwrap();
        assert_eq!(slow.place.certain_ns(0), Some(1_115));
    }

    #[test]
    fn a_dropped_place_is_free_again_and_the_next_request_gets_it() {
        let queue = queue(|spec| {
            spec.capacity = Some(1);
            spec.tokens = AnswerLength::Constant { n: 1_000_000 };
            spec.itl = Delay::Constant { ns: 3_600_000_000_000 };
        });
        let first = take(&queue, 1).unwrap();
        let mut second = take(&queue, 1).unwrap();
        let load = || (queue.snapshot().running, queue.snapshot().waiting);
        assert_eq!((load(), second.place.view.start_ns), ((1, 1), None));
        drop(first);
        second.place.look();
        assert_eq!((load(), second.place.view.start_ns.is_some()), ((1, 0), true));
        drop(second);
        assert_eq!((load(), queue.snapshot().totals.ends), ((0, 0), [0, 0, 2, 0]));
    }

    #[test]
    fn what_never_fits_is_refused_and_answers_end_where_the_room_does() {
        let queue = queue(|spec| spec.kv_tokens = Some(40));
        // 40 tokens are two blocks of 16.
        let problem = take(&queue, 32).unwrap_err();
        assert!(problem.contains("length is 32 tokens, but the prompt has 32"), "{problem}");
        let turn = take(&queue, 30).unwrap();
        assert_eq!((turn.texts, turn.is_cut), (2, true));
        drop(turn);
        let turn = take(&queue, 28).unwrap();
        assert_eq!((turn.texts, turn.is_cut), (4, false));
    }

    #[test]
    fn the_request_decides_how_long_an_answer_is() {
        let asked = |least, most, ignores_end| LengthAsk { least, most, ignores_end };
        let rows = [
            (asked(0, None, false), (16, false)),
            (asked(0, Some(16), false), (16, false)),
            (asked(0, Some(9), false), (9, true)),
            (asked(0, Some(90), false), (16, false)),
            (asked(20, None, false), (20, false)),
            (asked(20, Some(30), false), (20, false)),
            (asked(0, Some(30), true), (30, true)),
            (asked(30, Some(30), true), (30, true)),
            (asked(0, None, true), (16, false)),
            (asked(0, Some(0), false), (0, true)),
            (asked(0, Some(200), true), (100, true)),
        ];
        for (asked, expected) in rows {
            assert_eq!(length(16, asked, 100), expected, "{asked:?}");
        }
    }

    #[test]
    fn defects_come_in_their_shares_and_never_two_at_once() {
        let chances = vec![
            Chance { defect: Defect::Error, share: 0.1 },
            Chance { defect: Defect::Stall, share: 0.2 },
        ];
        let queue = queue(|spec| spec.defects = chances);
        let drawn: Vec<_> = (0..10_000).map(|number| queue.defect(number)).collect();
        let count = |defect| drawn.iter().filter(|found| **found == Some(defect)).count();
        assert!((900..1_100).contains(&count(Defect::Error)));
        assert!((1_850..2_150).contains(&count(Defect::Stall)));
        let again: Vec<_> = (0..10_000).map(|number| queue.defect(number)).collect();
        assert_eq!(drawn, again);
    }

    #[test]
    fn numbers_of_tokens_stay_within_their_bounds_and_reach_them() {
        let queue = queue(|spec| spec.tokens = AnswerLength::Uniform { least: 2, most: 5 });
        let drawn: std::collections::BTreeSet<_> = (0..1_000).map(|n| queue.tokens(n)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [2, 3, 4, 5]);
    }
}
