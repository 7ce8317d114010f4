//! Decides which requests run, and when their texts are due: a state machine on a given clock.
//!
//! Requests get places in the order of their arrival. A running request holds blocks of the KV cache for
//! its prompt, its generated texts and the next one. When a running request needs a block and none is free,
//! the youngest running request is preempted: it gives its blocks and its place back, waits before all
//! others, and then computes its prompt and its texts again.
//!
//! Times are planned, not measured: a request starts at the planned end of the one before it, so that the
//! lateness of timers does not add up. The caller calls [`RequestScheduler::advance`] with the clock, and in
//! time: the request that is first in the queue wakes up for every event, see [`View::wake_ns`].

mod request;
mod totals;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

use super::kv_blocks::{BlockLimits, KvBlocks};
use super::tokenizer::TokenId;
pub(crate) use request::Job;
use request::{Request, RequestState};
pub(crate) use totals::{ENDS, FinishReason, Histogram, Snapshot, Totals};

/// The limits and speeds of a scheduler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchedulerLimits {
    /// The maximum number of running requests. None: no limit.
    pub(crate) places: Option<usize>,
    pub(crate) blocks: BlockLimits,
    /// Tokens in a block.
    pub(crate) block_tokens: u64,
    /// For each token of a prompt that is not in the cache.
    pub(crate) prefill_ns: u64,
    /// The tokens of every answer.
    pub(crate) answer: fn(u64) -> TokenId,
}

/// All requests of a target.
#[derive(Debug)]
pub(crate) struct RequestScheduler {
    limits: SchedulerLimits,
    blocks: KvBlocks,
    requests: HashMap<u64, Request>,
    running: BTreeSet<u64>,
    waiting: VecDeque<u64>,
    events: BinaryHeap<Reverse<SchedulerEvent>>,
    now_ns: u64,
    totals: Totals,
    news: Vec<u64>,
    /// The first request of the queue, if it knows that it is.
    first: Option<u64>,
}

/// A text that changes more than its own stream: the first one, one that fills a block, and the last one.
/// `run` is the number of preemptions before it, so that those of earlier runs are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SchedulerEvent {
    at_ns: u64,
    number: u64,
    run: usize,
    text: usize,
}

/// What is known about a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    /// When it had a place for the first time.
    pub(crate) start_ns: Option<u64>,
    /// The tokens of its prompt that were in the cache.
    pub(crate) cached_tokens: u64,
    /// When its texts are due.
    pub(crate) at_ns: Arc<Vec<u64>>,
    /// How many of them are certain: the others may be delayed by a preemption.
    pub(crate) certain: usize,
    /// When it was preempted.
    pub(crate) pauses_ns: Vec<u64>,
    /// When to look again, if there are no news before.
    pub(crate) wake_ns: Option<u64>,
}

impl RequestScheduler {
    pub(crate) fn new(limits: SchedulerLimits) -> Self {
        RequestScheduler {
            limits,
            blocks: KvBlocks::new(limits.blocks),
            requests: HashMap::new(),
            running: BTreeSet::new(),
            waiting: VecDeque::new(),
            events: BinaryHeap::new(),
            now_ns: 0,
            totals: Totals::new(),
            news: Vec::new(),
            first: None,
        }
    }

    /// Returns the maximum number of tokens of a prompt with its answer.
    pub(crate) fn most_tokens(&self) -> Option<u64> {
        self.limits.blocks.total.map(|total| total * self.limits.block_tokens)
    }

    /// Takes a request, which starts at once if it can. Its tokens must be at most
    /// [`RequestScheduler::most_tokens`]. Of two requests, the one with the higher number is younger.
    pub(crate) fn arrive(&mut self, number: u64, job: Job, received_ns: u64) {
        self.advance(received_ns);
        self.requests.insert(number, Request::new(job, received_ns));
        self.waiting.push_back(number);
        // Without limits, it does not matter what other threads did since it was received.
        let is_free = self.limits.places.is_none() && self.limits.blocks.total.is_none();
        self.admit(if is_free { received_ns } else { self.now_ns });
    }

    /// Removes a request: one that has ended, or one that ends now for another reason.
    pub(crate) fn leave(&mut self, number: u64, now_ns: u64, reason: FinishReason) {
        self.advance(now_ns);
        self.end(number, self.now_ns, reason);
        self.requests.remove(&number);
        self.admit(self.now_ns);
    }

    /// Does what is due by `now_ns`.
    pub(crate) fn advance(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
        while let Some(Reverse(event)) = self.events.peek().copied() {
            if event.at_ns > self.now_ns {
                break;
            }
            self.events.pop();
            self.happen(event);
        }
    }

    /// Returns what is known about a request at the time of the last call of [`RequestScheduler::advance`].
    pub(crate) fn view(&mut self, number: u64) -> Option<View> {
        let next_ns = self.events.peek().map(|Reverse(event)| event.at_ns);
        let is_first = self.waiting.front() == Some(&number);
        let may_pause = self.limits.blocks.total.is_some();
        let request = self.requests.get_mut(&number)?;
        let certain = match request.state {
            RequestState::Running if !may_pause => request.texts(),
            RequestState::Over => request.texts(),
            RequestState::Waiting | RequestState::Running => request.texts_by(self.now_ns),
        };
        request.told = request.told.max(certain);
        let wake_ns = match request.state {
            RequestState::Waiting => is_first.then_some(next_ns).flatten(),
            _ => request.at_ns.get(certain).copied(),
        };
        Some(View {
            start_ns: request.start_ns,
            cached_tokens: request.cached_tokens,
            at_ns: Arc::clone(&request.at_ns),
            certain,
            pauses_ns: request.pauses_ns.clone(),
            wake_ns,
        })
    }

    /// Returns the requests that have news: they got a place, or became the first in the queue.
    pub(crate) fn take_news(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.news)
    }

    /// Returns the state at the time of the last call of [`RequestScheduler::advance`].
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut totals = self.totals.clone();
        let open = self.requests.values().filter(|request| request.state != RequestState::Over);
        totals.generation_tokens +=
            open.map(|request| request.generated_by(self.now_ns)).sum::<u64>();
        Snapshot {
            running: self.running.len(),
            waiting: self.waiting.len(),
            kv_usage: self.blocks.usage(),
            totals,
        }
    }

    /// Starts requests from the head of the queue while there is room.
    fn admit(&mut self, now_ns: u64) {
        while let Some(&number) = self.waiting.front() {
            let is_full = self.limits.places.is_some_and(|places| self.running.len() >= places);
            if is_full || !self.start(number, now_ns) {
                break;
            }
            self.waiting.pop_front();
            self.news.push(number);
        }
        let first = self.waiting.front().copied();
        if first != self.first {
            self.first = first;
            self.news.extend(first);
        }
    }

    /// Starts a request if its blocks are free.
    fn start(&mut self, number: u64, now_ns: u64) -> bool {
        let SchedulerLimits { block_tokens, prefill_ns, answer, blocks, .. } = self.limits;
        let Some(request) = self.requests.get_mut(&number) else { return true };
        let tokens = request.tokens(request.generated);
        if blocks.cached > 0 {
            request.add_keys(tokens, block_tokens, answer);
        }
        let hits = self.blocks.hits(&request.keys);
        let count = (tokens + 1).div_ceil(block_tokens);
        let Some(held) = self.blocks.take(&request.keys, count) else { return false };
        // As in vLLM, at least one token is computed.
        let cached = hits.min(tokens.saturating_sub(1) / block_tokens) * block_tokens;
        request.held = held;
        request.state = RequestState::Running;
        if request.start_ns.is_none() {
            request.start_ns = Some(now_ns);
            request.cached_tokens = cached;
            self.totals.begin(request, now_ns, blocks.cached > 0);
        }
        let ttft_ns = request.job.offsets_ns.first().copied().unwrap_or_default();
        request.plan(now_ns, ttft_ns + prefill_ns * (tokens - cached));
        self.running.insert(number);
        self.expect(number, now_ns);
        true
    }

    /// Adds the next event of a running request, after so many of its texts as it has at `now_ns`.
    fn expect(&mut self, number: u64, now_ns: u64) {
        let Some(request) = self.requests.get(&number) else { return };
        let next = request.generated;
        let text = if next == 0 { 0 } else { self.next_event_text(request, next) };
        let at_ns = request.at_ns.get(text).copied().unwrap_or(now_ns);
        let run = request.pauses_ns.len();
        self.events.push(Reverse(SchedulerEvent { at_ns, number, run, text }));
    }

    /// Returns the next text from `next` on that fills a block, or the last one.
    fn next_event_text(&self, request: &Request, next: usize) -> usize {
        let last = request.texts().saturating_sub(1);
        let BlockLimits { total, cached } = self.limits.blocks;
        if !request.job.generates || (total.is_none() && cached == 0) {
            return last;
        }
        // With text i, there are prompt + i + 1 tokens.
        let block_tokens = self.limits.block_tokens;
        let after = request.tokens(next) + 1;
        let missing = after.next_multiple_of(block_tokens) - after;
        (next + missing as usize).min(last)
    }

    /// Does what a text changes.
    fn happen(&mut self, event: SchedulerEvent) {
        let SchedulerEvent { at_ns, number, run, text } = event;
        let Some(request) = self.requests.get_mut(&number) else { return };
        if request.state != RequestState::Running || request.pauses_ns.len() != run {
            return;
        }
        let texts = request.texts();
        if text == 0 && request.job.generates && texts > 0 {
            self.totals.ttft.add(at_ns - request.received_ns);
        }
        let is_last = text + 1 >= texts;
        let reason = if request.job.is_cut { FinishReason::Length } else { FinishReason::Stop };
        request.generated = (text + 1).min(texts);
        self.fill_block(number);
        if is_last {
            self.end(number, at_ns, reason);
            self.admit(at_ns);
        } else if self.grow(number, at_ns) {
            self.expect(number, at_ns);
        }
    }

    /// Caches the block that the last generated text has filled, if it has.
    fn fill_block(&mut self, number: u64) {
        let SchedulerLimits { block_tokens, answer, blocks, .. } = self.limits;
        let Some(request) = self.requests.get_mut(&number) else { return };
        let tokens = request.tokens(request.generated);
        let is_generated = request.job.generates && request.generated > 0;
        if blocks.cached > 0 && is_generated && tokens.is_multiple_of(block_tokens) {
            request.add_keys(tokens, block_tokens, answer);
            if let Some(key) = request.keys.last() {
                self.blocks.fill(&mut request.held, *key);
            }
        }
    }

    /// Adds a block for the next text if it needs one; returns whether the request still runs.
    fn grow(&mut self, number: u64, at_ns: u64) -> bool {
        let block_tokens = self.limits.block_tokens;
        loop {
            let Some(request) = self.requests.get_mut(&number) else { return false };
            let needed = (request.tokens(request.generated) + 1).div_ceil(block_tokens);
            if needed <= request.held.count() || self.blocks.grow(&mut request.held) {
                return true;
            }
            match self.running.last().copied() {
                Some(youngest) => self.preempt(youngest, at_ns),
                None => return false,
            }
            if !self.running.contains(&number) {
                return false;
            }
        }
    }

    /// Puts a running request back to the head of the queue.
    fn preempt(&mut self, number: u64, at_ns: u64) {
        self.running.remove(&number);
        self.waiting.push_front(number);
        self.first = Some(number);
        self.totals.preemptions += 1;
        let Some(request) = self.requests.get_mut(&number) else { return };
        // A text that is due now was not generated, unless the caller knows about it already.
        let before = request.at_ns.partition_point(|due_ns| *due_ns < at_ns);
        request.generated = request.generated.max(request.told).max(before);
        request.state = RequestState::Waiting;
        request.pauses_ns.push(at_ns);
        self.blocks.give_back(std::mem::take(&mut request.held));
        self.news.push(number);
    }

    /// Ends a request that is not over.
    fn end(&mut self, number: u64, at_ns: u64, reason: FinishReason) {
        let Some(request) = self.requests.get_mut(&number) else { return };
        if request.state == RequestState::Over {
            return;
        }
        self.totals.generation_tokens += request.generated_by(at_ns);
        self.totals.ends[reason as usize] += 1;
        request.state = RequestState::Over;
        self.blocks.give_back(std::mem::take(&mut request.held));
        if !self.running.remove(&number) {
            self.waiting.retain(|waiting| *waiting != number);
        }
    }
}

impl Totals {
    /// Counts a request that starts for the first time.
    fn begin(&mut self, request: &Request, now_ns: u64, has_cache: bool) {
        let prompt_tokens = request.job.prompt.len() as u64;
        self.queue.add(now_ns.saturating_sub(request.received_ns));
        self.prompt_tokens += prompt_tokens;
        if has_cache {
            self.cache_queries += prompt_tokens;
            self.cache_hits += request.cached_tokens;
        }
    }
}

#[cfg(test)]
mod tests;
