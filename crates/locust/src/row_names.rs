//! The names of rows: one for each method and name; names beyond a limit share a row.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use engine::OTHERS;

/// The maximum number of rows with a name of their own.
pub(super) const MAX_ROWS: usize = 200;

/// The name of a row; exchanges are sorted before events.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct RowName {
    /// Whether it counts events that the locustfile fired.
    pub(super) is_event: bool,
    /// The displayed name.
    pub(super) name: String,
}

/// The names of all rows.
#[derive(Debug, Default)]
pub(super) struct RowNames {
    list: Vec<RowName>,
    /// By method and name: the rows of exchanges, and those of events.
    row_numbers: [HashMap<String, HashMap<String, u32>>; 2],
    /// The shared rows of exchanges and of events.
    others: [Option<u32>; 2],
}

impl RowNames {
    /// Returns the row of a method, which may be empty, and a name.
    pub(super) fn row(&mut self, method: &str, name: &str, is_event: bool) -> u32 {
        let known = self.row_numbers[usize::from(is_event)].get(method);
        match known.and_then(|names| names.get(name)) {
            Some(row) => *row,
            None => self.add_row(method, name, is_event),
        }
    }

    pub(super) fn list(&self) -> &[RowName] {
        &self.list
    }

    /// Whether some rows are shared.
    pub(super) fn has_shared_row(&self) -> bool {
        self.others.iter().any(Option::is_some)
    }

    fn add_row(&mut self, method: &str, name: &str, is_event: bool) -> u32 {
        let kind = usize::from(is_event);
        let own = self.list.len() - self.others.iter().flatten().count();
        if own >= MAX_ROWS || (method.is_empty() && name == OTHERS) {
            // Names beyond the limit are not stored: a locustfile may generate any number.
            return match self.others[kind] {
                Some(row) => row,
                None => *self.others[kind].insert(push(&mut self.list, OTHERS.into(), is_event)),
            };
        }
        let shown = if method.is_empty() { name.to_owned() } else { format!("{method} {name}") };
        let row = push(&mut self.list, shown, is_event);
        self.row_numbers[kind].entry(method.to_owned()).or_default().insert(name.to_owned(), row);
        row
    }
}

fn push(list: &mut Vec<RowName>, name: String, is_event: bool) -> u32 {
    list.push(RowName { is_event, name });
    // There are never more than 202.
    list.len() as u32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_one_method_one_name_and_one_kind() {
        let mut row_names = RowNames::default();
        let rows = [("GET", "/", false), ("POST", "/", false), ("GET", "/", true), ("", "a", true)];
        for _ in 0..2 {
            for (expected, (method, name, is_event)) in rows.into_iter().enumerate() {
                assert_eq!(row_names.row(method, name, is_event), expected as u32);
            }
        }
        let shown: Vec<_> =
            row_names.list().iter().map(|row_name| row_name.name.as_str()).collect();
        assert_eq!(shown, ["GET /", "POST /", "GET /", "a"]);
        assert!(!row_names.has_shared_row());
    }

    #[test]
    fn names_beyond_the_limit_share_a_row_of_their_kind() {
        let mut row_names = RowNames::default();
        for number in 0..MAX_ROWS {
            row_names.row("GET", &format!("/{number}"), false);
        }
        assert!(!row_names.has_shared_row());
        let pool = row_names.row("GET", "/one-more", false);
        assert_eq!(row_names.row("GET", "/another", false), pool);
        assert_eq!(row_names.row("", OTHERS, false), pool);
        assert_ne!(row_names.row("", "event", true), pool);
        assert_eq!(row_names.row("GET", "/7", false), 7);
        assert_eq!((row_names.list().len(), row_names.has_shared_row()), (MAX_ROWS + 2, true));
    }
}
