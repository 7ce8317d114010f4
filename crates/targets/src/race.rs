//! Waits for the first of two events.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Which of two futures was ready first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First<A, B> {
    Left(A),
    Right(B),
}

/// Returns the result of the future that is ready first, and drops the other; `left` if both are ready.
pub(crate) async fn race<A, B>(
    left: impl Future<Output = A>,
    right: impl Future<Output = B>,
) -> First<A, B> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|cx| {
        if let Poll::Ready(found) = left.as_mut().poll(cx) {
            return Poll::Ready(First::Left(found));
        }
        right.as_mut().poll(cx).map(First::Right)
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[test]
    fn the_first_one_wins_and_the_left_one_a_tie() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            assert_eq!(race(ready(1), ready(2)).await, First::Left(1));
            assert_eq!(race(pending::<u8>(), ready(2)).await, First::Right(2));
            assert_eq!(race(ready(1), pending::<u8>()).await, First::Left(1));
        });
    }
}
