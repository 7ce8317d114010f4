//! The file of what streams told: a JSON line each, written by the coordinator, never by a worker.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::json;

use crate::measure::report::Text;

/// An open file.
#[derive(Debug)]
pub(crate) struct Texts {
    file: BufWriter<File>,
}

impl Texts {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        // What models say is for nobody else's eyes.
        let options =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
        Ok(Self { file: BufWriter::new(options?) })
    }

    /// Writes what was told; `names` are those of the rows.
    pub(crate) fn write(&mut self, texts: &[Text], names: &[String]) -> io::Result<()> {
        for told in texts {
            let name = names.get(usize::from(told.row)).map(String::as_str).unwrap_or_default();
            // Texts are escaped already.
            writeln!(
                self.file,
                r#"{{"text":"{}","thought":"{}","first":"{}","is_cut":{},"is_spread":{},"span_ns":{},"tokens":{},"is_measured":{},"is_inside":{},"name":{}}}"#,
                told.text,
                told.thought,
                told.first,
                told.is_cut,
                told.is_spread,
                told.span_ns,
                json!(told.tokens),
                told.is_measured,
                told.is_inside,
                json!(name),
            )?;
        }
        self.file.flush()
    }
}
