//! The scheduler by tables: when texts are due, who waits, who is preempted, what is counted.

use super::*;

const UNLIMITED: SchedulerLimits = SchedulerLimits {
    places: None,
    blocks: BlockLimits { total: None, cached: 0 },
    block_tokens: 4,
    prefill_ns: 0,
    answer: |text| 1_000 + text as TokenId,
};

fn scheduler(change: impl FnOnce(&mut SchedulerLimits)) -> RequestScheduler {
    let mut limits = UNLIMITED;
    change(&mut limits);
    RequestScheduler::new(limits)
}

/// A request with so many tokens and texts: the first after 100 ns, the others 10 ns later each.
fn job(prompt: std::ops::Range<TokenId>, texts: u64) -> Job {
    let offsets_ns = (0..texts).map(|text| 100 + 10 * text).collect();
    Job { prompt: prompt.collect(), offsets_ns, generates: true, is_cut: false }
}

fn at(scheduler: &mut RequestScheduler, number: u64, now_ns: u64) -> View {
    scheduler.advance(now_ns);
    scheduler.view(number).unwrap()
}

fn load(scheduler: &RequestScheduler) -> (usize, usize) {
    let Snapshot { running, waiting, .. } = scheduler.snapshot();
    (running, waiting)
}

#[test]
fn texts_are_due_at_absolute_times() {
    let mut one = scheduler(|_| ());
    one.arrive(0, job(0..2, 3), 1_000);
    let view = at(&mut one, 0, 1_000);
    assert_eq!((view.start_ns, view.certain), (Some(1_000), 3));
    assert_eq!(*view.at_ns, [1_100, 1_110, 1_120]);
    assert_eq!(load(&one), (1, 0));
    one.advance(1_119);
    assert_eq!((load(&one), one.snapshot().totals.generation_tokens), ((1, 0), 2));
    one.leave(0, 1_120, FinishReason::Stop);
    let Snapshot { running, totals, .. } = one.snapshot();
    assert_eq!((running, totals.generation_tokens, totals.ends), (0, 3, [1, 0, 0, 0]));
}

#[test]
fn an_answer_without_texts_ends_when_it_starts() {
    let mut one = scheduler(|_| ());
    one.arrive(0, job(0..4, 0), 5);
    assert_eq!(at(&mut one, 0, 5).start_ns, Some(5));
    assert_eq!((load(&one), one.snapshot().totals.ends), ((0, 0), [1, 0, 0, 0]));
    assert_eq!(one.snapshot().totals.ttft.counts.iter().sum::<u64>(), 0);
}

#[test]
fn a_request_without_a_place_waits_for_the_planned_end_of_another() {
    let mut one = scheduler(|limits| limits.places = Some(1));
    one.arrive(0, job(0..1, 4), 0);
    one.arrive(1, job(0..1, 1), 50);
    one.arrive(2, job(0..1, 1), 60);
    assert_eq!(load(&one), (1, 2));
    let (second, third) = (at(&mut one, 1, 60), at(&mut one, 2, 60));
    // The first in the queue looks again at the next event, the others when they have news.
    assert_eq!((second.start_ns, second.wake_ns, third.wake_ns), (None, Some(100), None));
    assert_eq!(at(&mut one, 1, 100).wake_ns, Some(130));
    one.take_news();
    // Also if nobody looks in time.
    let late = at(&mut one, 1, 1_000);
    assert_eq!((late.start_ns, late.at_ns[0]), (Some(130), 230));
    assert_eq!(at(&mut one, 2, 1_000).start_ns, Some(230));
    assert_eq!(one.take_news(), [1, 2, 2]);
    let queue = one.snapshot().totals.queue;
    assert_eq!((queue.counts[0], queue.sum_ns), (3, 80 + 170));
}

#[test]
fn who_leaves_frees_its_place_at_once() {
    let mut one = scheduler(|limits| limits.places = Some(1));
    for number in 0..3 {
        one.arrive(number, job(0..1, 100), number);
    }
    one.leave(1, 10, FinishReason::Abort);
    assert_eq!(load(&one), (1, 1));
    one.leave(0, 120, FinishReason::Abort);
    let last = at(&mut one, 2, 120);
    assert_eq!((load(&one), last.start_ns), ((1, 0), Some(120)));
    let totals = one.snapshot().totals;
    assert_eq!((totals.ends, totals.generation_tokens), ([0, 0, 2, 0], 3));
    assert!(one.view(0).is_none());
}

#[test]
fn a_cached_beginning_shortens_the_time_to_the_first_text() {
    let mut one = scheduler(|limits| {
        limits.blocks.cached = 100;
        limits.prefill_ns = 1_000;
    });
    // Ten tokens are two blocks of four, and two tokens.
    one.arrive(0, job(0..10, 1), 0);
    one.arrive(1, job(0..10, 1), 0);
    one.arrive(2, job(0..20, 1), 0);
    one.arrive(3, job(1..10, 1), 0);
    let seen = |one: &mut RequestScheduler, number| {
        let view = one.view(number).unwrap();
        (view.cached_tokens, view.at_ns[0])
    };
    assert_eq!(seen(&mut one, 0), (0, 10_100));
    assert_eq!(seen(&mut one, 1), (8, 2_100));
    assert_eq!(seen(&mut one, 2), (8, 12_100));
    assert_eq!(seen(&mut one, 3), (0, 9_100));
    let totals = one.snapshot().totals;
    assert_eq!((totals.cache_queries, totals.cache_hits, totals.prompt_tokens), (49, 16, 49));
    // At least one token is computed.
    one.arrive(4, job(0..8, 1), 0);
    assert_eq!(seen(&mut one, 4), (4, 4_100));
}

#[test]
fn the_answer_is_in_the_cache_of_the_next_turn() {
    let mut one = scheduler(|limits| limits.blocks.cached = 100);
    one.arrive(0, job(0..3, 6), 0);
    one.leave(0, 1_000, FinishReason::Stop);
    let next = (0..3).chain(1_000..1_006).chain(7..9).collect();
    one.arrive(1, Job { prompt: next, ..job(0..0, 1) }, 1_000);
    assert_eq!(one.view(1).unwrap().cached_tokens, 8);
}

#[test]
fn a_request_waits_until_its_blocks_are_free() {
    let mut one = scheduler(|limits| limits.blocks.total = Some(5));
    // Seven tokens and the next one are two blocks.
    one.arrive(0, job(0..7, 1), 0);
    one.arrive(1, job(0..8, 1), 0);
    one.arrive(2, job(0..3, 1), 0);
    assert_eq!((load(&one), one.snapshot().kv_usage), ((2, 1), 1.0));
    assert_eq!(one.most_tokens(), Some(20));
    // Nothing overtakes the first of the queue.
    let last = at(&mut one, 2, 99);
    assert_eq!((last.start_ns, last.wake_ns), (None, Some(100)));
    assert_eq!(at(&mut one, 2, 100).start_ns, Some(100));
}

#[test]
fn the_youngest_request_is_preempted_and_computed_again() {
    let mut one = scheduler(|limits| {
        limits.blocks.total = Some(4);
        limits.prefill_ns = 1;
    });
    // Each begins with two blocks: six tokens, the next one, and room for one more.
    one.arrive(0, job(0..6, 8), 0);
    one.arrive(1, job(0..6, 8), 5);
    // With the second text of the first request (at 116), its ninth token needs a third block.
    let victim = at(&mut one, 1, 115);
    assert_eq!((victim.certain, victim.wake_ns), (1, Some(121)));
    let victim = at(&mut one, 1, 116);
    assert_eq!((victim.certain, victim.pauses_ns.as_slice()), (1, [116].as_slice()));
    assert_eq!((load(&one), one.snapshot().totals.preemptions), ((1, 1), 1));
    // The first one ends at 176; then the second computes 7 tokens again, and has its second text.
    let first = at(&mut one, 0, 176);
    assert_eq!((first.certain, first.at_ns[7]), (8, 176));
    let again = at(&mut one, 1, 1_000);
    assert_eq!((again.start_ns, again.certain), (Some(5), 8));
    assert_eq!(again.at_ns[..3], [111, 176 + 107, 176 + 117]);
    let totals = one.snapshot().totals;
    assert_eq!((totals.generation_tokens, totals.prompt_tokens, totals.preemptions), (16, 12, 1));
    assert_eq!((totals.ttft.sum_ns, totals.ttft.counts.iter().sum::<u64>()), (106 + 106, 2));
    assert_eq!(one.snapshot().kv_usage, 0.0);
}

#[test]
fn a_text_that_was_certain_stays_so() {
    let mut one = scheduler(|limits| limits.blocks.total = Some(4));
    one.arrive(5, job(0..6, 8), 0);
    assert_eq!(at(&mut one, 5, 110).certain, 2);
    // An older request, which another thread took later, takes the last block at the same time.
    let at_once = Job { offsets_ns: vec![0; 5], ..job(0..2, 0) };
    one.arrive(3, at_once, 110);
    let view = at(&mut one, 5, 110);
    assert_eq!((view.certain, view.pauses_ns.as_slice()), (2, [110].as_slice()));
    assert_eq!(at(&mut one, 5, 10_000).at_ns[..3], [100, 110, 210]);
}

#[test]
fn who_leaves_while_it_is_paused_gives_back_nothing_twice() {
    let mut one = scheduler(|limits| limits.blocks.total = Some(4));
    one.arrive(0, job(0..6, 8), 0);
    one.arrive(1, job(0..6, 8), 5);
    one.advance(120);
    assert_eq!(load(&one), (1, 1));
    one.leave(1, 130, FinishReason::Abort);
    assert_eq!(load(&one), (1, 0));
    one.leave(0, 1_000, FinishReason::Stop);
    let Snapshot { kv_usage, totals, .. } = one.snapshot();
    assert_eq!((kv_usage, totals.ends, totals.generation_tokens), (0.0, [1, 0, 1, 0], 8 + 1));
}

/// Whatever requests do, each one ends, and everything that was taken is given back.
#[test]
fn every_request_ends_under_every_limit() {
    use crate::random::bits;
    for (places, total, cached) in [
        (Some(3), Some(12), 12),
        (None, Some(10), 4),
        (None, Some(10), 0),
        (Some(2), None, 20),
        (None, None, 0),
    ] {
        let mut one = scheduler(|limits| {
            limits.places = places;
            limits.blocks = BlockLimits { total, cached };
        });
        let (mut now_ns, mut left) = (0, 0);
        for number in 0..500 {
            let draw = |series, most| bits(5, series, number) % most;
            now_ns += draw(0, 60);
            let begin = draw(1, 3) as TokenId;
            one.arrive(number, job(begin..begin + draw(2, 20) as TokenId, draw(3, 20)), now_ns);
            if draw(4, 5) == 0 {
                left += 1;
                one.leave(draw(5, number + 1), now_ns + draw(6, 9), FinishReason::Abort);
            }
            let Snapshot { running, kv_usage, .. } = one.snapshot();
            assert!(places.is_none_or(|places| running <= places) && kv_usage <= 1.0);
        }
        one.advance(10_000_000);
        let Snapshot { running, waiting, kv_usage, totals } = one.snapshot();
        assert_eq!((running, waiting, kv_usage), (0, 0, 0.0));
        assert_eq!(totals.ends.iter().sum::<u64>(), 500);
        assert!(totals.ends[FinishReason::Abort as usize] <= left);
        assert_eq!(totals.preemptions > 0, total.is_some(), "{places:?} {total:?} {cached}");
        let one_by_one: usize =
            (0..500).filter_map(|number| one.view(number)).map(|v| v.pauses_ns.len()).sum();
        assert!(one_by_one as u64 <= totals.preemptions);
    }
}
