//! The local addresses of connections, so that one range of ports is not the limit.
//!
//! The kernel gives about 28,000 ports to each pair of source and destination, and a closed
//! connection holds its port for a minute. On loopback the whole of 127.0.0.0/8 is ours, so
//! connections use the next address before ports run out. On other networks the kernel chooses, and a
//! lack of ports is an error of its own.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Address;

/// The number of connections from one address before the next is used. The kernel first searches every
/// second port of its range: beyond half of the range, each dial passes all occupied ones.
const PER_ADDRESS: u32 = 12_000;

/// The number of dials that a worker takes from the common count at once.
const BLOCK: u32 = 250;

/// The addresses 127.0.0.1 … 127.0.0.250.
const ADDRESSES: u32 = 250;

/// A rotation of source addresses; clones share the count, and each is used by one worker.
#[derive(Debug, Clone)]
pub struct SourceAddresses {
    /// The addresses of the user, in turn; without them, the rotation is used.
    chosen: Arc<[IpAddr]>,
    /// The number of dials of all that share the count, including those that were taken in advance.
    dialled: Arc<AtomicU32>,
    next: u32,
    left: u32,
    /// The turn at which this rotation begins.
    after: u32,
    /// Its turns: `part`, `part + of`, …
    part: u32,
    of: u32,
}

impl Default for SourceAddresses {
    fn default() -> Self {
        Self::part(0, 0, 1)
    }
}

impl SourceAddresses {
    /// Creates the rotation of process `part` of `of`: no two processes use the same address, and all
    /// begin after the turns of earlier loads.
    #[must_use]
    pub fn part(after: u32, part: u32, of: u32) -> Self {
        let (chosen, dialled) = (Arc::default(), Arc::default());
        Self { chosen, dialled, next: 0, left: 0, after, part, of: of.clamp(1, ADDRESSES) }
    }

    /// Creates a rotation of these addresses, for all destinations.
    #[must_use]
    pub fn chosen(addresses: &[IpAddr]) -> Self {
        Self { chosen: addresses.into(), ..Self::default() }
    }

    /// Returns the source address for a dial; with `None` the kernel chooses.
    pub fn next(&mut self, to: &Address) -> Option<IpAddr> {
        let to = to.ip()?;
        if !self.chosen.is_empty() {
            self.next = self.next.wrapping_add(1);
            return Some(self.chosen[(self.next - 1) as usize % self.chosen.len()]);
        }
        let IpAddr::V4(address) = to.ip() else {
            return None;
        };
        if !address.is_loopback() {
            return None;
        }
        if self.left == 0 {
            self.next = self.dialled.fetch_add(BLOCK, Ordering::Relaxed);
            self.left = BLOCK;
        }
        let turn = self.turn(self.next / PER_ADDRESS);
        self.next = self.next.wrapping_add(1);
        self.left -= 1;
        // The kernel chooses 127.0.0.1 itself, so that the common case needs no bind.
        (turn > 0).then(|| {
            let last = u8::try_from(1 + turn).unwrap_or(1);
            IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
        })
    }

    /// Returns the number of turns that were begun, by all that share the count.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.dialled.load(Ordering::Relaxed).div_ceil(PER_ADDRESS)
    }

    /// Continues after so many turns at the earliest, because others have used those before.
    pub fn go_on_after(&self, turns: u32) {
        self.dialled.fetch_max(turns.saturating_mul(PER_ADDRESS), Ordering::Relaxed);
    }

    /// Returns the position of the n-th address of this part among all addresses.
    fn turn(&self, number: u32) -> u32 {
        // A whole number of rounds, so that parts have different addresses in each.
        let circle = ADDRESSES / self.of * self.of;
        let own =
            (u64::from(self.part) + u64::from(self.of) * u64::from(number)) % u64::from(circle);
        // Smaller than the number of addresses.
        (self.after % ADDRESSES + own as u32) % ADDRESSES
    }

    /// Uses the next address from now on, because the kernel has no port left for the current one.
    pub fn skip(&mut self) {
        let current = self.next.saturating_sub(1) / PER_ADDRESS;
        let following = current.wrapping_add(1).wrapping_mul(PER_ADDRESS);
        self.dialled.fetch_max(following, Ordering::Relaxed);
        self.left = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(text: &str) -> Address {
        Address::Ip(text.parse().unwrap())
    }

    fn loopback() -> Address {
        to("127.0.0.1:80")
    }

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn rotates_on_loopback_before_half_of_a_port_range_is_used_up() {
        let mut sources = SourceAddresses::default();
        let taken: Vec<_> = (0..30_000).map(|_| sources.next(&loopback())).collect();
        assert_eq!(taken[11_999], None);
        assert_eq!(taken[12_000], address("127.0.0.2"));
        assert_eq!(taken[29_999], address("127.0.0.3"));
    }

    #[test]
    fn comes_back_to_the_first_address_after_the_last() {
        let mut sources = SourceAddresses::default();
        let all = PER_ADDRESS * ADDRESSES;
        let taken: Vec<_> = (0..=all).map(|_| sources.next(&loopback())).collect();
        assert_eq!(taken[all as usize - 1], address("127.0.0.250"));
        assert_eq!(taken[all as usize], None);
    }

    #[test]
    fn copies_that_share_a_count_continue_where_the_others_are() {
        let first = SourceAddresses::default();
        let (mut one, mut two) = (first.clone(), first.clone());
        for _ in 0..PER_ADDRESS / 2 {
            assert_eq!((one.next(&loopback()), two.next(&loopback())), (None, None));
        }
        let mut later = first.clone();
        assert_eq!(later.next(&loopback()), address("127.0.0.2"));
        assert_eq!(one.next(&loopback()), address("127.0.0.2"));
    }

    #[test]
    fn moves_on_when_the_ports_of_an_address_are_gone() {
        let first = SourceAddresses::default();
        let (mut one, mut two) = (first.clone(), first.clone());
        assert_eq!((one.next(&loopback()), two.next(&loopback())), (None, None));
        one.skip();
        assert_eq!(one.next(&loopback()), address("127.0.0.2"));
        // A worker that reaches the same end later continues at the same place.
        two.skip();
        assert_eq!(two.next(&loopback()), address("127.0.0.2"));
    }

    #[test]
    fn those_that_were_chosen_are_used_in_turn_wherever_it_goes() {
        let chosen = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        let mut sources = SourceAddresses::chosen(&chosen);
        let taken: Vec<_> = (0..3).map(|_| sources.next(&loopback())).collect();
        assert_eq!(taken, [address("10.0.0.1"), address("10.0.0.2"), address("10.0.0.1")]);
        assert_eq!(sources.next(&to("192.0.2.1:80")), address("10.0.0.2"));
    }

    #[test]
    fn parts_never_meet_however_unevenly_they_dial() {
        for (after, of) in [(0, 3), (7, 2), (249, 7), (1000, 64)] {
            let mut seen = std::collections::BTreeMap::new();
            for part in 0..of {
                let rotation = SourceAddresses::part(after, part, of);
                for number in 0..2000 {
                    let turn = rotation.turn(number);
                    assert!(turn < ADDRESSES);
                    assert_eq!(*seen.entry(turn).or_insert(part), part, "{after} {of}");
                }
            }
        }
        let mut second = SourceAddresses::part(5, 1, 3);
        assert_eq!(second.next(&loopback()), address("127.0.0.7"));
        second.skip();
        assert_eq!(second.next(&loopback()), address("127.0.0.10"));
        assert_eq!(second.turns(), 2);
    }

    #[test]
    fn goes_on_after_what_others_have_used_and_never_back() {
        let mut sources = SourceAddresses::default();
        assert_eq!(sources.turns(), 0);
        sources.go_on_after(4);
        sources.go_on_after(2);
        assert_eq!((sources.turns(), sources.next(&loopback())), (4, address("127.0.0.5")));
    }

    #[test]
    fn leaves_other_destinations_to_the_kernel() {
        let mut sources = SourceAddresses::default();
        sources.skip();
        assert_eq!(sources.next(&to("[::1]:80")), None);
        assert_eq!(sources.next(&to("192.0.2.1:80")), None);
    }
}
