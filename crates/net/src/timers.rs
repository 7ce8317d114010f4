//! Deadlines in a heap, at most one for each slot: setting a slot again moves its deadline.

/// Nanoseconds on the monotonic clock (of the machine, or of the simulation).
pub type Nanos = u64;

/// The place of a slot without a deadline.
const NOWHERE: u32 = u32::MAX;

/// Deadlines of numbered slots; equal deadlines are in the order of their slots.
#[derive(Debug, Default)]
pub struct Timers {
    /// A binary heap, the earliest first.
    heap: Vec<(Nanos, u32)>,
    /// By slot, its place in the heap.
    places: Vec<u32>,
}

impl Timers {
    /// Sets or changes the deadline of a slot.
    pub fn set(&mut self, slot: u32, at: Nanos) {
        if self.places.len() <= slot as usize {
            self.places.resize(slot as usize + 1, NOWHERE);
        }
        match self.places[slot as usize] {
            NOWHERE => {
                self.heap.push((at, slot));
                self.rise(self.heap.len() - 1, (at, slot));
            }
            place => {
                let place = place as usize;
                if (at, slot) < self.heap[place] {
                    self.rise(place, (at, slot));
                } else {
                    self.sink(place, (at, slot));
                }
            }
        }
    }

    /// Sets the deadline of a slot, unless it has an earlier one.
    pub fn set_at_latest(&mut self, slot: u32, at: Nanos) {
        if self.at(slot).is_none_or(|known| known > at) {
            self.set(slot, at);
        }
    }

    /// Returns the deadline of a slot, if it has one.
    #[must_use]
    pub fn at(&self, slot: u32) -> Option<Nanos> {
        let place = *self.places.get(slot as usize)?;
        self.heap.get(place as usize).map(|(at, _)| *at)
    }

    /// Returns the number of slots with a deadline.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns whether no slot has a deadline.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Returns the earliest deadline.
    #[must_use]
    pub fn next_at(&self) -> Option<Nanos> {
        self.heap.first().map(|(at, _)| *at)
    }

    /// Takes a slot whose deadline has passed, with that deadline.
    pub fn pop_due(&mut self, now: Nanos) -> Option<(Nanos, u32)> {
        let (at, slot) = *self.heap.first().filter(|(at, _)| *at <= now)?;
        self.places[slot as usize] = NOWHERE;
        if let Some(last) = self.heap.pop().filter(|_| !self.heap.is_empty()) {
            self.sink(0, last);
        }
        Some((at, slot))
    }

    /// Puts an entry at this place or nearer to the front.
    fn rise(&mut self, mut place: usize, entry: (Nanos, u32)) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Puts an entry at this place or farther from the front.
    fn sink(&mut self, mut place: usize, entry: (Nanos, u32)) {
        loop {
            let left = 2 * place + 1;
            let children = self.heap.get(left..).unwrap_or_default().iter().take(2);
            let Some((child, first)) = (left..).zip(children).min_by_key(|(_, entry)| **entry)
            else {
                break;
            };
            if entry <= *first {
                break;
            }
            self.put(place, *first);
            place = child;
        }
        self.put(place, entry);
    }

    /// The heap has fewer entries than there are slots, and those have 32 bits.
    #[allow(clippy::cast_possible_truncation)]
    fn put(&mut self, place: usize, entry: (Nanos, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn deadlines_come_in_order_and_never_early() {
        let mut timers = Timers::default();
        for (slot, at) in [(3, 30), (1, 10), (2, 20), (0, 20)] {
            timers.set(slot, at);
        }
        assert_eq!(timers.pop_due(9), None);
        assert_eq!(timers.next_at(), Some(10));
        let due = [20; 4].map(|now| timers.pop_due(now));
        assert_eq!(due, [Some((10, 1)), Some((20, 0)), Some((20, 2)), None]);
        assert_eq!((timers.at(1), timers.at(3), timers.at(99)), (None, Some(30), None));
    }

    #[test]
    fn a_slot_that_is_set_again_has_one_deadline() {
        let mut timers = Timers::default();
        for round in 0..1000 {
            timers.set(7, 30_000_000_000 + round);
            timers.set(7, 10 + round);
        }
        assert_eq!((timers.heap.len(), timers.places.len()), (1, 8));
        assert_eq!((timers.pop_due(u64::MAX), timers.pop_due(u64::MAX)), (Some((1009, 7)), None));
    }

    #[test]
    fn any_order_of_calls_gives_what_a_sorted_map_gives() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 33) % below
        };
        let (mut timers, mut expected) = (Timers::default(), BTreeMap::new());
        for _ in 0..100_000 {
            if random(3) > 0 {
                let (slot, at) = (u32::try_from(random(50)).unwrap(), random(1000));
                timers.set(slot, at);
                expected.insert(slot, at);
            } else {
                let now = random(1000);
                let first = expected.iter().map(|(slot, at)| (*at, *slot)).min();
                let due = first.filter(|(at, _)| *at <= now);
                due.map(|(_, slot)| expected.remove(&slot));
                assert_eq!(timers.pop_due(now), due);
            }
            assert_eq!(timers.next_at(), expected.values().min().copied());
            let slot = u32::try_from(random(60)).unwrap();
            assert_eq!(timers.at(slot), expected.get(&slot).copied());
        }
    }
}
