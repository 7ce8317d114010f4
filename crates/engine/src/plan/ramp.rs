//! A number that changes with time: users that come and go, a rate that rises and falls.

use net::Nanos;

use super::Stage;

/// A function of time made of straight lines; zero before its start and after its end.
#[derive(Debug, Clone)]
pub(crate) struct Ramp {
    lines: Vec<RampLine>,
}

/// From one time to another the value goes evenly from one number to another.
#[derive(Debug, Clone, Copy)]
struct RampLine {
    from_ns: f64,
    to_ns: f64,
    from: f64,
    to: f64,
    /// The area under all lines before this one.
    before: f64,
}

impl RampLine {
    fn area(&self) -> f64 {
        (self.to_ns - self.from_ns) / 1e9 * f64::midpoint(self.from, self.to)
    }

    /// When the value is `level`; only asked for lines that reach it and are not level themselves.
    fn time_at(&self, level: f64) -> f64 {
        let share = (level - self.from) / (self.to - self.from);
        self.from_ns + share.clamp(0.0, 1.0) * (self.to_ns - self.from_ns)
    }

    /// When the area within this line is `area`.
    fn time_of_area(&self, area: f64) -> f64 {
        let (seconds, rise) = ((self.to_ns - self.from_ns) / 1e9, self.to - self.from);
        // The root of `from·t + rise·t²/(2·seconds) = area`, in the form that survives rise = 0.
        let root = (self.from * self.from + 2.0 * rise / seconds * area).max(0.0).sqrt();
        let time = if self.from + root > 0.0 { 2.0 * area / (self.from + root) } else { 0.0 };
        self.from_ns + time.clamp(0.0, seconds) * 1e9
    }
}

impl Ramp {
    /// The function of these stages, which starts at zero; `None` without stages.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn new(stages: &[Stage]) -> Option<Self> {
        let (mut at, mut value, mut before) = (0.0, 0.0, 0.0);
        let mut lines = Vec::with_capacity(stages.len());
        for stage in stages {
            let to_ns = at + stage.duration_ns as f64;
            let line = RampLine { from_ns: at, to_ns, from: value, to: stage.target, before };
            if stage.duration_ns > 0 {
                before += line.area();
                lines.push(line);
            }
            (at, value) = (to_ns, stage.target);
        }
        (!lines.is_empty()).then_some(Self { lines })
    }

    /// When the area under the function is `area`: the time of that arrival under a rate.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn time_of_area(&self, area: f64) -> Option<Nanos> {
        // The end is not included, whichever way the sums were rounded.
        let line = self.lines.iter().find(|line| area < line.before + line.area() - 1e-6)?;
        Some(line.time_of_area((area - line.before).max(0.0)) as Nanos)
    }

    /// The average over its whole length.
    pub(crate) fn mean(&self) -> f64 {
        let area: f64 = self.lines.iter().map(RampLine::area).sum();
        area / self.lines.last().map_or(1.0, |line| line.to_ns / 1e9)
    }

    /// The next time, from `now` on, in which the value lies above `level`: its start and its end.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    pub(crate) fn above(&self, level: f64, now: Nanos) -> Option<(Nanos, Nanos)> {
        let mut found: Option<(f64, f64)> = None;
        for line in self.lines.iter().filter(|line| line.to_ns > now as f64) {
            let (is_above, ends_above) = (line.from > level, line.to > level);
            let part = match (is_above, ends_above) {
                (true, true) => (line.from_ns, line.to_ns),
                (true, false) => (line.from_ns, line.time_at(level)),
                (false, true) => (line.time_at(level), line.to_ns),
                (false, false) => (line.to_ns, line.to_ns),
            };
            let is_part = part.1 > part.0 && part.1 > now as f64;
            match &mut found {
                None if is_part => found = Some((part.0.max(now as f64), part.1)),
                Some((_, end)) if is_part && part.0 <= *end => *end = part.1,
                Some(_) => break,
                None => {}
            }
        }
        found.map(|(from, to)| (from.ceil() as Nanos, to as Nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    fn ramp(stages: &[(u64, f64)]) -> Ramp {
        let stage = |(seconds, target): &(u64, f64)| Stage {
            duration_ns: seconds * SECOND,
            target: *target,
        };
        Ramp::new(&stages.iter().map(stage).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn arrivals_of_a_rising_rate_come_where_its_area_says() {
        // 0 → 100/s over 10 s: arrival k is due at √(k/5) seconds.
        let rising = ramp(&[(10, 100.0)]);
        for (number, seconds) in [(0, 0.0), (5, 1.0), (20, 2.0), (320, 8.0), (499, 9.989_995)] {
            let time = rising.time_of_area(f64::from(number)).unwrap();
            #[allow(clippy::cast_precision_loss)]
            let found = time as f64 / 1e9;
            assert!((found - seconds).abs() < 1e-6, "{number}: {found}");
        }
        assert_eq!(rising.time_of_area(500.0), None);
    }

    #[test]
    fn a_level_stage_is_a_constant_rate_and_a_zero_one_a_pause() {
        let pausing = ramp(&[(0, 10.0), (1, 10.0), (0, 0.0), (5, 0.0), (0, 10.0), (1, 10.0)]);
        let times: Vec<_> =
            (0..20).map(|number| pausing.time_of_area(f64::from(number)).unwrap()).collect();
        for (number, time) in (0..20).zip(times) {
            let pause = if number < 10 { 0 } else { 5 * SECOND };
            assert!(time.abs_diff(number * SECOND / 10 + pause) <= 2, "{number}: {time}");
        }
        assert_eq!(pausing.time_of_area(20.0), None);
    }

    #[test]
    fn users_come_when_the_line_passes_them_and_leave_when_it_falls_below() {
        // 0 → 10 in 10 s, 10 for 5 s, → 0 in 10 s, none for 5 s, → 10 in 10 s.
        let both = ramp(&[(10, 10.0), (5, 10.0), (10, 0.0), (5, 0.0), (10, 10.0)]);
        assert_eq!(both.above(0.0, 0), Some((0, 25 * SECOND)));
        assert_eq!(both.above(4.0, 0), Some((4 * SECOND, 21 * SECOND)));
        assert_eq!(both.above(4.0, 5 * SECOND), Some((5 * SECOND, 21 * SECOND)));
        assert_eq!(both.above(4.0, 21 * SECOND), Some((34 * SECOND, 40 * SECOND)));
        assert_eq!(both.above(10.0, 0), None);
        assert_eq!(both.above(4.0, 40 * SECOND), None);
    }

    #[test]
    fn without_stages_there_is_no_ramp() {
        assert!(Ramp::new(&[]).is_none());
    }
}
