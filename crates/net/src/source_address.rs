//! Which local address a connection leaves from, so that one port range is not the limit.
//!
//! The kernel gives about 28,000 ports to each pair of source and destination, and a closed
//! connection holds its port for a minute. On loopback the whole of 127.0.0.0/8 is ours, so
//! connections move on to the next address before ports run out. Elsewhere the kernel chooses, and
//! running out of ports is reported as what it is.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Address;

/// Connections from one address before the next is used. The kernel looks for a port among every
/// other one of its range first: beyond half of the range, each dial walks through all of those
/// that are taken.
const PER_ADDRESS: u32 = 12_000;

/// Dials that a worker takes out of the common count at once.
const BLOCK: u32 = 250;

/// The addresses 127.0.0.1 … 127.0.0.250.
const ADDRESSES: u32 = 250;

/// A rotation of source addresses; clones share the count, and each is used by one worker.
#[derive(Debug, Clone)]
pub struct SourceAddresses {
    /// Those that the user chose, in turn; the rotation is for when there are none.
    chosen: Arc<[IpAddr]>,
    /// Dials so far, or about to be made, by everybody who shares the count.
    dialled: Arc<AtomicU32>,
    next: u32,
    left: u32,
    /// The turn at which this rotation begins.
    after: u32,
    /// Which turns are its own: `part`, `part + of`, …
    part: u32,
    of: u32,
}

impl Default for SourceAddresses {
    fn default() -> Self {
        Self::part(0, 0, 1)
    }
}

impl SourceAddresses {
    /// The rotation of process `part` of `of`: none of them walks an address of another, and all
    /// begin after so many turns of earlier loads.
    #[must_use]
    pub fn part(after: u32, part: u32, of: u32) -> Self {
        let (chosen, dialled) = (Arc::default(), Arc::default());
        Self { chosen, dialled, next: 0, left: 0, after, part, of: of.clamp(1, ADDRESSES) }
    }

    /// These addresses in turn, whatever is dialled.
    #[must_use]
    pub fn chosen(addresses: &[IpAddr]) -> Self {
        Self { chosen: addresses.into(), ..Self::default() }
    }

    /// The address to dial `to` from; `None` leaves the choice to the kernel.
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
        // 127.0.0.1 stays the kernel's own choice: nothing to bind in the common case.
        (turn > 0).then(|| {
            let last = u8::try_from(1 + turn).unwrap_or(1);
            IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
        })
    }

    /// Turns that were begun, by everybody who shares the count.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.dialled.load(Ordering::Relaxed).div_ceil(PER_ADDRESS)
    }

    /// Goes on after so many turns at the earliest: others have used those before.
    pub fn go_on_after(&self, turns: u32) {
        self.dialled.fetch_max(turns.saturating_mul(PER_ADDRESS), Ordering::Relaxed);
    }

    /// Where the n-th address of this part lies in the circle of all.
    fn turn(&self, number: u32) -> u32 {
        // A whole number of rounds, so that the parts stay apart when they come around.
        let circle = ADDRESSES / self.of * self.of;
        let own =
            (u64::from(self.part) + u64::from(self.of) * u64::from(number)) % u64::from(circle);
        // Smaller than the circle.
        (self.after % ADDRESSES + own as u32) % ADDRESSES
    }

    /// Moves on at once, after the kernel had no port left for the current address.
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
    fn those_who_share_a_count_go_on_where_the_others_are() {
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
        // Who comes to the same end later moves on to the same place.
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
