//! What is kept of each worker and process for the end, and for the case that it is lost.

use net::Nanos;

use crate::fleet::{Figures, Loss};
use crate::report::{Connections, Phase, Report};
use crate::summary::Generator;

/// What is known of a worker since its last report.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standing {
    pub(super) connections: Connections,
    pub(super) in_flight: u64,
    /// How far it came in the window.
    pub(super) window_ns: Option<Nanos>,
}

/// What one of several processes has used.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    cpu_at_start: Nanos,
    cpu_at_end: Nanos,
    latest: Figures,
}

impl Standing {
    pub(super) fn of(report: &Report) -> Self {
        // Before the window begins, what it took up for it has not been reported yet.
        let is_counted = matches!(report.phase, Phase::Measure | Phase::Drain);
        let in_flight = if is_counted { report.in_flight } else { 0 };
        let window = report.window.filter(|_| report.phase == Phase::Measure);
        let window_ns = window.map(|(start, end)| end.min(report.to).saturating_sub(start));
        Self { connections: report.connections, in_flight, window_ns }
    }
}

impl Cost {
    pub(super) fn take(&mut self, phase: Phase, figures: Figures) {
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

/// What became of a process, in words; a start that nobody knows yet lies ahead.
pub(super) fn loss_text(loss: &Loss, processes: u32, start: Nanos) -> String {
    let (number, how) = (loss.process + 1, &loss.how);
    let when = match loss.at.checked_sub(start) {
        #[allow(clippy::cast_precision_loss)]
        Some(nanos) => format!("{:.1} s after the window began", nanos as f64 / 1e9),
        None => "before the window".to_owned(),
    };
    format!(
        "engine process {number} of {processes} {how} {when}: its share of the load is missing from there on, and what it did since its last interval is not counted"
    )
}
