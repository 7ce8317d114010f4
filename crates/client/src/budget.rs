//! The memory that all responses in progress on one worker may take together.
//!
//! With a limit for each connection, many connections together could take any amount of memory. The
//! budget allocates nothing: an exchange reports what it holds after each read.

/// The maximum number of bytes of all exchanges of a worker, beyond what each may hold anyway.
pub const WORKER_BYTES: usize = 40 * 1024 * 1024;

/// The number of bytes that each exchange may hold without the budget: its buffers keep as much anyway.
pub const FREE_BYTES: usize = 64 * 1024;

/// The remaining memory of one worker.
#[derive(Debug)]
pub struct Budget {
    left: usize,
}

impl Budget {
    /// Creates a budget.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// Returns the remaining bytes.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left
    }

    /// Changes what an exchange has drawn to what `held` bytes need. Returns false, and changes nothing, if
    /// the budget does not have as much.
    pub(crate) fn draw(&mut self, drawn: &mut usize, held: usize) -> bool {
        let needed = held.saturating_sub(FREE_BYTES);
        let available = self.left + *drawn;
        if needed > available {
            return false;
        }
        self.left = available - needed;
        *drawn = needed;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_given_back_when_less_is_held() {
        let (mut budget, mut one, mut other) = (Budget::new(100), 0, 0);
        assert!(budget.draw(&mut one, FREE_BYTES + 70));
        assert!(!budget.draw(&mut other, FREE_BYTES + 31));
        assert_eq!((budget.left(), one, other), (30, 70, 0));
        assert!(budget.draw(&mut other, FREE_BYTES));
        assert!(budget.draw(&mut one, FREE_BYTES + 10));
        assert!(budget.draw(&mut other, FREE_BYTES + 90));
        assert_eq!((budget.left(), one, other), (0, 10, 90));
    }
}
