//! Sockets that were opened outside of this program's Rust.

use std::io;
use std::net::TcpStream;
use std::os::fd::{BorrowedFd, RawFd};

/// Returns a second handle of a connected TCP socket, which its owner may close at any time after.
pub fn tcp_stream_of(descriptor: RawFd) -> io::Result<TcpStream> {
    if descriptor < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    #[allow(unsafe_code)]
    // SAFETY: it is only duplicated, which fails if no file is open under that number.
    let duplicate = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned()?;
    let stream = TcpStream::from(duplicate);
    // It is an error if the file is not a connected TCP socket.
    stream.peer_addr()?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_second_handle_lives_on_when_the_first_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let first = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        let mut second = tcp_stream_of(first.as_raw_fd()).unwrap();
        drop(first);
        second.write_all(b"x").unwrap();
        let mut byte = [0];
        peer.read_exact(&mut byte).unwrap();
        assert_eq!(byte, *b"x");
    }

    #[test]
    fn a_number_without_a_tcp_connection_is_refused() {
        let (unix, _peer) = UnixStream::pair().unwrap();
        let file = std::fs::File::open("/dev/null").unwrap();
        for descriptor in [-1, unix.as_raw_fd(), file.as_raw_fd()] {
            assert!(tcp_stream_of(descriptor).is_err(), "{descriptor}");
        }
    }
}
