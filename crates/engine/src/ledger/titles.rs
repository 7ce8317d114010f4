//! What rows are called: one for each method and name, up to a limit; what is more shares one.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::prepare::OTHERS;

/// Rows with a name of their own.
pub(super) const MOST_ROWS: usize = 200;

/// What a row is called; exchanges come before events.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Title {
    /// Whether it tells of events that a locustfile fired by itself.
    pub(super) is_event: bool,
    /// As it is shown.
    pub(super) name: String,
}

/// The rows so far.
#[derive(Debug, Default)]
pub(super) struct Titles {
    list: Vec<Title>,
    /// By method and name: of exchanges, and of events.
    numbers: [HashMap<String, HashMap<String, u32>>; 2],
    /// The rows of what is too much.
    others: [Option<u32>; 2],
}

impl Titles {
    /// The row of a method, which may be empty, and a name.
    pub(super) fn row(&mut self, method: &str, name: &str, is_event: bool) -> u32 {
        let known = self.numbers[usize::from(is_event)].get(method);
        match known.and_then(|names| names.get(name)) {
            Some(row) => *row,
            None => self.deal(method, name, is_event),
        }
    }

    pub(super) fn list(&self) -> &[Title] {
        &self.list
    }

    /// Whether some rows are shared.
    pub(super) fn is_pooled(&self) -> bool {
        self.others.iter().any(Option::is_some)
    }

    fn deal(&mut self, method: &str, name: &str, is_event: bool) -> u32 {
        let side = usize::from(is_event);
        let own = self.list.len() - self.others.iter().flatten().count();
        if own >= MOST_ROWS || (method.is_empty() && name == OTHERS) {
            // Names beyond the limit are not kept: a file that makes them up has no end of them.
            return match self.others[side] {
                Some(row) => row,
                None => *self.others[side].insert(push(&mut self.list, OTHERS.into(), is_event)),
            };
        }
        let shown = if method.is_empty() { name.to_owned() } else { format!("{method} {name}") };
        let row = push(&mut self.list, shown, is_event);
        self.numbers[side].entry(method.to_owned()).or_default().insert(name.to_owned(), row);
        row
    }
}

fn push(list: &mut Vec<Title>, name: String, is_event: bool) -> u32 {
    list.push(Title { is_event, name });
    // There are never more than 202.
    list.len() as u32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_one_method_one_name_and_one_kind() {
        let mut titles = Titles::default();
        let rows = [("GET", "/", false), ("POST", "/", false), ("GET", "/", true), ("", "a", true)];
        for _ in 0..2 {
            for (expected, (method, name, is_event)) in rows.into_iter().enumerate() {
                assert_eq!(titles.row(method, name, is_event), expected as u32);
            }
        }
        let shown: Vec<_> = titles.list().iter().map(|title| title.name.as_str()).collect();
        assert_eq!(shown, ["GET /", "POST /", "GET /", "a"]);
        assert!(!titles.is_pooled());
    }

    #[test]
    fn names_beyond_the_limit_share_a_row_of_their_kind() {
        let mut titles = Titles::default();
        for number in 0..MOST_ROWS {
            titles.row("GET", &format!("/{number}"), false);
        }
        assert!(!titles.is_pooled());
        let pool = titles.row("GET", "/one-more", false);
        assert_eq!(titles.row("GET", "/another", false), pool);
        assert_eq!(titles.row("", OTHERS, false), pool);
        assert_ne!(titles.row("", "event", true), pool);
        assert_eq!(titles.row("GET", "/7", false), 7);
        assert_eq!((titles.list().len(), titles.is_pooled()), (MOST_ROWS + 2, true));
    }
}
