//! Streams of a real target: each defect is counted exactly, and both sides agree on every event.

use std::collections::BTreeMap;

use engine::{
    Capture, CaptureFrom, Closed, Pace, Plan, RequestPlan, Source, Stop, StreamPlan, Tally, Timed,
};
use targets::{
    AnswerLength, Chance, ChatDialect, ChatSpec, Defect, Delay, Spec, Target, TargetCounts,
};
use wire::Dialect;

use super::{MS, PATIENCE_NS, at_once, balanced, run};

const DIALECTS: [ChatDialect; 2] = [ChatDialect::Openai, ChatDialect::Dify];

fn chat(dialect: ChatDialect, change: impl FnOnce(&mut ChatSpec)) -> Target {
    let mut spec = ChatSpec::new(dialect);
    spec.ttft = Delay::Constant { ns: 2 * MS };
    spec.itl = Delay::Constant { ns: MS };
    spec.tokens = AnswerLength::Constant { n: 6 };
    change(&mut spec);
    Target::start(Spec::Chat(spec)).unwrap()
}

/// A question in the words of the API, whose answer is watched.
fn question(target: &Target, dialect: ChatDialect) -> RequestPlan {
    use base64::Engine as _;
    let (path, body, stream) = match dialect {
        ChatDialect::Openai => (
            "/v1/chat/completions",
            r#"{"model":"m","messages":[{"role":"user","content":"one two"}],"stream":true,"stream_options":{"include_usage":true}}"#,
            Dialect::Openai,
        ),
        ChatDialect::Dify => (
            "/v1/chat-messages",
            r#"{"inputs":{},"query":"one two","response_mode":"streaming","user":"u"}"#,
            Dialect::Dify,
        ),
    };
    let url = format!("http://{}{path}", target.addr());
    RequestPlan {
        method: "POST".into(),
        body: Some(base64::engine::general_purpose::STANDARD.encode(body)),
        timeout_ns: 2 * PATIENCE_NS,
        stream: Some(StreamPlan { idle_timeout_ns: Some(PATIENCE_NS), ..StreamPlan::new(stream) }),
        ..RequestPlan::get(&url)
    }
}

fn fire(request: RequestPlan, requests: u64) -> Tally {
    let pace = Pace::Closed(Closed::new(4));
    let mut plan = Plan::new(pace, Source::One { request }, Stop::Requests { requests });
    plan.workers = 2;
    plan.drain_ns = 2 * PATIENCE_NS;
    balanced(&run(&plan))
}

fn stopped(target: &Target) -> TargetCounts {
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!(counts.ends.values().sum::<u64>(), counts.requests, "{counts:?}");
    let faults = counts.ends.get("fault").copied().unwrap_or_default();
    assert_eq!(counts.faults.values().sum::<u64>(), faults);
    counts
}

#[test]
fn whole_streams_are_ok_and_counted_to_the_token() {
    for dialect in DIALECTS {
        let target = chat(dialect, |_| ());
        let total = fire(question(&target, dialect), 40);
        let counts = stopped(&target);
        assert_eq!((total.ok, counts.answered, counts.calls["chat"]), (40, 40, 40));
        let stream = total.stream.unwrap();
        assert_eq!(stream.counted.tokens_out, 40 * 6);
        assert_eq!(stream.counted.tokens_in, 40 * 2);
        assert_eq!(stream.metric(Timed::InterChunk).count(), 40 * 5);
        assert_eq!(stream.metric(Timed::Ttft).count(), 40);
        // Nothing comes before it is due; how much later is for a quiet machine to say.
        assert!(stream.metric(Timed::Ttft).quantile(0.0) >= 2 * MS);
        assert!(stream.metric(Timed::E2e).quantile(0.0) >= 6 * MS);
        // The event that opens a stream comes before its first text.
        assert!(stream.metric(Timed::Ttfe).mean() < stream.metric(Timed::Ttft).mean());
    }
}

/// What a stream with this defect must end as.
fn expected(defect: Defect) -> &'static str {
    match defect {
        Defect::Error => "stream.error",
        Defect::Truncated => "stream.truncated",
        Defect::Stall => "timeout.idle",
        Defect::Endless => "timeout.body",
        Defect::Reset => "read.reset_in_body",
        Defect::Malformed => "stream.malformed",
        Defect::Compressed => "stream.compressed",
        Defect::Html => "stream.no_events",
    }
}

/// Whether only a timeout ends a stream with this defect.
fn is_silent(defect: Defect) -> bool {
    expected(defect).starts_with("timeout.")
}

#[test]
fn each_defect_that_is_not_silent_ends_in_one_class_and_is_counted_exactly() {
    let defects: Vec<_> = Defect::ALL.iter().filter(|defect| !is_silent(**defect)).collect();
    let chance = |defect: &&Defect| Chance { defect: **defect, share: 0.5 / defects.len() as f64 };
    let chances: Vec<_> = defects.iter().map(chance).collect();
    for dialect in DIALECTS {
        let target = chat(dialect, |spec| spec.defects.clone_from(&chances));
        let total = fire(question(&target, dialect), 160);
        let counts = stopped(&target);
        let met: u64 = counts.faults.values().sum();
        let wanted: BTreeMap<_, _> = defects
            .iter()
            .map(|defect| (expected(**defect).to_owned(), counts.faults[defect.name()]))
            .collect();
        assert_eq!(total.all_reasons(), wanted, "{dialect:?}");
        assert_eq!((total.ok, total.ended()), (160 - met, 160));
        assert_eq!(counts.answered, total.ok);
    }
}

#[test]
fn each_silent_defect_ends_by_its_timeout_beside_streams_that_end() {
    let silent = Defect::ALL.iter().copied().filter(|defect| is_silent(*defect));
    let cases = silent.flat_map(|defect| {
        DIALECTS.map(|dialect| (format!("{} {dialect:?}", defect.name()), (defect, dialect)))
    });
    at_once(cases, |(defect, dialect)| {
        let whole = chat(dialect, |_| ());
        let silent = chat(dialect, |spec| spec.defects = vec![Chance { defect, share: 1.0 }]);
        let mut impatient = question(&silent, dialect);
        // What an endless stream brings keeps it from standing still.
        let (idle_ns, timeout_ns) = match defect {
            Defect::Stall => (1_000 * MS, 2 * PATIENCE_NS),
            _ => (2_500 * MS, 4_000 * MS),
        };
        impatient.timeout_ns = timeout_ns;
        impatient.stream.as_mut().unwrap().idle_timeout_ns = Some(idle_ns);
        let requests = vec![question(&whole, dialect), impatient];
        let pace = Pace::Closed(Closed::new(10));
        let stop = Stop::Requests { requests: 20 };
        let mut plan = Plan::new(pace, Source::Turn { requests }, stop);
        plan.drain_ns = 2 * PATIENCE_NS;
        let total = balanced(&run(&plan));
        assert_eq!((total.ok, stopped(&whole).answered), (10, 10));
        assert_eq!(stopped(&silent).faults, BTreeMap::from([(defect.name(), 10)]));
        assert_eq!(total.all_reasons(), BTreeMap::from([(expected(defect).to_owned(), 10)]));
    });
}

#[test]
fn a_conversation_goes_on_with_what_the_server_called_it() {
    use base64::Engine as _;
    let target = chat(ChatDialect::Dify, |_| ());
    let capture = |from| Capture { name: "conversation".into(), from, what: String::new() };
    let mut first = question(&target, ChatDialect::Dify);
    first.captures = vec![capture(CaptureFrom::Conversation)];
    let mut second = first.clone();
    second.captures = Vec::new();
    (first.name, second.name) = ("first".into(), "second".into());
    let body = r#"{"inputs":{},"query":"go on","response_mode":"streaming","user":"u","conversation_id":"{{conversation}}"}"#;
    second.body = Some(base64::engine::general_purpose::STANDARD.encode(body));
    second.template = true;
    // The target names the conversation of each event after the one in its request.
    second.expect_body = vec![engine::BodyCheck::Regex {
        pattern: r#""conversation_id":"c0ffee00-0000-4000-8000-[0-9a-f]{12}""#.into(),
    }];
    let source = Source::Steps { requests: vec![first, second] };
    let pace = Pace::Closed(Closed::new(3));
    let plan = Plan::new(pace, source, Stop::Requests { requests: 30 });
    let total = balanced(&run(&plan));
    let counts = stopped(&target);
    assert_eq!((total.ok, counts.answered), (30, 30), "{:?}", total.all_reasons());
}
