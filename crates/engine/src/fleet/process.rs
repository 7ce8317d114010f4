//! One child process: its pipes, and how it ended.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::transport::{ChildTransport, EndChild, OrderStream, ReplyStream};
use crate::messages::{DIED, DIED_SAYING, END_UNKNOWN, EXIT_CODE, Message, SIGNAL};

/// The maximum of a child's standard error that is read.
const MAX_STDERR_BYTES: u64 = 64 * 1024;

/// After this time without a sign of life, a child counts as lost. It is long, since on a busy machine a
/// child may wait for a core, and the end of its pipes shows its end.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);

/// A child process; dropping it kills it.
#[derive(Debug)]
pub(super) struct ChildProcess {
    child: Child,
    stderr: Option<ChildStderr>,
    /// Whether it was waited for: its number may belong to another process then.
    has_ended: Arc<AtomicBool>,
}

impl ChildProcess {
    /// Starts a child.
    pub(super) fn start(command: &[String]) -> io::Result<Self> {
        let (program, words) =
            command.split_first().ok_or_else(|| io::Error::other("no program is known for it"))?;
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C in a terminal reaches the whole process group of the parent. Only the parent
            // handles it: it sends an order to all children.
            .process_group(0)
            .spawn()?;
        let stderr = child.stderr.take();
        Ok(Self { child, stderr, has_ended: Arc::default() })
    }

    fn wait_for_end(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait();
        self.has_ended.store(true, Ordering::Release);
        status
    }
}

impl ChildTransport for ChildProcess {
    fn streams(&mut self) -> io::Result<(OrderStream, ReplyStream)> {
        let pipes = self.child.stdin.take().zip(self.child.stdout.take());
        let (orders, replies) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        Ok((Box::new(orders), Box::new(BufReader::new(replies))))
    }

    /// Kills its process group: an interpreter may be a child of a script.
    fn ending(&self) -> EndChild {
        let (group, has_ended) = (self.child.id(), Arc::clone(&self.has_ended));
        Arc::new(move || {
            if !has_ended.load(Ordering::Acquire) {
                net::end_group(group);
            }
        })
    }

    /// Returns how it ended, such as `died (signal 9)`.
    fn wait(&mut self) -> Message {
        let line = self.last_error_line();
        match (self.wait_for_end(), line) {
            (Ok(status), None) => DIED.message([("cause", cause(status).into())]),
            (Ok(status), Some(line)) => {
                DIED_SAYING.message([("cause", cause(status).into()), ("line", line.into())])
            }
            (Err(error), _) => END_UNKNOWN.message([("error", error.to_string().into())]),
        }
    }

    fn silence_limit(&self) -> Duration {
        SILENCE_LIMIT
    }
}

impl ChildProcess {
    /// Returns the last line that it wrote to its standard error.
    fn last_error_line(&mut self) -> Option<String> {
        let stderr = self.stderr.take()?;
        let lines = BufReader::new(stderr.take(MAX_STDERR_BYTES)).lines().map_while(Result::ok);
        let last = lines.filter(|line| !line.trim().is_empty()).last();
        last.map(|line| line.trim().to_owned())
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.ending()();
        // Otherwise it would stay a zombie.
        let _ = self.wait_for_end();
    }
}

fn cause(status: ExitStatus) -> Message {
    match (status.signal(), status.code()) {
        (Some(signal), _) => SIGNAL.message([("signal", signal.into())]),
        (None, code) => EXIT_CODE.message([("code", code.unwrap_or(-1).into())]),
    }
}
