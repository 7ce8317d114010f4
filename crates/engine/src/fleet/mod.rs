//! A load of several processes: a parent and its children, which send the requests.
//!
//! Each child receives its part of the plan, and replies with the reports of its workers; the coordinator
//! merges them as it merges those of threads. A child is a process or, through a socket, a node
//! ([`transport`]). Its greeting names its build; messages follow as frames ([`frame`], [`message`]). Times of
//! a node with another clock are translated when they arrive, and when they are sent ([`clock`]).

mod child;
mod clock;
mod event;
mod frame;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod greeting;
#[cfg(feature = "invented-nodes")]
mod invented;
mod launch;
mod message;
mod orders;
mod parent;
mod process;
mod rows;
mod transport;

pub use child::{serve, serve_on};
pub(crate) use event::{FleetEvent, Inbox, Loss};
#[cfg(feature = "invented-nodes")]
pub use invented::serve_invented;
pub(crate) use message::Figures;
pub(crate) use parent::{PreparingFleet, start_children, worker_count};
pub use transport::{ChildSocket, ChildTransport, EndChild, OrderStream, ReplyStream, SocketChild};
