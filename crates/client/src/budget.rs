//! The memory that the answers under way on one worker may take, all together.
//!
//! A limit for each connection would let many connections together take any amount of memory. It
//! allocates nothing itself: an exchange reports what it holds after each read.

/// Bytes that the exchanges of one worker may hold together, beyond what each holds freely.
pub const WORKER_BYTES: usize = 40 * 1024 * 1024;

/// Bytes that each exchange holds without drawing on the budget: its buffers keep as much anyway.
pub const FREE_BYTES: usize = 64 * 1024;

/// What is left of the memory of one worker.
#[derive(Debug)]
pub struct Budget {
    left: usize,
}

impl Budget {
    /// A budget of so many bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// Bytes that nobody has drawn.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left
    }

    /// Changes what an exchange has drawn to what `held` bytes need; false, and nothing is changed,
    /// where the budget does not have as much.
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
