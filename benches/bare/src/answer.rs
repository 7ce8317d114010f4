//! How long the response is: read once, by a blocking socket, before anything is measured.
//!
//! Answers without a content-length are refused: nothing would tell where they end.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(5);
const LONGEST_HEAD: usize = 16 * 1024;

/// Bytes of the whole response, head and body, of which a handshake has none.
pub(crate) fn length(to: SocketAddr, request: &[u8], is_handshake: bool) -> io::Result<usize> {
    let mut stream = TcpStream::connect_timeout(&to, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.write_all(request)?;
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(found) = total(&seen, is_handshake) {
            return found;
        }
        let count = stream.read(&mut buffer)?;
        if count == 0 || seen.len() > LONGEST_HEAD {
            return Err(io::Error::other("the first response has no head that ends"));
        }
        seen.extend_from_slice(&buffer[..count]);
    }
}

/// The length that a head promises; `None` while the head goes on.
fn total(seen: &[u8], is_handshake: bool) -> Option<io::Result<usize>> {
    let end = seen.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&seen[..end]).to_ascii_lowercase();
    let status = if is_handshake { 101 } else { 200 };
    if !head.starts_with(&format!("http/1.1 {status} ")) {
        let status = head.lines().next().unwrap_or_default();
        return Some(Err(io::Error::other(format!("the first response says {status}"))));
    }
    if is_handshake {
        return Some(Ok(end));
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let body = length.and_then(|text| text.trim().parse::<usize>().ok());
    Some(body.map(|body| end + body).ok_or_else(|| {
        io::Error::other("the first response has no content-length, so its end cannot be known")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_head_and_body() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n";
        assert_eq!(total(head, false).unwrap().unwrap(), head.len() + 15);
    }

    #[test]
    fn a_handshake_of_websocket_ends_with_its_head() {
        let head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
        assert_eq!(total(head, true).unwrap().unwrap(), head.len());
        assert!(total(head, false).unwrap().is_err());
    }

    #[test]
    fn waits_for_the_end_of_the_head() {
        assert!(total(b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n", false).is_none());
    }

    #[test]
    fn refuses_what_it_could_not_count() {
        let chunked =
            total(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false).unwrap();
        assert!(chunked.unwrap_err().to_string().contains("no content-length"));
        let missing = total(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", false).unwrap();
        assert!(missing.unwrap_err().to_string().contains("404"));
    }
}
