//! A door for fuzzing: everything that one process reads of another.

use super::greeting::Greeting;
use super::message::{ChildOrder, ChildReply};
use super::{frame, rows};

/// Reads frames to the end or to the first that is wrong, as the parent does, and as a
/// child does.
pub fn read(bytes: &[u8]) {
    let mut from = bytes;
    while let Ok(Some((reply, attached))) = frame::read::<ChildReply>(&mut from) {
        if !matches!(reply, ChildReply::Report { .. }) {
            continue;
        }
        if let Ok(read) = rows::from_bytes(&attached) {
            // What was read is written and read back the same.
            let again = rows::from_bytes(&rows::to_bytes(&read));
            assert_eq!(again.as_ref(), Ok(&read));
        }
    }
    let mut from = bytes;
    while let Ok(Some(_)) = frame::read::<ChildOrder>(&mut from) {}
    let mut from = bytes;
    if let Ok(Some(greeting)) = Greeting::read(&mut from) {
        let mut again = Vec::new();
        greeting.write(&mut again).expect("memory takes everything");
        assert_eq!(Greeting::read(&mut again.as_slice()).ok().flatten(), Some(greeting));
    }
}
