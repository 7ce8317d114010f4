//! The usage of child processes, and the warning that one is lost.

use net::Nanos;

use crate::fleet::{Figures, Loss};
use crate::measure::report::Phase;
use crate::measure::summary::Generator;
use crate::messages::{
    LOST_IN_WARMUP, LOST_IN_WINDOW, LOST_ON_NODE_IN_WARMUP, LOST_ON_NODE_IN_WINDOW, Message,
};

/// The usage of a child process.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChildUsage {
    cpu_at_start: Nanos,
    cpu_at_end: Nanos,
    latest: Figures,
}

impl ChildUsage {
    pub(super) fn update(&mut self, phase: Phase, figures: Figures) {
        match phase {
            Phase::Warmup => {
                (self.cpu_at_start, self.cpu_at_end) = (figures.cpu_ns, figures.cpu_ns);
            }
            Phase::Measure => self.cpu_at_end = figures.cpu_ns,
            Phase::Drain | Phase::Over => {}
        }
        self.latest = figures;
    }

    pub(super) fn add_to(&self, generator: &mut Generator) {
        generator.cpu_ns += self.cpu_at_end.saturating_sub(self.cpu_at_start);
        generator.max_rss_bytes += self.latest.max_rss_bytes;
        if self.latest.descriptor_limit > 0 {
            generator.descriptor_limit =
                generator.descriptor_limit.min(self.latest.descriptor_limit);
        }
    }
}

/// The warning about a lost process, on another node if that is named; a start that is not known yet
/// lies ahead.
pub(super) fn loss_warning(
    loss: Loss,
    node: Option<&str>,
    processes: u32,
    start: Nanos,
) -> Message {
    let number = ("number", (loss.process + 1).into());
    let (processes, end) = (("processes", processes.into()), ("end", loss.end.into()));
    #[allow(clippy::cast_precision_loss)]
    let seconds = |nanos: Nanos| ("seconds", ((nanos as f64 / 1e8).round() / 10.0).into());
    match (loss.at.checked_sub(start), node) {
        (Some(nanos), None) => LOST_IN_WINDOW.message([number, processes, end, seconds(nanos)]),
        (None, None) => LOST_IN_WARMUP.message([number, processes, end]),
        (Some(nanos), Some(name)) => {
            let node = ("node", name.into());
            let values = [number, processes, node, end, seconds(nanos)];
            LOST_ON_NODE_IN_WINDOW.message(values)
        }
        (None, Some(name)) => {
            let node = ("node", name.into());
            LOST_ON_NODE_IN_WARMUP.message([number, processes, node, end])
        }
    }
}
