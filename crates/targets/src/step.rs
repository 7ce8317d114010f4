//! What a faulty target does on a connection, step by step.

use std::time::Duration;

/// 10 kB every 10 ms is 1 MB/s.
pub(crate) const POUR: Duration = Duration::from_millis(10);
pub(crate) const POUR_BYTES: usize = 10_000;

/// A step of a faulty target on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FaultStep {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes repeatedly, with a pause after each time.
    Pour(Vec<u8>, Duration),
    /// Sends these bytes one by one, with a pause after each.
    Drip(Vec<u8>, Duration),
    /// Waits.
    Pause(Duration),
    /// Sends nothing until the client closes the connection.
    Silence,
    /// Closes with FIN.
    Close,
    /// Closes with RST.
    Reset,
}
