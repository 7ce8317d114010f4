//! Rows of values for templates, read once before the run.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;

use crate::plan::Data;

/// A table of texts; each row has a cell for each column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rows {
    columns: Vec<String>,
    cells: Vec<Box<[u8]>>,
}

impl Rows {
    /// The rows of a plan; the message says what is wrong with them.
    pub(crate) fn of(data: &Data) -> Result<Self, String> {
        match data {
            Data::File { path } => Self::read(path),
            Data::Fed { fed } => Ok(Self { columns: fed.clone(), cells: Vec::new() }),
            Data::Rows { columns, rows } => {
                let fits = !columns.is_empty() && !rows.is_empty();
                if !fits || rows.iter().any(|row| row.len() != columns.len()) {
                    return Err("data: a row has not as many values as there are columns".into());
                }
                let cells = rows.iter().flatten().map(|cell| cell.as_bytes().into()).collect();
                Ok(Self { columns: columns.clone(), cells })
            }
        }
    }

    /// Reads CSV with a header line, or JSON lines; the message names the file and the line.
    fn read(path: &Path) -> Result<Self, String> {
        let named = |error: String| format!("data {}: {error}", path.display());
        let file = File::open(path).map_err(|error| named(error.to_string()))?;
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let rows = match ending {
            "jsonl" | "ndjson" => from_json_lines(BufReader::new(file)),
            _ => from_csv(file),
        };
        let rows = rows.map_err(named)?;
        if rows.cells.is_empty() { Err(named("has no rows".into())) } else { Ok(rows) }
    }

    /// The number of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|known| known == name)
    }

    /// The names of the columns.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The number of rows.
    pub(crate) fn count(&self) -> u64 {
        (self.cells.len() / self.columns.len()) as u64
    }

    /// A cell; rows begin anew after the last.
    pub(crate) fn cell(&self, row: u64, column: usize) -> &[u8] {
        // The remainder is smaller than a number of rows in memory.
        let row = (row % self.count()) as usize;
        &self.cells[row * self.columns.len() + column]
    }
}

fn from_csv(file: File) -> Result<Rows, String> {
    let mut reader = csv::Reader::from_reader(file);
    let text_of = |error: csv::Error| error.to_string();
    let columns: Vec<String> =
        reader.headers().map_err(text_of)?.iter().map(str::to_owned).collect();
    let mut cells = Vec::new();
    for record in reader.byte_records() {
        cells.extend(record.map_err(text_of)?.iter().map(Box::from));
    }
    Ok(Rows { columns, cells })
}

fn from_json_lines(file: impl BufRead) -> Result<Rows, String> {
    let mut rows = Rows { columns: Vec::new(), cells: Vec::new() };
    for (line, number) in file.lines().zip(1..) {
        let line = line.map_err(|error| error.to_string())?;
        if line.trim().is_empty() {
            continue;
        }
        rows.add(&line).map_err(|error| format!("line {number}: {error}"))?;
    }
    Ok(rows)
}

impl Rows {
    fn add(&mut self, line: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let Value::Object(object) = value else { return Err("is no JSON object".into()) };
        if self.columns.is_empty() {
            self.columns = object.keys().cloned().collect();
        }
        for column in &self.columns {
            let value = object.get(column).ok_or_else(|| format!("has no {column:?}"))?;
            self.cells.push(match value {
                Value::String(text) => text.as_bytes().into(),
                other => other.to_string().into_bytes().into(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Rows, String> {
        let path = std::env::temp_dir().join(format!("torr-rows-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let rows = Rows::read(&path);
        std::fs::remove_file(&path).unwrap();
        rows
    }

    fn cell<'a>(rows: &'a Rows, row: u64, name: &str) -> &'a str {
        std::str::from_utf8(rows.cell(row, rows.column(name).unwrap())).unwrap()
    }

    #[test]
    fn reads_csv_and_begins_anew_after_the_last_row() {
        let rows = read("a.csv", "id,name\n1,\"Ann, B\"\n2,Bo\n").unwrap();
        assert_eq!((cell(&rows, 0, "name"), cell(&rows, 3, "id")), ("Ann, B", "2"));
        assert_eq!(rows.column("age"), None);
    }

    #[test]
    fn reads_json_lines_with_texts_as_they_are_and_other_values_as_json() {
        let rows = read(
            "a.jsonl",
            "{\"id\": 7, \"name\": \"A\\\"n\"}\n\n{\"name\": \"Bo\", \"id\": [1]}\n",
        );
        let rows = rows.unwrap();
        assert_eq!((cell(&rows, 0, "id"), cell(&rows, 0, "name")), ("7", "A\"n"));
        assert_eq!(cell(&rows, 1, "id"), "[1]");
    }

    #[test]
    fn takes_rows_as_they_are() {
        let data =
            |rows: Vec<Vec<String>>| Data::Rows { columns: vec!["a".into(), "b".into()], rows };
        let rows = Rows::of(&data(vec![vec!["1".into(), "2".into()]])).unwrap();
        assert_eq!((cell(&rows, 0, "a"), cell(&rows, 5, "b")), ("1", "2"));
        assert!(Rows::of(&data(vec![vec!["1".into()]])).is_err());
        assert!(Rows::of(&data(Vec::new())).is_err());
    }

    #[test]
    fn says_where_a_file_is_wrong() {
        let table = [
            ("b.csv", "id,name\n1\n", "line: 2"),
            ("c.csv", "id\n", "no rows"),
            ("b.jsonl", "{\"id\": 1}\n{\"x\": 1}\n", "line 2: has no \"id\""),
            ("c.jsonl", "{\"id\": 1}\n[]\n", "line 2: is no JSON object"),
        ];
        for (name, text, message) in table {
            let error = read(name, text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        assert!(Rows::read(Path::new("/nowhere.csv")).unwrap_err().contains("/nowhere.csv"));
    }
}
