//! The blocks of the KV cache: how many are in use, and which of them later prompts can use again.
//!
//! A request holds blocks for its tokens. A full block can be cached: its key stands for its tokens and all
//! tokens before them, so that requests with the same beginning share it. When no request uses a cached
//! block, it is idle; the idle block that was used least recently makes room for another one.

use std::collections::{BTreeMap, HashMap};

use super::tokenizer::TokenId;
use crate::random;

/// A block and everything before it.
pub(crate) type BlockKey = u64;

/// How many blocks there are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BlockLimits {
    /// The blocks that are in use or idle. None: no limit.
    pub(crate) total: Option<u64>,
    /// The blocks that are cached, in use or idle. 0: none.
    pub(crate) cached: u64,
}

/// The blocks of a target.
#[derive(Debug)]
pub(crate) struct KvBlocks {
    limits: BlockLimits,
    cached: HashMap<BlockKey, CachedKvBlock>,
    /// Cached blocks without users; the one that became idle first is first.
    idle: BTreeMap<u64, BlockKey>,
    idle_count: u64,
    used: u64,
}

#[derive(Debug)]
struct CachedKvBlock {
    users: u64,
    /// Its key in `idle`, if it has no users.
    idle_number: u64,
}

/// The blocks of one request.
#[derive(Debug, Default)]
pub(crate) struct HeldBlocks {
    /// Its cached blocks, in the order of its tokens.
    cached: Vec<BlockKey>,
    /// The number of its blocks that only it uses.
    private: u64,
}

impl HeldBlocks {
    pub(crate) fn count(&self) -> u64 {
        self.cached.len() as u64 + self.private
    }
}

/// Returns the key of the block with these tokens after the block `before`.
pub(crate) fn key_after(
    before: Option<BlockKey>,
    tokens: impl Iterator<Item = TokenId>,
) -> BlockKey {
    let begin = before.unwrap_or_default();
    tokens.fold(begin, |key, token| random::bits(key, 0, u64::from(token)))
}

impl KvBlocks {
    pub(crate) fn new(limits: BlockLimits) -> Self {
        let (cached, idle) = (HashMap::new(), BTreeMap::new());
        KvBlocks { limits, cached, idle, idle_count: 0, used: 0 }
    }

    /// Returns the share of blocks in use; 0 without a limit.
    pub(crate) fn usage(&self) -> f64 {
        self.limits.total.map_or(0.0, |total| self.used as f64 / total as f64)
    }

    /// Returns how many of the first blocks are cached.
    pub(crate) fn hits(&self, keys: &[BlockKey]) -> u64 {
        keys.iter().take_while(|key| self.cached.contains_key(*key)).count() as u64
    }

    /// Returns so many blocks, of which the first ones have these keys; None if they are not free.
    pub(crate) fn take(&mut self, keys: &[BlockKey], count: u64) -> Option<HeldBlocks> {
        let shared = keys.iter().filter(|key| self.is_used(key)).count() as u64;
        if self.limits.total.is_some_and(|total| count - shared > total - self.used) {
            return None;
        }
        // Before any other block makes room, so that none of these is removed.
        let known: Vec<bool> = keys.iter().map(|key| self.use_again(*key)).collect();
        let mut held = HeldBlocks { cached: Vec::with_capacity(keys.len()), private: 0 };
        for (key, is_known) in keys.iter().zip(known) {
            if is_known || self.add(*key) {
                held.cached.push(*key);
            } else {
                self.add_private(&mut held);
            }
        }
        while held.count() < count {
            self.add_private(&mut held);
        }
        Some(held)
    }

    /// Adds a block to those of a request; returns false if none is free.
    pub(crate) fn grow(&mut self, held: &mut HeldBlocks) -> bool {
        let is_free = self.limits.total.is_none_or(|total| self.used < total);
        if is_free {
            self.add_private(held);
        }
        is_free
    }

    /// Caches a block of a request that has become full. Of equal blocks only one is kept.
    pub(crate) fn fill(&mut self, held: &mut HeldBlocks, key: BlockKey) {
        self.used -= 1;
        held.private -= 1;
        if self.use_again(key) || self.add(key) {
            held.cached.push(key);
        } else {
            self.add_private(held);
        }
    }

    /// Takes the blocks of a request back. The end of a text is less likely to be used again than its
    /// beginning, so its last block makes room first.
    pub(crate) fn give_back(&mut self, held: HeldBlocks) {
        self.used -= held.private;
        for key in held.cached.into_iter().rev() {
            let Some(block) = self.cached.get_mut(&key) else { continue };
            block.users -= 1;
            if block.users == 0 {
                block.idle_number = self.idle_count;
                self.idle.insert(self.idle_count, key);
                self.idle_count += 1;
                self.used -= 1;
            }
        }
    }

    fn is_used(&self, key: &BlockKey) -> bool {
        self.cached.get(key).is_some_and(|block| block.users > 0)
    }

    /// Adds a user to a cached block; returns false if it is not cached.
    fn use_again(&mut self, key: BlockKey) -> bool {
        let Some(block) = self.cached.get_mut(&key) else { return false };
        if block.users == 0 {
            self.idle.remove(&block.idle_number);
            self.used += 1;
        }
        block.users += 1;
        true
    }

    /// Caches a block with one user; returns false if the cache has no room for it.
    fn add(&mut self, key: BlockKey) -> bool {
        let is_full = self.cached.len() as u64 >= self.limits.cached;
        if is_full && !(self.limits.cached > 0 && self.forget()) {
            return false;
        }
        self.make_room();
        self.cached.insert(key, CachedKvBlock { users: 1, idle_number: 0 });
        self.used += 1;
        true
    }

    fn add_private(&mut self, held: &mut HeldBlocks) {
        self.make_room();
        held.private += 1;
        self.used += 1;
    }

    /// Removes an idle block if every block is in use or idle.
    fn make_room(&mut self) {
        if self.limits.total.is_some_and(|total| self.used + self.idle.len() as u64 >= total) {
            self.forget();
        }
    }

    /// Removes the block that is idle for the longest time; returns false if there is none.
    fn forget(&mut self) -> bool {
        let first = self.idle.pop_first();
        first.and_then(|(_, key)| self.cached.remove(&key)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(total: Option<u64>, cached: u64) -> KvBlocks {
        KvBlocks::new(BlockLimits { total, cached })
    }

    #[test]
    fn keys_stand_for_a_block_and_everything_before_it() {
        let key = |before, tokens: &[TokenId]| key_after(before, tokens.iter().copied());
        let (one, other) = (key(None, &[1, 2]), key(None, &[2, 1]));
        assert_ne!(one, other);
        assert_eq!(key(Some(one), &[3]), key(Some(one), &[3]));
        assert_ne!(key(Some(one), &[3]), key(Some(other), &[3]));
    }

    #[test]
    fn without_a_cache_nothing_is_found_again() {
        let mut blocks = blocks(Some(4), 0);
        let held = blocks.take(&[1, 2], 3).unwrap();
        assert_eq!((held.count(), blocks.hits(&[1, 2])), (3, 0));
        assert!(blocks.take(&[1], 2).is_none());
        blocks.give_back(held);
        assert_eq!((blocks.hits(&[1]), blocks.usage()), (0, 0.0));
    }

    #[test]
    fn requests_with_the_same_beginning_share_its_blocks() {
        let mut blocks = blocks(Some(5), 5);
        let first = blocks.take(&[1, 2], 3).unwrap();
        assert_eq!(blocks.hits(&[1, 2, 3]), 2);
        // It shares two blocks and needs two of its own.
        let second = blocks.take(&[1, 2, 3], 4).unwrap();
        assert_eq!((second.count(), blocks.usage()), (4, 1.0));
        assert!(blocks.take(&[], 1).is_none());
        blocks.give_back(first);
        assert_eq!(blocks.usage(), 0.8);
        blocks.give_back(second);
        assert_eq!((blocks.usage(), blocks.hits(&[1, 2, 3])), (0.0, 3));
    }

    #[test]
    fn the_least_recently_used_block_makes_room_and_the_end_before_the_beginning() {
        let mut blocks = blocks(Some(4), 4);
        let first = blocks.take(&[1, 2], 2).unwrap();
        let second = blocks.take(&[7, 8], 2).unwrap();
        blocks.give_back(first);
        blocks.give_back(second);
        let one = blocks.take(&[5], 1).unwrap();
        assert_eq!((blocks.hits(&[1, 2]), blocks.hits(&[7, 8])), (1, 2));
        // A block in use is not removed, also if it was idle before.
        let again = blocks.take(&[1], 1).unwrap();
        let more = blocks.take(&[], 2).unwrap();
        assert_eq!((blocks.hits(&[1]), blocks.hits(&[5]), blocks.hits(&[7])), (1, 1, 0));
        for held in [one, again, more] {
            blocks.give_back(held);
        }
        assert_eq!(blocks.usage(), 0.0);
    }

    #[test]
    fn the_cache_has_a_limit_of_its_own() {
        let mut blocks = blocks(None, 2);
        let held = blocks.take(&[1, 2, 3], 3).unwrap();
        assert_eq!((held.count(), blocks.hits(&[1, 2, 3])), (3, 2));
        blocks.give_back(held);
        let next = blocks.take(&[9], 1).unwrap();
        assert_eq!((blocks.hits(&[1, 2]), blocks.hits(&[9])), (1, 1));
        blocks.give_back(next);
    }

    #[test]
    fn a_block_that_becomes_full_is_cached_once() {
        let mut blocks = blocks(Some(3), 3);
        let (mut first, mut second) = (blocks.take(&[], 1).unwrap(), blocks.take(&[], 1).unwrap());
        blocks.fill(&mut first, 4);
        assert!(blocks.grow(&mut first) && !blocks.grow(&mut second));
        blocks.fill(&mut second, 4);
        // Both use the one block; a second one is free again.
        assert!(blocks.grow(&mut second));
        assert_eq!((first.count(), second.count(), blocks.usage()), (2, 2, 1.0));
        blocks.give_back(first);
        blocks.give_back(second);
        assert_eq!((blocks.usage(), blocks.hits(&[4])), (0.0, 1));
    }

    /// Checks the invariants after each of many random steps.
    #[test]
    fn blocks_balance_whatever_requests_do() {
        for (total, cached) in [(Some(20), 20), (Some(20), 5), (Some(20), 0), (None, 7)] {
            let mut blocks = blocks(total, cached);
            let mut all: Vec<HeldBlocks> = Vec::new();
            for step in 0..3_000 {
                let draw = |series, most| random::bits(3, series, step) % most;
                match draw(0, 4) {
                    0 | 1 => {
                        let keys: Vec<u64> =
                            (0..draw(1, 6)).map(|at| draw(2, 4) * 10 + at).collect();
                        let count = keys.len() as u64 + draw(3, 3);
                        all.extend(blocks.take(&keys, count));
                    }
                    2 if !all.is_empty() => {
                        let at = draw(1, all.len() as u64) as usize;
                        blocks.give_back(all.swap_remove(at));
                    }
                    _ => {
                        if let Some(held) = all.last_mut()
                            && blocks.grow(held)
                            && draw(1, 2) == 0
                        {
                            blocks.fill(held, 100 + draw(2, 9));
                        }
                    }
                }
                let private: u64 = all.iter().map(|held| held.private).sum();
                let users = blocks.cached.values().filter(|block| block.users > 0).count() as u64;
                assert_eq!(blocks.used, private + users);
                assert_eq!(blocks.idle.len() as u64 + users, blocks.cached.len() as u64);
                assert!(blocks.cached.len() as u64 <= cached);
                assert!(total.is_none_or(|total| blocks.used + blocks.idle.len() as u64 <= total));
            }
            for held in all.drain(..) {
                blocks.give_back(held);
            }
            assert_eq!(blocks.used, 0);
        }
    }
}
