//! The text of `GET /metrics`, with the names of vLLM, in the format of Prometheus.

use std::fmt::Write;

use super::ask::MODEL;
use super::scheduler::{ENDS, Histogram, Snapshot};

/// The content type of the format.
pub(crate) const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Returns the metrics of a target.
pub(crate) fn text(snapshot: &Snapshot) -> String {
    let totals = &snapshot.totals;
    let mut page = Page::default();
    page.one("gauge", "num_requests_running", "Requests that run", snapshot.running as f64);
    page.one("gauge", "num_requests_waiting", "Requests that wait", snapshot.waiting as f64);
    page.one("gauge", "kv_cache_usage_perc", "KV cache in use; 1 is all of it", snapshot.kv_usage);
    for (name, help, value) in [
        ("prefix_cache_queries_total", "Tokens looked for in the cache", totals.cache_queries),
        ("prefix_cache_hits_total", "Tokens found in the cache", totals.cache_hits),
        ("num_preemptions_total", "Preemptions", totals.preemptions),
        ("prompt_tokens_total", "Tokens of prompts", totals.prompt_tokens),
        ("generation_tokens_total", "Generated tokens", totals.generation_tokens),
    ] {
        page.one("counter", name, help, value as f64);
    }
    page.head("counter", "request_success_total", "Requests that ended");
    for (reason, count) in ENDS.iter().zip(totals.ends) {
        let labels = format!(r#",finished_reason="{reason}""#);
        page.sample("request_success_total", &labels, count as f64);
    }
    let queue_help = "From the arrival of a request to its start";
    page.histogram("request_queue_time_seconds", queue_help, &totals.queue);
    let ttft_help = "From the arrival of a request to its first token";
    page.histogram("time_to_first_token_seconds", ttft_help, &totals.ttft);
    page.0
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn one(&mut self, kind: &str, name: &str, help: &str, value: f64) {
        self.head(kind, name, help);
        self.sample(name, "", value);
    }

    fn head(&mut self, kind: &str, name: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP vllm:{name} {help}.\n# TYPE vllm:{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: f64) {
        let _ = writeln!(self.0, r#"vllm:{name}{{model_name="{MODEL}"{labels}}} {value}"#);
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.head("histogram", name, help);
        let (bucket, mut count) = (format!("{name}_bucket"), 0);
        let bounds = histogram.bounds_s.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
        for (bound, times) in bounds.zip(&histogram.counts) {
            count += times;
            self.sample(&bucket, &format!(r#",le="{bound}""#), count as f64);
        }
        self.sample(&format!("{name}_count"), "", count as f64);
        self.sample(&format!("{name}_sum"), "", histogram.sum_ns as f64 / 1e9);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::scheduler::Totals;

    #[test]
    fn counts_have_the_names_of_vllm() {
        let mut totals = Totals::new();
        totals.cache_hits = 32;
        totals.ends = [4, 3, 2, 1];
        totals.ttft.add(30_000_000);
        totals.ttft.add(40_000_000);
        totals.ttft.add(9_000_000_000_000);
        let page = text(&Snapshot { running: 2, waiting: 1, kv_usage: 0.25, totals });
        for line in [
            "# TYPE vllm:num_requests_running gauge",
            r#"vllm:num_requests_running{model_name="torr-target"} 2"#,
            r#"vllm:num_requests_waiting{model_name="torr-target"} 1"#,
            r#"vllm:kv_cache_usage_perc{model_name="torr-target"} 0.25"#,
            "# TYPE vllm:prefix_cache_hits_total counter",
            r#"vllm:prefix_cache_hits_total{model_name="torr-target"} 32"#,
            r#"vllm:num_preemptions_total{model_name="torr-target"} 0"#,
            r#"vllm:request_success_total{model_name="torr-target",finished_reason="length"} 3"#,
            "# TYPE vllm:time_to_first_token_seconds histogram",
            r#"vllm:time_to_first_token_seconds_bucket{model_name="torr-target",le="0.02"} 0"#,
            r#"vllm:time_to_first_token_seconds_bucket{model_name="torr-target",le="0.04"} 2"#,
            r#"vllm:time_to_first_token_seconds_bucket{model_name="torr-target",le="+Inf"} 3"#,
            r#"vllm:time_to_first_token_seconds_count{model_name="torr-target"} 3"#,
            r#"vllm:time_to_first_token_seconds_sum{model_name="torr-target"} 9000.07"#,
            r#"vllm:request_queue_time_seconds_bucket{model_name="torr-target",le="0.3"} 0"#,
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }
}
