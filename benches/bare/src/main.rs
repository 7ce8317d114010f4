//! The physical limit of a client: what `send` and `recv` cost on the sockets that torr uses.
//!
//!     bare 127.0.0.1:8080 /small 64 5         as fast as it goes
//!     bare 127.0.0.1:8080 /small 64 5 1000    at a constant rate, without ever sleeping
//!     bare 127.0.0.1:8080 /chat 64 5 hello    the message over WebSocket, which the server sends back
//!
//! One thread, one epoll, edge-triggered, each socket registered once, without Nagle's delay. The
//! request is made once; a response is over when as many bytes came as the first one had. No head is
//! parsed after the first, no clock is read for a request, nothing is recorded. It fires at the
//! loopback address only, and prints what it did and the processor time of it as JSON.

mod answer;
mod grid;
mod lanes;
mod message;

use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use crate::lanes::{Lanes, Spent};

/// Before the clock runs: every connection is open and has been used.
const WARMUP: Duration = Duration::from_secs(1);
const USAGE: &str = "usage: bare ADDRESS:PORT PATH CONNECTIONS SECONDS [RATE | MESSAGE]";

/// What is fired, at what, and for how long.
struct Load {
    to: SocketAddr,
    request: Vec<u8>,
    connections: usize,
    window: Duration,
    /// Requests a second; None sends each as soon as the one before is answered.
    rate_per_s: Option<u64>,
    /// What is sent over WebSocket in place of the request, after it as the handshake.
    message: Option<String>,
}

fn main() -> ExitCode {
    match read(&std::env::args().skip(1).collect::<Vec<_>>()).and_then(|load| fire(&load)) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bare: {error}");
            ExitCode::FAILURE
        }
    }
}

fn read(words: &[String]) -> Result<Load, Box<dyn Error>> {
    let [to, path, connections, seconds, rest @ ..] = words else {
        return Err(USAGE.into());
    };
    let (rate_per_s, message) = match rest {
        [] => (None, None),
        [word] => match word.parse() {
            Ok(rate) => (Some(rate), None),
            Err(_) => (None, Some(word.clone())),
        },
        _ => return Err(USAGE.into()),
    };
    let to: SocketAddr = to.parse()?;
    if !to.ip().is_loopback() {
        return Err(format!("{to} is not a loopback address, and nothing else is fired at").into());
    }
    // As long as torr's own: the server reads the same bytes.
    let upgrade = message.as_ref().map_or("", |_| message::UPGRADE);
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: {to}\r\nuser-agent: bare/0.1.0\r\naccept: */*\r\n{upgrade}\r\n"
    );
    Ok(Load {
        to,
        request: request.into_bytes(),
        connections: connections.parse()?,
        window: Duration::from_secs(seconds.parse()?),
        rate_per_s,
        message,
    })
}

fn fire(load: &Load) -> Result<String, Box<dyn Error>> {
    let answer_bytes = answer::length(load.to, &load.request, load.message.is_some())?;
    let mut lanes = Lanes::open(load.to, load.connections, &load.request, answer_bytes)?;
    let frame = load.message.as_deref().map(message::frame).transpose()?.unwrap_or_default();
    if load.message.is_some() {
        lanes.answer_once()?;
        lanes.go_on_with(&frame, message::echo_bytes(&frame))?;
    }
    let spent = if let Some(rate_per_s) = load.rate_per_s {
        lanes.connect()?;
        grid::keep(&mut lanes, rate_per_s, load.window)?
    } else {
        lanes.turn(WARMUP)?;
        lanes.turn(load.window)?
    };
    let Spent { requests, cpu, wall } = spent;
    Ok(format!(
        r#"{{"requests": {requests}, "cpu_s": {:.6}, "seconds": {:.6}, "answer_bytes": {answer_bytes}}}"#,
        cpu.as_secs_f64(),
        wall.as_secs_f64(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn fires_at_the_loopback_address_only() {
        let error = read(&words("192.0.2.1:80 / 1 1")).err().unwrap().to_string();
        assert!(error.contains("not a loopback address"), "{error}");
        assert!(read(&words("[::1]:80 / 1 1")).is_ok());
    }

    #[test]
    fn the_last_word_is_a_rate_or_a_message() {
        let load = read(&words("127.0.0.1:80 / 1 1 100")).unwrap();
        assert_eq!((load.rate_per_s, load.message), (Some(100), None));
        let load = read(&words("127.0.0.1:80 / 1 1 hello")).unwrap();
        assert_eq!((load.rate_per_s, load.message.as_deref()), (None, Some("hello")));
        assert!(load.request.ends_with(b"\r\nSec-WebSocket-Version: 13\r\n\r\n"));
    }

    #[test]
    fn says_how_it_is_called_when_a_word_is_missing() {
        assert_eq!(read(&words("127.0.0.1:80 / 1")).err().unwrap().to_string(), USAGE);
    }
}
