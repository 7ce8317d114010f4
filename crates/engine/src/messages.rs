//! Sentences that the engine writes into results: a code, typed values, and the English made of them.
//!
//! The table has every code with its English; Python has the words of other languages under the same
//! codes. Nothing from `worker/mod.rs` down makes a message while a load runs.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A sentence of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its place in the table, such as `health.saturated`.
    pub code: String,
    /// Numbers, texts and other messages at the placeholders of its templates.
    #[serde(with = "values_form")]
    pub values: Map<String, Value>,
    /// The English.
    pub text: String,
}

/// [`Message::values`] in JSON, and as a text of JSON in a form that cannot hold any type.
mod values_form {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::{Map, Value};

    pub(super) fn serialize<S: Serializer>(
        values: &Map<String, Value>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            return values.serialize(to);
        }
        serde_json::to_string(values).map_err(S::Error::custom)?.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Map<String, Value>, D::Error> {
        if from.is_human_readable() {
            return Map::deserialize(from);
        }
        serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// A code and its English: one template, or one for a single `{n}` and one for several.
///
/// Placeholders are `{name}`, and `{name:,}` for whole numbers in groups of three digits, as Python
/// has them.
#[derive(Debug, Clone, Copy)]
pub struct MessageTemplate {
    /// The code.
    pub code: &'static str,
    /// The templates.
    pub english: &'static [&'static str],
}

macro_rules! messages {
    ($($name:ident $code:literal $($english:literal)+;)+) => {
        $(#[doc = $code]
        pub const $name: MessageTemplate = MessageTemplate { code: $code, english: &[$($english),+] };)+
        /// All codes of the engine with their English.
        pub const MESSAGES: &[MessageTemplate] = &[$($name),+];
    };
}

messages! {
    PROCESS_LOST "health.process_lost"
        "an engine process died: a part of the load is missing, measure the level again";
    SATURATED "health.saturated"
        "a worker used its core fully: give the generator more cores (--workers) or another machine";
    LATE "health.late"
        "requests started late (scheduling lag p99 above 2 ms and above 10 % of the response time): lower the load or give the generator more cores";
    RUN_QUEUE "health.run_queue" "a worker waited for a core while others used it";
    NO_DESCRIPTOR "health.no_descriptor"
        "no file descriptor left (limit {limit:,}: ulimit -Hn, or --processes auto)";
    LOCUST_PROCESS_LOST "health.locust_process_lost"
        "a Locust process was lost, or does not run `torr locust`: its part of the load is not counted";
    LOCUST_SATURATED "health.locust_saturated"
        "a Locust process used its core fully: start more with --processes, or use another machine";
    LOCUST_LATE "health.locust_late"
        "ready greenlets waited for their turn more than 2 ms and more than 10 % of the response time: start more with --processes, or run fewer users in each";
    LOCUST_LATE_AND_IDLE "health.locust_late_and_idle"
        "ready greenlets waited for their turn more than 2 ms and more than 10 % of the response time while their process used less than half of a core. Avoid users that wake at the same time, and tasks that block the others";
    LOCUST_RUN_QUEUE "health.locust_run_queue"
        "a Locust process waited for a core while others used it";
    LOCUST_NO_DESCRIPTOR "health.locust_no_descriptor"
        "no file descriptor left (limit {limit:,}: ulimit -Hn, or more --processes)";
    LATE_STARTS "health.late_starts"
        "only {started:,} of {planned:,} planned requests could be started within the window: lower the rate or give the generator more cores";
    MISSING_CONNECTIONS "health.missing_connections"
        "only {open:,} of {asked:,} connections could be opened from this machine: {cause}";
    FAILED_DIALS "health.failed_dials"
        "{n:,} dial failed on this machine: {cause}"
        "{n:,} dials failed on this machine: {cause}";
    NO_PORT "health.no_port" "no local port left (limit: net.ipv4.ip_local_port_range)";
    NO_SOCKET_MEMORY "health.no_socket_memory" "no memory left for sockets";
    STEAL "health.steal"
        "the hypervisor took 5 % or more of this machine's time in a fifth of the intervals or more";
    THROTTLED "health.throttled" "the CPU quota of this process's cgroup limited it";
    BOTH_FULL "health.both_full" "generator and target both used their cores fully";
    ON_NODES "health.on_nodes" "on {nodes}: {reason}";
    ON_MANY_NODES "health.on_many_nodes" "on {nodes} and {more:,} more nodes: {reason}";

    SHARED_ROW "warning.shared_row"
        "{n:,} request shares the row {row}: {own:,} names have one each"
        "{n:,} requests share the row {row}: {own:,} names have one each";
    LOG_ENDS_EARLY "warning.log_ends_early" "the log ends early: {error}";
    TEXTS_END_EARLY "warning.texts_end_early" "the file of texts ends early: {error}";
    WAITED_FOR_ROWS "warning.waited_for_rows"
        "in {percent} % of the time, users had to wait until torr had read further requests of the trace: fewer were under way than users allow";
    UNUSED_ADDRESS "warning.unused_address"
        "{address} never accepted a connection and was not used";
    LOST_IN_WARMUP "warning.process_lost_before_window"
        "engine process {number} of {processes} {end} before the window. From then on its share of the load is missing, and its requests after its last interval are not counted";
    LOST_IN_WINDOW "warning.process_lost"
        "engine process {number} of {processes} {end} {seconds} s after the window began. From then on its share of the load is missing, and its requests after its last interval are not counted";
    LOST_ON_NODE_IN_WARMUP "warning.node_process_lost_before_window"
        "engine process {number} of {processes}, on {node}, {end} before the window. From then on its share of the load is missing, and its requests after its last interval are not counted";
    LOST_ON_NODE_IN_WINDOW "warning.node_process_lost"
        "engine process {number} of {processes}, on {node}, {end} {seconds} s after the window began. From then on its share of the load is missing, and its requests after its last interval are not counted";
    UNCERTAIN_CLOCK "warning.uncertain_clock"
        "the clock of {node} is known to {ms} ms only: times of its requests on the timeline and in the log may be wrong by that much";
    HTTP_CHOSEN "http.chosen" "the server chose HTTP/{version}";
    SERVER_STREAMS "http.server_streams"
        "the server allows {allowed:,} streams on a connection, fewer than --streams {asked:,}";
    SERVER_HEAD "http.server_head"
        "the server allows heads of {allowed:,} bytes, and the largest head of a request has {bytes:,}: the server may refuse it";
    COALESCED "http.coalesced"
        "requests were collected for up to {us} µs before they were sent, {each} in a write";
    STALLED "http.stalled"
        "connections could not send for {rate} % of their time: the server read too slowly, or its flow-control window was used up";
    UNCONFIRMED "websocket.unconfirmed"
        "the server did not confirm that it has read all messages of {n:,} connection"
        "the server did not confirm that it has read all messages of {n:,} connections";
    LOCUST_NO_REPORT "warning.locust_no_report"
        "{process} sent no report: it ended before its first one, or does not run `torr locust`";
    LOCUST_LOST "warning.locust_process_lost"
        "{process} did not report its end: its requests after its last report are not counted";
    STREAMS_ABANDONED "warning.streams_abandoned"
        "{n:,} stream abandoned by the client before its end"
        "{n:,} streams abandoned by the client before their end";
    STREAMS_UNREPORTED "warning.streams_unreported"
        "{n:,} stream broke, and the locustfile did not report it"
        "{n:,} streams broke, and the locustfile did not report them";
    SHARED_NAMES "warning.shared_names" "names beyond the first {most:,} share the row {row}";

    DIED "process.died" "died ({cause})";
    DIED_SAYING "process.died_saying" "died ({cause}: {line})";
    SIGNAL "process.signal" "signal {signal}";
    EXIT_CODE "process.exit_code" "exit code {code}";
    DISCONNECTED "process.disconnected" "closed its connection";
    SILENT "process.silent" "was silent for {seconds} s";
    END_UNKNOWN "process.end_unknown" "ended in an unknown way ({error})";
    NOT_STARTED "process.not_started" "could not start its load ({error})";
    UNREADABLE_REPLY "process.unreadable_reply" "sent a reply that cannot be read ({error})";
    LOST_A_WORKER "process.lost_a_worker" "lost a worker";

    WORKER_LOST "failure.worker_lost" "a worker of the engine ended without a report";
    NO_WAITING "failure.no_waiting" "a worker could not wait for its sockets: epoll: {error}";
    NO_THREAD "failure.no_thread" "cannot start a thread: {error}";
    SLOW_PREPARATION "failure.slow_preparation"
        "an engine process did not prepare its requests within {seconds} s";
    ALL_PROCESSES_LOST "failure.all_processes_lost" "no engine process is left: {last}";
    NO_ANSWER_IN_TIME "failure.no_answer_in_time" "no byte of a response came within {seconds} s";
    ROWS_ENDED_EARLY "failure.rows_ended_early" "the rows to send could not be read to their end: {error}";
    NO_ANSWER "failure.no_answer" "no byte of a response came in the whole level";
    NO_START "failure.no_start"
        "no request could start in the window: every request of the warm-up was still waiting for its response";
    NO_END_IN_TEST "failure.no_end_in_test" "no request ended in the whole test";
    NO_ANSWER_IN_TEST "failure.no_answer_in_test" "no byte of a response came in the whole test";

    UNREPORTED_TOKENS "goodput.unreported_tokens"
        "{n:,} response did not report its number of tokens"
        "{n:,} responses did not report their number of tokens";
}

impl MessageTemplate {
    /// The message with a value for each placeholder.
    #[must_use]
    pub fn message<const N: usize>(self, values: [(&str, Value); N]) -> Message {
        let values: Map<_, _> =
            values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let is_one = values.get("n").and_then(Value::as_u64) == Some(1);
        let english = if is_one { self.english.first() } else { self.english.last() };
        let text = filled(english.copied().unwrap_or_default(), &values);
        Message { code: self.code.to_owned(), values, text }
    }

    /// The message of a template without placeholders.
    #[must_use]
    pub fn plain(self) -> Message {
        self.message([])
    }
}

impl From<Message> for Value {
    fn from(message: Message) -> Self {
        let Message { code, values, text } = message;
        serde_json::json!({ "code": code, "values": values, "text": text })
    }
}

/// The template with its placeholders filled.
fn filled(template: &str, values: &Map<String, Value>) -> String {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, behind)) = rest.split_once('{') {
        let (placeholder, after) = behind.split_once('}').unwrap_or((behind, ""));
        let (name, format) = placeholder.split_once(':').unwrap_or((placeholder, ""));
        debug_assert!(values.contains_key(name), "no value for {name} of {template:?}");
        text += before;
        text += &values.get(name).map(|value| written(value, format)).unwrap_or_default();
        rest = after;
    }
    text + rest
}

fn written(value: &Value, format: &str) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(message) => {
            message.get("text").and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        Value::Number(number) if format == "," => grouped(number),
        _ => value.to_string(),
    }
}

/// Digits in groups of three.
fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_its_template_with_values_that_stay_numbers() {
        let cause = NO_PORT.plain();
        let message = MISSING_CONNECTIONS.message([
            ("open", 900.into()),
            ("asked", 1_234_567.into()),
            ("cause", cause.clone().into()),
        ]);
        assert_eq!(
            message.text,
            format!(
                "only 900 of 1,234,567 connections could be opened from this machine: {}",
                cause.text
            )
        );
        let value = json!(message);
        assert_eq!(value["code"], "health.missing_connections");
        assert_eq!(value["values"]["asked"], 1_234_567);
        assert_eq!(value["values"]["cause"]["code"], "health.no_port");
        assert_eq!(serde_json::from_value::<Message>(value).unwrap(), message);
    }

    #[test]
    fn one_and_several_have_a_template_each() {
        let dials = |n: u64| FAILED_DIALS.message([("n", n.into()), ("cause", "x".into())]).text;
        assert_eq!(dials(1), "1 dial failed on this machine: x");
        assert_eq!(dials(1000), "1,000 dials failed on this machine: x");
    }

    #[test]
    fn each_code_is_there_once() {
        let codes: BTreeSet<_> = MESSAGES.iter().map(|template| template.code).collect();
        assert_eq!(codes.len(), MESSAGES.len());
    }
}
