//! The variables of a template, and their values for one request.

use std::io::Write as _;

use wire::Values;

use super::rows::Rows;
use crate::feed::FeedRow;
use crate::random::SplitMix;

/// A variable of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Variable {
    /// A column of the data.
    Row(usize),
    /// A random UUID (version 4).
    Uuid,
    /// The number of the request, or of the user's pass through its steps.
    Seq,
    /// A whole number between the two, both among them.
    Rand(i64, i64),
    /// A value that was captured from an earlier answer of the user.
    Captured(usize),
}

impl Variable {
    /// Reads the text between the braces; the error lists the known variables.
    pub(crate) fn read(
        text: &str,
        rows: Option<&Rows>,
        captures: &[String],
    ) -> Result<Self, String> {
        if let Some(column) = text.strip_prefix("row.") {
            let rows = rows.ok_or_else(|| format!("{{{{{text}}}}}: there is no data"))?;
            let known = || format!("{{{{{text}}}}}: the data has {}", rows.columns().join(", "));
            return rows.column(column).map(Self::Row).ok_or_else(known);
        }
        let words: Vec<_> = text.split_whitespace().collect();
        match words.as_slice() {
            ["uuid"] => Ok(Self::Uuid),
            ["seq"] => Ok(Self::Seq),
            ["rand", low, high] => match (low.parse(), high.parse()) {
                (Ok(low), Ok(high)) if low <= high => Ok(Self::Rand(low, high)),
                _ => {
                    Err(format!("{{{{{text}}}}}: rand takes two whole numbers, the smaller first"))
                }
            },
            _ => {
                let known = captures.iter().position(|name| name == text);
                known.map(Self::Captured).ok_or_else(|| unknown(text, captures))
            }
        }
    }
}

impl Variable {
    /// Checks that all its values are numbers as `is_number` says.
    pub(crate) fn check_numbers(
        &self,
        rows: Option<&Rows>,
        is_number: impl Fn(&[u8]) -> bool,
    ) -> Result<(), String> {
        match self {
            // It goes on beyond 1.
            Self::Seq if is_number(b"2") => Ok(()),
            Self::Seq => Err("seq does not fit its field".to_owned()),
            Self::Rand(low, high) => {
                let fit = [low, high].iter().all(|end| is_number(end.to_string().as_bytes()));
                fit.then_some(()).ok_or_else(|| format!("rand {low} {high} does not fit its field"))
            }
            Self::Row(column) => rows.map_or(Ok(()), |rows| {
                let wrong = (0..rows.count()).find(|row| !is_number(rows.cell(*row, *column)));
                wrong.map_or(Ok(()), |row| {
                    let text = String::from_utf8_lossy(rows.cell(row, *column)).into_owned();
                    let name = &rows.columns()[*column];
                    Err(format!(
                        "row {}: {name} is {text:?}, which does not fit its field",
                        row + 1
                    ))
                })
            }),
            Self::Uuid => Err("uuid is not a number".to_owned()),
            Self::Captured(_) => Err("a captured value may not be a number".to_owned()),
        }
    }
}

fn unknown(text: &str, captures: &[String]) -> String {
    let mut known = vec!["row.NAME", "uuid", "seq", "rand LOW HIGH"];
    known.extend(captures.iter().map(String::as_str));
    format!("{{{{{text}}}}} is unknown; there is {}", known.join(", "))
}

/// The number of a request, or of a user's pass through its steps, which selects its row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Draw {
    pub(crate) seq: u64,
}

/// The numbers of one part of a plan; those of all parts together are 0, 1, 2, …
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    next: u64,
    stride: u64,
}

impl Draws {
    pub(crate) fn new(first: u64, stride: u64) -> Self {
        Self { next: first, stride }
    }

    pub(crate) fn next(&mut self) -> Draw {
        let seq = self.next;
        self.next += self.stride;
        Draw { seq }
    }
}

/// Where the values of a row are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RowCells<'a> {
    /// In a table, in which the number of the request selects the row.
    Table(&'a Rows),
    /// In a row that came while the load runs.
    Fed(&'a FeedRow),
}

/// The values of one request.
pub(crate) struct Filling<'a> {
    pub(crate) variables: &'a [Variable],
    pub(crate) rows: Option<RowCells<'a>>,
    pub(crate) draw: Draw,
    pub(crate) captured: &'a [Vec<u8>],
    pub(crate) random: &'a mut SplitMix,
    /// Random numbers that differ in every run.
    pub(crate) unique: &'a mut SplitMix,
}

impl Values for Filling<'_> {
    fn put(&mut self, number: u16, out: &mut Vec<u8>) {
        match &self.variables[usize::from(number)] {
            Variable::Row(column) => {
                let cell = self.rows.and_then(|rows| match rows {
                    RowCells::Table(rows) => Some(rows.cell(self.draw.seq, *column)),
                    RowCells::Fed(row) => row.cells.get(*column).map(|cell| cell.as_bytes()),
                });
                out.extend_from_slice(cell.unwrap_or_default());
            }
            Variable::Uuid => put_uuid(self.unique, out),
            Variable::Seq => put_number(self.draw.seq, out),
            Variable::Rand(low, high) => put_number(between(self.random, *low, *high), out),
            Variable::Captured(index) => {
                let value = self.captured.get(*index).map(Vec::as_slice);
                out.extend_from_slice(value.unwrap_or_default());
            }
        }
    }
}

fn put_number(number: impl std::fmt::Display, out: &mut Vec<u8>) {
    // Writing into memory cannot fail.
    let _ = write!(out, "{number}");
}

/// A whole number between the two; the modulo's bias is below 2^-32 for spans below 2^32.
fn between(random: &mut SplitMix, low: i64, high: i64) -> i64 {
    match high.abs_diff(low).checked_add(1) {
        Some(span) => low.wrapping_add((random.next() % span).cast_signed()),
        // The span is that of all 64-bit numbers.
        None => random.next().cast_signed(),
    }
}

/// RFC 9562, 5.4.
fn put_uuid(random: &mut SplitMix, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let high = random.next() & !0xf000 | 0x4000;
    let low = random.next() & !(0b11 << 62) | 0b10 << 62;
    for (at, byte) in high.to_be_bytes().into_iter().chain(low.to_be_bytes()).enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(variable: Variable, count: usize) -> Vec<String> {
        let (mut random, mut unique) = (SplitMix::new(3), SplitMix::of_this_moment());
        let variables = [variable];
        let mut draws = Draws::new(1, 3);
        let captured = [b"abc".to_vec()];
        let fill = |_| {
            let (draw, mut out) = (draws.next(), Vec::new());
            let (rows, captured) = (None, &captured[..]);
            let variables = &variables;
            Filling { variables, rows, draw, captured, random: &mut random, unique: &mut unique }
                .put(0, &mut out);
            String::from_utf8(out).unwrap()
        };
        (0..count).map(fill).collect()
    }

    #[test]
    fn reads_what_a_place_stands_for_or_says_what_could() {
        let names = ["token".to_owned()];
        let read = |text| Variable::read(text, None, &names);
        assert_eq!(read("rand -1 6"), Ok(Variable::Rand(-1, 6)));
        assert_eq!((read("seq"), read("uuid")), (Ok(Variable::Seq), Ok(Variable::Uuid)));
        assert_eq!(read("token"), Ok(Variable::Captured(0)));
        assert!(read("tokn").unwrap_err().contains("rand LOW HIGH, token"));
        assert!(read("rand 6 1").unwrap_err().contains("the smaller first"));
        assert!(read("row.id").unwrap_err().contains("no data"));
    }

    #[test]
    fn numbers_go_on_in_steps_of_the_parts() {
        assert_eq!(filled(Variable::Seq, 3), ["1", "4", "7"]);
        assert_eq!(filled(Variable::Captured(0), 1), ["abc"]);
        assert_eq!(filled(Variable::Captured(9), 1), [""]);
    }

    #[test]
    fn random_numbers_fill_their_span_evenly() {
        let all = filled(Variable::Rand(-1, 2), 40_000);
        for value in ["-1", "0", "1", "2"] {
            let count = all.iter().filter(|text| *text == value).count();
            assert!((9_600..10_400).contains(&count), "{value}: {count}");
        }
        assert_eq!(all.len(), 40_000);
        assert!(filled(Variable::Rand(i64::MIN, i64::MAX), 3).iter().all(|text| text.len() > 5));
    }

    #[test]
    fn uuids_have_their_form_and_differ() {
        let all = filled(Variable::Uuid, 1_000);
        for text in &all {
            let bytes = text.as_bytes();
            assert_eq!((text.len(), bytes[14], bytes[8], bytes[23]), (36, b'4', b'-', b'-'));
            assert!(b"89ab".contains(&bytes[19]));
        }
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 1_000);
    }
}
