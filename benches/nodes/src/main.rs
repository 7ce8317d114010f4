//! Connects as so many nodes, each of which serves one load with invented reports.
//!
//! `invented-nodes ADDRESS NODES REQUESTS_PER_S`

use std::error::Error;
use std::net::TcpStream;
use std::thread;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, nodes, requests_per_s] = words.as_slice() else {
        return Err("usage: invented-nodes ADDRESS NODES REQUESTS_PER_S".into());
    };
    let (nodes, requests_per_s) = (nodes.parse::<u32>()?, requests_per_s.parse()?);
    let mut threads = Vec::new();
    for _ in 0..nodes {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let serve = move || engine::serve_invented(stream.try_clone()?, stream, requests_per_s);
        threads.push(thread::Builder::new().stack_size(256 << 10).spawn(serve)?);
    }
    for thread in threads {
        thread.join().map_err(|_| "a node has panicked")??;
    }
    Ok(())
}
