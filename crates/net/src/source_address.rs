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
#[derive(Debug, Clone, Default)]
pub struct SourceAddresses {
    /// Those that the user chose, in turn; the rotation is for when there are none.
    chosen: Arc<[IpAddr]>,
    /// Dials so far, or about to be made, by everybody who shares the count.
    dialled: Arc<AtomicU32>,
    next: u32,
    left: u32,
}

impl SourceAddresses {
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
        let turn = self.next / PER_ADDRESS % ADDRESSES;
        self.next = self.next.wrapping_add(1);
        self.left -= 1;
        // 127.0.0.1 stays the kernel's own choice: nothing to bind in the common case.
        (turn > 0).then(|| {
            let last = u8::try_from(1 + turn).unwrap_or(1);
            IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
        })
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
    fn leaves_other_destinations_to_the_kernel() {
        let mut sources = SourceAddresses::default();
        sources.skip();
        assert_eq!(sources.next(&to("[::1]:80")), None);
        assert_eq!(sources.next(&to("192.0.2.1:80")), None);
    }
}
