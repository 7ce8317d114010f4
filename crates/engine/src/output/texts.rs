//! The file of the texts of streams: a line of JSON each, written by the coordinator, never by a worker.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::json;

use crate::measure::report::StreamText;

/// An open file.
#[derive(Debug)]
pub(crate) struct Texts {
    file: BufWriter<File>,
}

impl Texts {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        // Texts of models may be private.
        let options =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
        Ok(Self { file: BufWriter::new(options?) })
    }

    /// Writes texts; `names` are those of the rows.
    pub(crate) fn write(&mut self, texts: &[StreamText], names: &[String]) -> io::Result<()> {
        for text in texts {
            let name = names.get(usize::from(text.row)).map(String::as_str).unwrap_or_default();
            // Texts are escaped already.
            writeln!(
                self.file,
                r#"{{"text":"{}","thought":"{}","first":"{}","is_cut":{},"is_spread":{},"span_ns":{},"tokens":{},"is_measured":{},"is_inside":{},"name":{}}}"#,
                text.text,
                text.thought,
                text.first,
                text.is_cut,
                text.is_spread,
                text.span_ns,
                json!(text.tokens),
                text.is_measured,
                text.is_inside,
                json!(name),
            )?;
        }
        self.file.flush()
    }
}
