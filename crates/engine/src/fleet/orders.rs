//! Orders to one child: a thread writes them, so that a child that reads nothing delays no other.

use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

use super::frame;
use super::launch::no_thread;
use super::message::ChildOrder;
use super::transport::OrderStream;
use crate::messages::Message;

/// The orders to a child, in the order in which they are sent.
#[derive(Debug, Clone)]
pub(super) struct Orders(Sender<ChildOrder>);

impl Orders {
    /// Starts the thread, which ends with the last sender, or when the child reads no more.
    pub(super) fn start(mut stream: OrderStream) -> Result<Self, Message> {
        let (sender, orders) = channel::<ChildOrder>();
        let body = move || {
            for order in orders {
                if frame::write(&mut stream, &order, &[]).is_err() {
                    // The reader of a child that is gone notices its end.
                    return;
                }
            }
        };
        let thread = Builder::new().name("torr-orders".into()).spawn(body);
        thread.map_err(no_thread)?;
        Ok(Self(sender))
    }

    /// Sends an order; returns whether the child still reads.
    pub(super) fn send(&self, order: ChildOrder) -> bool {
        self.0.send(order).is_ok()
    }
}
