//! One exchange alone on a simulated connection.

use client::{Connection, Exchange, Outcome, Scratch, Step};
use net::{Driver, Ready};

pub(crate) const WRITABLE: Ready =
    Ready { token: 0, readable: false, writable: true, closed: false };
pub(crate) const READABLE: Ready =
    Ready { token: 0, readable: true, writable: false, closed: false };

/// Begins the exchange, and sends what the socket accepts of its request.
pub(crate) fn begin<D: Driver>(
    driver: &mut D,
    connection: &mut Connection<D::Socket>,
    (exchange, request): (&mut Exchange, &[u8]),
    scratch: &mut Scratch,
) {
    connection.begin(0, &mut (&mut *exchange, request));
    assert_eq!(
        drive(driver, connection, (exchange, request), scratch, WRITABLE),
        Ok(Step::Pending)
    );
}

/// Handles an event; `Err` is the end of the exchange.
pub(crate) fn drive<D: Driver>(
    driver: &mut D,
    connection: &mut Connection<D::Socket>,
    (exchange, request): (&mut Exchange, &[u8]),
    scratch: &mut Scratch,
    event: Ready,
) -> Result<Step, Outcome> {
    let step = connection.drive(driver, event, &mut (exchange, request), scratch);
    scratch.ended.pop().map_or(Ok(step), |ended| Err(ended.outcome))
}
