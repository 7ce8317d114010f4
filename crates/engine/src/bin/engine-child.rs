//! One process of a load as a program of its own: what `torr._engine.fire` is, without Python.
//!
//! Tests of this crate start it; a machine that shall only fire needs nothing else.

fn main() {
    if let Err(error) = engine::serve() {
        eprintln!("{error}");
        std::process::exit(2);
    }
}
