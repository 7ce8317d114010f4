//! The metrics of other tools for the same streams, by their definitions and names.
//!
//! A table has what the tools differ in, and one function computes from it what a tool says of a
//! stream. Tokens are by the server's count. `tests/other_tools.json` has what the tools' own code
//! says of recorded streams, and `scripts/other_tools` writes it.

use client::{Chunks, StreamObservation, UNSET};
use net::Nanos;
use serde_json::{Map, Value};

use super::definitions::{DEFINITIONS, Definition, Divisor, Formula, Moment, Unlike};
use super::tally::{StreamTally, Times, rate};
use crate::measure::metric::Metric;
use crate::plan::Alias;

/// What the definitions of one tool need of a stream.
struct Said<'a> {
    definition: &'static Definition,
    chunks: &'a Chunks,
    times: Times,
    end: Nanos,
    /// Generated tokens, where they are known.
    tokens: Option<u64>,
    /// Those of them that the chunks have.
    in_chunks: u64,
}

/// Returns an empty list of the chunks that a tool counts, by its number.
pub(crate) fn chunks_of(tool: usize) -> Chunks {
    let Definition { chunk, output, .. } = DEFINITIONS[tool];
    Chunks::new(tool, chunk, output)
}

impl StreamTally {
    /// Counts a stream that ended well as another tool does.
    pub(crate) fn accept_chunks(
        &mut self,
        observed: &StreamObservation,
        chunks: &Chunks,
        times: Times,
    ) {
        let Some(said) = Said::of(observed, chunks, times) else { return };
        let (formulas, metrics) = self.metrics_of(chunks.tool);
        for ((_, formula), metric) in formulas.iter().zip(metrics) {
            if let Formula::TokenGaps = formula {
                // The tokens of one chunk come together.
                let more = said.in_chunks.saturating_sub(said.chunks.number.max(1));
                (0..more.min(MOST_TOKENS)).for_each(|_| metric.record(0));
            } else if let Some(value) = said.value(*formula) {
                metric.record(value);
            }
        }
    }

    /// Counts gaps as another tool does.
    pub(crate) fn chunk_gaps(&mut self, chunks: &mut Chunks) {
        let tool = chunks.tool;
        let gaps = chunks.take_gaps();
        if gaps.len() == 0 {
            return;
        }
        let (formulas, metrics) = self.metrics_of(tool);
        let is_gaps = |formula: &Formula| matches!(formula, Formula::Gaps | Formula::TokenGaps);
        let all = formulas.iter().zip(metrics).find(|((_, formula), _)| is_gaps(formula));
        if let Some((_, metric)) = all {
            gaps.for_each(|gap| metric.record(gap));
        }
    }

    /// Returns the metrics of another tool by their names in its report; none if they were not asked for.
    pub fn of_alias(&self, alias: Alias) -> impl Iterator<Item = (&'static str, &Metric)> {
        let tool = alias as usize;
        let names = DEFINITIONS[tool].metrics.iter().map(|(name, _)| *name);
        names.zip(self.aliases.iter().skip(first_metric(tool)))
    }

    /// Returns the formulas of a tool, and its metrics among those of all tools.
    fn metrics_of(&mut self, tool: usize) -> (&'static [(&'static str, Formula)], &mut [Metric]) {
        if self.aliases.is_empty() {
            let all = DEFINITIONS.iter().map(|tool| tool.metrics.len()).sum();
            self.aliases.resize_with(all, Metric::default);
        }
        let formulas = DEFINITIONS[tool].metrics;
        let first = first_metric(tool);
        (formulas, &mut self.aliases[first..first + formulas.len()])
    }
}

/// Returns the position of a tool's first metric among those of all tools.
fn first_metric(tool: usize) -> usize {
    DEFINITIONS[..tool].iter().map(|tool| tool.metrics.len()).sum()
}

/// The most tokens of a stream whose gaps are counted: a server may report any number.
const MOST_TOKENS: u64 = 1 << 20;

impl<'a> Said<'a> {
    /// Returns none where the tool takes the stream for a failure.
    fn of(observed: &StreamObservation, chunks: &'a Chunks, times: Times) -> Option<Self> {
        let definition = &DEFINITIONS[chunks.tool];
        let end = if observed.end == UNSET { times.last_byte } else { observed.end };
        let reported = observed.usage.output;
        let tokens = if definition.unlike == Unlike::LastIsEnd {
            reported.or((chunks.number > 0).then_some(chunks.number))
        } else {
            reported
        };
        let is_failure = match definition.unlike {
            Unlike::Fails => chunks.number == 0,
            Unlike::LastIsEnd => chunks.first_output == UNSET && reported.unwrap_or(0) == 0,
            Unlike::FirstIsSent | Unlike::NeedsTwoTokens => false,
        };
        let in_chunks = tokens_in(chunks, observed);
        (!is_failure).then_some(Self { definition, chunks, times, end, tokens, in_chunks })
    }

    fn value(&self, formula: Formula) -> Option<u64> {
        match formula {
            Formula::Time(from, to) => self.span(from, to),
            Formula::TimePer(divisor, from, to) => {
                let tokens = self.divisor(divisor)?;
                let span = self.span(from, to)?;
                Some(span.checked_div(tokens).unwrap_or(0))
            }
            Formula::Rate(divisor, from, to) => {
                let span = self.span(from, to).filter(|span| *span > 0)?;
                self.divisor(divisor).map(|tokens| rate(tokens, span))
            }
            Formula::Gaps | Formula::TokenGaps => None,
        }
    }

    fn span(&self, from: Moment, to: Moment) -> Option<Nanos> {
        Some(self.at(to)?.saturating_sub(self.at(from)?))
    }

    fn at(&self, moment: Moment) -> Option<Nanos> {
        let (chunks, times, unlike) = (self.chunks, &self.times, self.definition.unlike);
        let is_too_short = unlike == Unlike::NeedsTwoTokens && self.in_chunks < 2;
        let at = match moment {
            Moment::Sent => times.from,
            Moment::First if chunks.number == 0 && unlike == Unlike::FirstIsSent => times.from,
            Moment::Last if chunks.number == 0 && unlike == Unlike::LastIsEnd => self.end,
            Moment::First | Moment::Last if is_too_short => UNSET,
            Moment::First => chunks.first,
            Moment::Second => chunks.second,
            Moment::FirstOutput => chunks.first_output,
            Moment::Last => chunks.latest,
            Moment::LastEvent => chunks.latest_event,
            Moment::End => self.end,
            Moment::LastByte => times.last_byte,
        };
        (at != UNSET).then_some(at)
    }

    /// Returns over how many tokens a time is divided; 0 where the tool then says 0.
    fn divisor(&self, divisor: Divisor) -> Option<u64> {
        let tokens = self.tokens?;
        match divisor {
            Divisor::All => Some(tokens).filter(|tokens| *tokens > 0),
            Divisor::AllOrZero => Some(tokens),
            Divisor::AllButOne => tokens.checked_sub(1).filter(|tokens| *tokens > 0),
            Divisor::AllButFirstChunk => {
                let more = tokens.checked_sub(1).filter(|tokens| *tokens > 0)?;
                let first = self.chunks.first_tokens.filter(|first| *first > 0);
                let later = first.and_then(|first| tokens.checked_sub(first));
                Some(later.filter(|tokens| *tokens > 0).unwrap_or(more))
            }
        }
    }
}

/// Returns the tokens of the texts of all chunks, one for each chunk where that is not known.
fn tokens_in(chunks: &Chunks, observed: &StreamObservation) -> u64 {
    let others = observed.usage.reasoning.unwrap_or(0).saturating_add(chunks.empty_texts);
    match observed.usage.output {
        Some(output) if !chunks.has_tool && chunks.number > 0 => {
            output.saturating_sub(others).max(chunks.number)
        }
        _ => chunks.number,
    }
}

/// Returns the metrics of other tools that the plan asks for.
pub(super) fn aliases(tally: &StreamTally) -> Option<(String, Value)> {
    let mut metrics = tally.aliases.iter();
    let mut tools = Map::new();
    for tool in &DEFINITIONS {
        let counted: Vec<_> = tool.metrics.iter().zip(metrics.by_ref()).collect();
        if counted.iter().any(|(_, metric)| metric.count() > 0) {
            let named =
                counted.iter().map(|((name, _), metric)| ((*name).to_owned(), metric.to_json()));
            tools.insert(tool.name.to_owned(), Value::Object(named.collect()));
        }
    }
    (!tools.is_empty()).then(|| ("alias".to_owned(), Value::Object(tools)))
}

#[cfg(test)]
mod tests {
    use wire::EventParts;

    use super::*;

    #[test]
    fn every_tool_has_its_row() {
        let tools =
            [Alias::Vllm, Alias::Aiperf, Alias::Sglang, Alias::Guidellm, Alias::InferencePerf];
        for (alias, row) in tools.into_iter().zip(&DEFINITIONS) {
            assert_eq!(serde_json::to_value(alias).unwrap(), row.name);
            assert_eq!(DEFINITIONS[alias as usize].name, row.name);
            assert!(row.chunk.meets(EventParts::CONTENT), "{}", row.name);
        }
        assert_eq!(tools.len(), DEFINITIONS.len());
    }
}
