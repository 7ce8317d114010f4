//! One child process: its pipes, and how it ended.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use crate::messages::{DIED, DIED_SAYING, END_UNKNOWN, EXIT_CODE, Message, SIGNAL};

/// The maximum of a child's standard error that is read.
const MAX_STDERR_BYTES: u64 = 64 * 1024;

/// A child process; dropping it kills it.
#[derive(Debug)]
pub(super) struct ChildProcess {
    child: Child,
    stderr: Option<ChildStderr>,
}

/// The standard input and output of a child.
pub(super) type Pipes = (ChildStdin, BufReader<ChildStdout>);

impl ChildProcess {
    /// Starts a child.
    pub(super) fn start(command: &[String]) -> io::Result<(Self, Pipes)> {
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
        let pipes = child.stdin.take().zip(child.stdout.take());
        let stderr = child.stderr.take();
        let process = Self { child, stderr };
        let (orders, replies) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        Ok((process, (orders, BufReader::new(replies))))
    }

    /// Waits until it ends, and returns how, such as `died (signal 9)`.
    pub(super) fn end(&mut self) -> Message {
        let line = self.last_error_line();
        match (self.child.wait(), line) {
            (Ok(status), None) => DIED.message([("cause", cause(status).into())]),
            (Ok(status), Some(line)) => {
                DIED_SAYING.message([("cause", cause(status).into()), ("line", line.into())])
            }
            (Err(error), _) => END_UNKNOWN.message([("error", error.to_string().into())]),
        }
    }

    /// Returns its process number, which is that of its group too.
    pub(super) fn number(&self) -> u32 {
        self.child.id()
    }

    /// Kills its process group: an interpreter may be a child of a script.
    pub(super) fn kill(&mut self) {
        // After it was waited for, its number may belong to another process.
        if matches!(self.child.try_wait(), Ok(None)) {
            net::end_group(self.child.id());
        }
    }

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
        self.kill();
        // Otherwise it would stay a zombie.
        let _ = self.child.wait();
    }
}

fn cause(status: ExitStatus) -> Message {
    match (status.signal(), status.code()) {
        (Some(signal), _) => SIGNAL.message([("signal", signal.into())]),
        (None, code) => EXIT_CODE.message([("code", code.unwrap_or(-1).into())]),
    }
}
