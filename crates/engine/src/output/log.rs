//! The log of exchanges: one CSV line each, written by the coordinator, never by a worker.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use client::{Reason, UNSET};
use net::Nanos;

use crate::measure::report::ExchangeRow;

/// An open log.
#[derive(Debug)]
pub(crate) struct Log {
    file: BufWriter<File>,
}

impl Log {
    /// Creates the file and writes its header line.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(
            b"name,phase,class,reason,status,intended_ns,taken_ns,connect_ns,tls_ns,sent_ns,first_byte_ns,last_byte_ns,first_event_ns,first_text_ns,last_text_ns,end_ns,texts,tokens_out,stream_wait_ns,window_wait_ns\n",
        )?;
        Ok(Self { file })
    }

    /// Writes rows; times are nanoseconds on the monotonic clock, empty where nothing happened.
    pub(crate) fn write(&mut self, rows: &[ExchangeRow], names: &[String]) -> io::Result<()> {
        for row in rows {
            let name = names.get(row.request as usize).map(String::as_str).unwrap_or_default();
            self.write_row(row, name)?;
        }
        self.file.flush()
    }

    fn write_row(&mut self, row: &ExchangeRow, name: &str) -> io::Result<()> {
        let stamps = &row.stamps;
        let class = row.failure.map_or("ok", |reason| reason.class().name());
        let reason = match (row.failure, row.status) {
            (Some(Reason::Status), Some(status)) => format!("status.{status}"),
            (Some(reason), _) => reason.name().to_owned(),
            (None, _) => String::new(),
        };
        let status = row.status.map(|status| status.to_string()).unwrap_or_default();
        let phase = if row.measured { "measure" } else { "warmup" };
        write!(self.file, "{},{phase},{class},{reason},{status}", quoted(name))?;
        let times = [
            stamps.intended,
            stamps.taken,
            stamps.connect,
            stamps.tls,
            stamps.sent,
            stamps.first_byte,
            stamps.last_byte,
        ];
        times.iter().try_for_each(|time| write_time(&mut self.file, *time))?;
        match &row.stream {
            Some(stream) => {
                stream.stamps.iter().try_for_each(|time| write_time(&mut self.file, *time))?;
                write!(self.file, ",{}", stream.texts)?;
                write_time(&mut self.file, stream.tokens_out)?;
            }
            None => self.file.write_all(b",,,,,,")?,
        }
        write_time(&mut self.file, stamps.stream_wait)?;
        write_time(&mut self.file, stamps.window_wait)?;
        self.file.write_all(b"\n")
    }
}

fn write_time(file: &mut impl Write, time: Nanos) -> io::Result<()> {
    if time == UNSET { file.write_all(b",") } else { write!(file, ",{time}") }
}

/// A name with a comma, quote or line break is quoted (RFC 4180).
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
