//! Resolves names once, before the run; all addresses are used.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};

/// Resolves `host`; returns all distinct addresses in the order of the resolver, at least one.
pub fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in (bare, port).to_socket_addrs()? {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address")));
    }
    Ok(addresses)
}

/// Returns whether an address belongs to this machine, so that a socket can be bound to it.
#[must_use]
pub fn is_own(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_literal_addresses_of_both_families() {
        assert_eq!(resolve("127.0.0.1", 80).unwrap(), ["127.0.0.1:80".parse().unwrap()]);
        assert_eq!(resolve("[::1]", 80).unwrap(), ["[::1]:80".parse().unwrap()]);
    }

    #[test]
    fn knows_this_machine_by_its_addresses() {
        assert!(is_own("127.0.0.1".parse().unwrap()));
        assert!(!is_own("192.0.2.1".parse().unwrap()));
    }
}
