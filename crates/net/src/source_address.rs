//! Which local address a connection leaves from, so that one port range is not the limit.
//!
//! The kernel gives about 28,000 ports to each pair of source and destination. On loopback the
//! whole of 127.0.0.0/8 is ours, so connections move on to the next address before ports run out.
//! Elsewhere the kernel chooses, and running out of ports is reported as what it is.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Connections from one address before the next is used; below the smallest common port range.
const PER_ADDRESS: u32 = 20_000;

/// A rotation of source addresses.
#[derive(Debug, Clone, Default)]
pub struct SourceAddresses {
    dialled: u32,
}

impl SourceAddresses {
    /// The address to dial `to` from; `None` leaves the choice to the kernel.
    pub fn next(&mut self, to: SocketAddr) -> Option<IpAddr> {
        let IpAddr::V4(address) = to.ip() else {
            return None;
        };
        if !address.is_loopback() {
            return None;
        }
        let turn = self.dialled / PER_ADDRESS;
        self.dialled = self.dialled.wrapping_add(1);
        // 127.0.0.1 stays the kernel's own choice: nothing to bind in the common case.
        (!turn.is_multiple_of(250)).then(|| {
            let last = u8::try_from(1 + turn % 250).unwrap_or(1);
            IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
        })
    }

    /// Moves on at once, after the kernel had no port left for the current address.
    pub fn skip(&mut self) {
        self.dialled = (self.dialled / PER_ADDRESS).wrapping_add(1).wrapping_mul(PER_ADDRESS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotates_on_loopback_before_a_port_range_is_used_up() {
        let (mut sources, to) = (SourceAddresses::default(), "127.0.0.1:80".parse().unwrap());
        let taken: Vec<_> = (0..50_000).map(|_| sources.next(to)).collect();
        assert_eq!(taken[19_999], None);
        assert_eq!(taken[20_000], Some("127.0.0.2".parse().unwrap()));
        assert_eq!(taken[49_999], Some("127.0.0.3".parse().unwrap()));
    }

    #[test]
    fn moves_on_when_the_ports_of_an_address_are_gone() {
        let (mut sources, to) = (SourceAddresses::default(), "127.0.0.1:80".parse().unwrap());
        assert_eq!(sources.next(to), None);
        sources.skip();
        assert_eq!(sources.next(to), Some("127.0.0.2".parse().unwrap()));
    }

    #[test]
    fn leaves_other_destinations_to_the_kernel() {
        let mut sources = SourceAddresses::default();
        sources.skip();
        assert_eq!(sources.next("[::1]:80".parse().unwrap()), None);
        assert_eq!(sources.next("192.0.2.1:80".parse().unwrap()), None);
    }
}
