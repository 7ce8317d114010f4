//! Without file descriptors. Alone in its process, since it takes all of them.

mod common;

use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::{GET, HELLO, connect, exchange, start};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn running_out_of_descriptors_ends_nothing() {
    let target = start(r#"{"kind":"hello"}"#);
    let mut served = connect(&target);
    assert_eq!(exchange(&mut served, GET, HELLO.len()), HELLO);
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..limit }).unwrap();
    // Client and target take descriptors until there is none left for either.
    let waiting: Vec<TcpStream> =
        std::iter::from_fn(|| TcpStream::connect(target.addr()).ok()).collect();
    assert!(waiting.len() > 10 && waiting.len() < 64, "{}", waiting.len());

    // Accepted connections are served, and new ones, too, when there are descriptors.
    assert_eq!(exchange(&mut served, GET, HELLO.len()), HELLO);
    drop(waiting);
    // The target may accept them all at once after their clients have closed them, and notices that.
    let limit = Instant::now() + Duration::from_secs(10);
    let mut late = loop {
        match TcpStream::connect(target.addr()) {
            Ok(stream) => break stream,
            Err(error) => assert!(Instant::now() < limit, "{error}"),
        }
    };
    assert_eq!(exchange(&mut late, GET, HELLO.len()), HELLO);
    target.stop().unwrap();
    assert_eq!(target.counts().answered, 3);
}
