//! Which processes of this machine listen on a port: the target's, when it is local.

use crate::Address;
use std::fs::{read_dir, read_link, read_to_string};

/// State number of a listening socket in `/proc/net/tcp` (tcp_states.h).
const LISTEN: &str = "0A";

/// Returns the processes that listen at one of the addresses, as far as this user may inspect them.
#[must_use]
pub fn listening_processes(addresses: &[Address]) -> Vec<u32> {
    let own = addresses.iter().filter(|address| address.is_own());
    let ports: Vec<u16> = own.filter_map(|address| address.ip()).map(|ip| ip.port()).collect();
    if ports.is_empty() {
        return Vec::new();
    }
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| read_to_string(path).unwrap_or_default());
    let inodes: Vec<String> = tables
        .iter()
        .flat_map(|table| listening_inodes(table, &ports))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    processes().into_iter().filter(|process| holds(*process, &inodes)).collect()
}

fn listening_inodes<'a>(table: &'a str, ports: &'a [u16]) -> impl Iterator<Item = &'a str> {
    table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (local, state) = (fields.nth(1)?, fields.nth(1)?);
        let port = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
        (state == LISTEN && ports.contains(&port)).then(|| fields.nth(5)).flatten()
    })
}

fn processes() -> Vec<u32> {
    let Ok(entries) = read_dir("/proc") else {
        return Vec::new();
    };
    entries.flatten().filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).collect()
}

fn holds(process: u32, inodes: &[String]) -> bool {
    let Ok(descriptors) = read_dir(format!("/proc/{process}/fd")) else {
        return false;
    };
    descriptors.flatten().any(|entry| {
        read_link(entry.path())
            .is_ok_and(|link| inodes.iter().any(|inode| link.as_os_str() == inode.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_process_behind_a_local_port() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let listener = std::net::TcpListener::bind(host).unwrap();
            let address = listener.local_addr().unwrap();
            let found = listening_processes(&[address.into()]);
            assert!(found.contains(&std::process::id()), "{found:?}");
            assert!(!found.contains(&std::os::unix::process::parent_id()), "{found:?}");
        }
    }

    #[test]
    fn does_not_look_for_remote_targets() {
        // This process listens on the port, but not at that address.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let remote = std::net::SocketAddr::new("192.0.2.1".parse().unwrap(), port);
        assert_eq!(listening_processes(&[Address::Ip(remote)]), [0_u32; 0]);
    }
}
