//! The greeting: the first bytes that a node sends, before any frame. It names the build of torr, since
//! other builds have other messages, and the clock of the times that the node sends.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};

use net::monotonic_ns;

/// The first bytes, whatever the build.
const MAGIC: &[u8] = b"torr\n";

/// The version of torr and a hash of its sources.
const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("TORR_SOURCES"));

/// The maximum length of a text in a greeting.
const MAX_TEXT_BYTES: u8 = 200;

/// A greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Greeting {
    /// The build.
    build: String,
    /// The clock of all times in frames.
    clock: String,
}

impl Greeting {
    /// Returns the greeting of this process.
    pub(super) fn own() -> Self {
        Self { build: BUILD.to_owned(), clock: clock_name() }
    }

    /// Returns the greeting of a process with a clock of its own.
    #[cfg(feature = "invented-nodes")]
    pub(super) fn own_on_clock(clock: &str) -> Self {
        Self { clock: clock.to_owned(), ..Self::own() }
    }

    /// Writes it.
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        for text in [&self.build, &self.clock] {
            let length = text.len().min(MAX_TEXT_BYTES.into());
            bytes.push(u8::try_from(length).unwrap_or(MAX_TEXT_BYTES));
            bytes.extend_from_slice(&text.as_bytes()[..length]);
        }
        to.write_all(&bytes)?;
        to.flush()
    }

    /// Reads the greeting of a node; `None` if the stream ends before it.
    pub(super) fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut magic = [0; MAGIC.len()];
        match from.read_exact(&mut magic) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        if magic != MAGIC {
            return Err(io::Error::new(ErrorKind::InvalidData, "its first bytes are not torr's"));
        }
        Ok(Some(Self { build: read_text(from)?, clock: read_text(from)? }))
    }

    /// Returns why a node with another greeting cannot take part, if it cannot.
    pub(super) fn refusal(&self, other: &Self) -> Option<String> {
        let (own, theirs) = (&self.build, &other.build);
        let text = || format!("is torr {theirs}, and this is torr {own}: use the same build");
        (own != theirs).then(text)
    }

    /// Returns whether the sender of another greeting has the same clock.
    pub(super) fn has_clock_of(&self, other: &Self) -> bool {
        self.clock == other.clock
    }
}

/// Names the monotonic clock: it is the same for all processes since a boot, except in time namespaces.
fn clock_name() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let offsets = read("/proc/self/timens_offsets");
    let monotonic = offsets.lines().find_map(|line| line.strip_prefix("monotonic"));
    let offset: Vec<_> = monotonic.unwrap_or_default().split_whitespace().collect();
    let boot = read("/proc/sys/kernel/random/boot_id");
    let boot = boot.trim();
    // A machine that does not name its boot has a clock of its own.
    let fallback = || format!("unnamed-{}", monotonic_ns());
    let boot = if boot.is_empty() { fallback() } else { boot.to_owned() };
    format!("{boot} {}", offset.join("."))
}

fn read_text(from: &mut impl Read) -> io::Result<String> {
    let mut length = [0];
    from.read_exact(&mut length)?;
    let mut bytes = vec![0; length[0].into()];
    from.read_exact(&mut bytes)?;
    let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_TEXT_BYTES.into());
    text.ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "its greeting is no text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting(build: &str, clock: &str) -> Greeting {
        Greeting { build: build.into(), clock: clock.into() }
    }

    #[test]
    fn a_greeting_comes_out_as_it_went_in_and_what_follows_is_left() {
        let mut bytes = Vec::new();
        Greeting::own().write(&mut bytes).unwrap();
        bytes.extend(b"frames");
        let mut from = bytes.as_slice();
        let read = Greeting::read(&mut from).unwrap().unwrap();
        assert_eq!((&read, from), (&Greeting::own(), &b"frames"[..]));
        assert_eq!(Greeting::own().refusal(&read), None);
    }

    #[test]
    fn another_build_is_refused_naming_both_and_another_clock_is_known_as_such() {
        let own = greeting("1.0+a", "boot 0");
        let refusal = |build: &str, clock: &str| own.refusal(&greeting(build, clock));
        let text = "is torr 1.1+b, and this is torr 1.0+a: use the same build";
        assert_eq!(refusal("1.1+b", "boot 0").as_deref(), Some(text));
        assert_eq!(refusal("1.0+a", "boot 5"), None);
        assert!(own.has_clock_of(&greeting("1.1+b", "boot 0")));
        assert!(!own.has_clock_of(&greeting("1.0+a", "boot 5")));
        assert!(BUILD.len() > "0.1.0+".len() + 8, "{BUILD}");
    }

    #[test]
    fn a_greeting_that_ends_early_or_is_something_else_is_no_greeting() {
        let mut bytes = Vec::new();
        Greeting::own().write(&mut bytes).unwrap();
        for end in 0..bytes.len() {
            let read = Greeting::read(&mut &bytes[..end]);
            assert!(read.is_err() || end < MAGIC.len() && read.unwrap().is_none(), "{end}");
        }
        let error = Greeting::read(&mut &b"Traceback (most recent call last)"[..]).unwrap_err();
        assert!(error.to_string().contains("not torr's"), "{error}");
    }
}
