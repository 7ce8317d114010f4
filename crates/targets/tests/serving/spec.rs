//! Specs: what is filled in, what is refused and in which words.

use targets::{BytesSpec, Delay, DelaySpec, Fault, FaultySpec, HelloSpec, Spec, Target};

#[test]
fn fills_in_what_is_left_out() {
    let host = || "127.0.0.1".to_owned();
    assert_eq!(
        read(r#"{"kind":"hello"}"#),
        Spec::Hello(HelloSpec { host: host(), port: 0, threads: 1, json: false })
    );
    assert_eq!(
        read(r#"{"kind":"bytes"}"#),
        Spec::Bytes(BytesSpec { host: host(), port: 0, threads: 1, size: 65_536, chunked: false })
    );
    let delay = Delay::Constant { ns: 5 };
    assert_eq!(
        read(r#"{"kind":"delay","delay":{"kind":"constant","ns":5}}"#),
        Spec::Delay(DelaySpec {
            host: host(),
            port: 0,
            threads: 1,
            delay,
            capacity: None,
            seed: 1,
            log: None
        })
    );
    let fault = Fault::Hang;
    assert_eq!(
        read(r#"{"kind":"faulty","fault":"hang"}"#),
        Spec::Faulty(FaultySpec { host: host(), port: 0, threads: 1, fault, share: 0.1, seed: 1 })
    );
}

#[test]
fn comes_back_as_it_was_written() {
    for text in [
        r#"{"kind":"hello","host":"::1","port":80,"threads":2,"json":true}"#,
        r#"{"kind":"bytes","host":"::1","port":80,"threads":2,"size":9,"chunked":true}"#,
        r#"{"kind":"delay","host":"::1","port":80,"threads":2,"delay":{"kind":"bimodal","fast_ns":1,"slow_ns":2,"slow_share":0.5},"capacity":3,"seed":4,"log":"x"}"#,
        r#"{"kind":"faulty","host":"::1","port":80,"threads":2,"fault":"status_503","share":0.5,"seed":4}"#,
    ] {
        assert_eq!(serde_json::to_string(&read(text)).unwrap(), text);
    }
}

#[test]
fn refuses_what_it_does_not_know() {
    for (text, message) in [
        (r#"{"kind":"teapot"}"#, "unknown variant `teapot`"),
        (r#"{"kind":"hello","size":1}"#, "unknown field `size`"),
        (r#"{"kind":"bytes","jsno":true}"#, "unknown field `jsno`"),
        (r#"{"kind":"delay"}"#, "missing field `delay`"),
        (r#"{"kind":"delay","delay":{"kind":"constant","ms":1}}"#, "unknown field `ms`"),
        (r#"{"kind":"faulty","fault":"sloth"}"#, "unknown variant `sloth`"),
        (r#"{"kind":"hello","port":70000}"#, "invalid value"),
    ] {
        let error = serde_json::from_str::<Spec>(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn names_the_key_that_is_out_of_range() {
    for (text, message) in [
        (r#"{"kind":"hello","threads":0}"#, "threads: 0 is not within 1 to 256"),
        (r#"{"kind":"bytes","size":1073741825}"#, "size: 1073741825 is not within 0 to 1073741824"),
        (r#"{"kind":"faulty","fault":"hang","share":1.5}"#, "share: 1.5 is not within 0 to 1"),
        (
            r#"{"kind":"delay","delay":{"kind":"constant","ns":1},"capacity":0}"#,
            "capacity: 0 is not within 1 to 18446744073709551615",
        ),
        (
            r#"{"kind":"delay","delay":{"kind":"constant","ns":3600000000001}}"#,
            "delay.ns: 3600000000001 is not within 0 to 3600000000000",
        ),
        (
            r#"{"kind":"delay","delay":{"kind":"bimodal","fast_ns":2,"slow_ns":1,"slow_share":0}}"#,
            "delay.fast_ns: 2 is not within 0 to 1",
        ),
        (
            r#"{"kind":"delay","delay":{"kind":"heavy","median_ns":1,"sigma":-1}}"#,
            "delay.sigma: -1 is not within 0 to 10",
        ),
    ] {
        let error = Target::start(read(text)).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn every_fault_is_read_by_its_name() {
    for &fault in Fault::ALL {
        let text = format!("\"{}\"", fault.name());
        assert_eq!(serde_json::from_str::<Fault>(&text).unwrap(), fault);
        assert!(!fault.meaning().is_empty());
    }
    assert_eq!(Fault::ALL.len(), 80);
}

fn read(text: &str) -> Spec {
    serde_json::from_str(text).unwrap()
}
