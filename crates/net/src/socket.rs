//! Creates sockets: non-blocking, without Nagle's algorithm, with a started connect.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, socket_with, sockopt,
};

use crate::Address;

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// A socket whose connect has been started.
pub(crate) fn connecting(to: &Address, from: Option<IpAddr>) -> io::Result<OwnedFd> {
    match to {
        Address::Ip(address) => connecting_ip(*address, from),
        Address::Unix(path) => connecting_unix(path),
    }
}

fn connecting_unix(path: &Path) -> io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None)?;
    // With a Unix socket, a full accept queue is reported at once, as EAGAIN.
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

fn connecting_ip(to: SocketAddr, from: Option<IpAddr>) -> io::Result<OwnedFd> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, FLAGS, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    if let Some(address) = from {
        choose_port_at_connect(&socket)?;
        bind(&socket, &SocketAddr::new(address, 0))?;
    }
    match connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(errno) => Err(errno.into()),
    }
}

/// A bound socket would occupy its port for all destinations; with this option ports are shared between
/// destinations, and each source address has the whole range (ip(7)).
#[allow(unsafe_code)]
fn choose_port_at_connect(socket: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open for as long as `socket` is borrowed, and the pointer and the
    // length describe one readable c_int, which is what IP_BIND_ADDRESS_NO_PORT takes.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            std::ptr::from_ref(&on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
