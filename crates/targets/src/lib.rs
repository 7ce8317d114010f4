//! Servers to fire at: what they do is known, counted, and decided by a seed.
//!
//! A [`Target`] is started from a [`Spec`] and listens at once, on its own threads. Five kinds:
//! `hello` answers as fast as it can, `delay` answers after a known time, `bytes` answers a body
//! of any size, `faulty` breaks the protocol in the way that its [`Fault`] names, `chat` streams
//! answers as chat APIs do.
//!
//! What they are for is the truth: a test fires at a target and balances what the client counted
//! against the target's [`TargetCounts`], a truth test compares the client's latencies with the
//! target's own log. So a target refuses to be a web server: it has no routes (`chat` has what
//! its API has), answers every
//! method alike (`HEAD` without the body), sends no `Date`, and logs nothing it was not asked for.
//!
//! ```
//! use std::io::{Read, Write};
//! use targets::{HelloSpec, Spec, Target};
//!
//! # fn main() -> std::io::Result<()> {
//! let target = Target::start(Spec::Hello(HelloSpec::default()))?;
//! let mut stream = std::net::TcpStream::connect(target.addr())?;
//! stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! stream.read_to_string(&mut answer)?;
//! assert!(answer.ends_with("\r\n\r\nHello world"));
//! target.stop()?;
//! assert_eq!(target.counts().answered, 1);
//! # Ok(())
//! # }
//! ```

mod alarm;
mod blackhole;
mod body;
mod bytes;
mod chat;
mod clock;
mod counted;
mod counts;
mod delay;
mod fault;
mod faulty;
mod hello;
mod http;
mod listener;
mod peer;
mod places;
mod random;
mod request;
mod script;
mod spec;
mod target;
mod truth;

pub use chat::{AnswerLength, Chance, ChatDialect, ChatSpec, Defect};
pub use counts::TargetCounts;
pub use delay::Delay;
pub use fault::Fault;
pub use spec::{BytesSpec, DelaySpec, FaultySpec, HelloSpec, Spec, SpecError};
pub use target::{Target, serve_shared};
