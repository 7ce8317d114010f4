//! Doors for fuzzing into readers that are private. Nothing of torr calls them.

use client::{Exchange, Outline, Reason};
use wire::ResponseHead;

use crate::plan::RequestPlan;
use crate::prepare::observe::Observer;

pub use crate::fleet::fuzzing::read as read_frames;

/// What one request's answers are looked at for.
pub struct Look {
    observer: Observer,
    captures: usize,
}

impl Look {
    /// Compiles the checks and captures of a request; `None` where it has none.
    pub fn new(plan: &RequestPlan) -> Result<Option<Self>, String> {
        let names: Vec<_> = plan.captures.iter().map(|capture| capture.name.clone()).collect();
        let captures = names.len();
        let observer = Observer::new(plan, &names)?;
        Ok(observer.map(|observer| Self { observer, captures }))
    }

    /// Looks at a complete response; gives what was captured.
    pub fn look(&self, head: &[u8], body: &[u8]) -> Result<Vec<Vec<u8>>, Reason> {
        let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: 0 });
        let head = ResponseHead::read(head).ok().flatten().map(|(head, _)| head.into());
        (exchange.response_head, exchange.body) = (head, Some(body.to_vec()));
        let mut values = vec![Vec::new(); self.captures];
        self.observer.check(&exchange, &mut values, &mut 0).map(|()| values)
    }
}
