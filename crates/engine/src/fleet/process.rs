//! One child as the leading process holds it: its pipes, and how it ended.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use crate::messages::{DIED, DIED_SAYING, END_UNKNOWN, EXIT_CODE, Message, SIGNAL};

/// Of what a child wrote to its standard error, so much is kept.
const SAID_BYTES: u64 = 64 * 1024;

/// A started child; dropping it ends it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    said: Option<ChildStderr>,
}

/// The way to a child and the way back.
pub(super) type Pipes = (ChildStdin, BufReader<ChildStdout>);

impl Process {
    /// Starts a child from the words of its command.
    pub(super) fn start(command: &[String]) -> io::Result<(Self, Pipes)> {
        let (program, words) =
            command.split_first().ok_or_else(|| io::Error::other("no program is known for it"))?;
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C in a terminal reaches the whole group of the leading process. It alone shall
            // hear it: it has the end of the window told to all.
            .process_group(0)
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let said = child.stderr.take();
        let process = Self { child, said };
        let (orders, replies) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        Ok((process, (orders, BufReader::new(replies))))
    }

    /// Waits for its end; how it came, such as `died (signal 9)`.
    pub(super) fn end(&mut self) -> Message {
        let line = self.last_words();
        match (self.child.wait(), line) {
            (Ok(status), None) => DIED.message([("cause", cause(status).into())]),
            (Ok(status), Some(line)) => {
                DIED_SAYING.message([("cause", cause(status).into()), ("line", line.into())])
            }
            (Err(error), _) => END_UNKNOWN.message([("error", error.to_string().into())]),
        }
    }

    /// Its number, which is that of its group too.
    pub(super) fn number(&self) -> u32 {
        self.child.id()
    }

    /// Ends it at once, and what it started: an interpreter may be a child of a script.
    pub(super) fn kill(&mut self) {
        // Once its end was taken in, the number may be another's.
        if matches!(self.child.try_wait(), Ok(None)) {
            net::end_group(self.child.id());
        }
    }

    /// The last line that it wrote to its standard error.
    fn last_words(&mut self) -> Option<String> {
        let said = self.said.take()?;
        let lines = BufReader::new(said.take(SAID_BYTES)).lines().map_while(Result::ok);
        let last = lines.filter(|line| !line.trim().is_empty()).last();
        last.map(|line| line.trim().to_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        // Nobody else would, and it would stay in the table of processes.
        let _ = self.child.wait();
    }
}

fn cause(status: ExitStatus) -> Message {
    match (status.signal(), status.code()) {
        (Some(signal), _) => SIGNAL.message([("signal", signal.into())]),
        (None, code) => EXIT_CODE.message([("code", code.unwrap_or(-1).into())]),
    }
}
