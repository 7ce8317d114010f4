//! Streams, and requests without an end.

use super::*;

#[test]
fn streams_are_counted_by_the_rules_of_streams() {
    let mut tally = started(false);
    let row = tally.row("POST", "/chat", false);
    let usage = Usage { output: Some(9), ..Usage::default() };
    let seen = StreamObservation {
        first_text: NOW + 500,
        texts: 2,
        usage,
        ..StreamObservation::default()
    };
    let gaps = [Gap { nanos: 30, joined: Joined::No }];
    let stream = Some((&seen, gaps.as_slice()));
    tally.record_request(row, &RequestRecord { stream, ..successful(NOW, NOW + 1_000) });
    let broken = failed(NOW, NOW + 1_000, Reason::StreamTruncated);
    tally.record_request(row, &RequestRecord { stream, ..broken });
    let (all, _) = aggregated(vec![tally], NOW + SECOND);
    let stream = &level_json(all.summary())["stream"];
    assert_eq!(
        (stream["ttft_ms"]["n"].as_u64(), stream["inter_chunk_ms"]["n"].as_u64()),
        (Some(1), Some(2))
    );
    assert_eq!((stream["tokens_out"].as_u64(), stream["from"].as_str()), (Some(9), Some("sent")));
    assert!(stream["tokens_per_s"].as_f64().unwrap() > 8.9);
}

/// Records a stream of 1,000 ns with its first text after 500, which the client then closed.
fn left(row: u32, tally: &mut RequestTally) {
    let seen = StreamObservation {
        first_text: NOW + 500,
        last_text: NOW + 700,
        texts: 2,
        ..StreamObservation::default()
    };
    let stream = Some((&seen, [].as_slice()));
    tally.record_request(
        row,
        &RequestRecord { stream, is_abandoned: true, ..successful(NOW, NOW + 1_000) },
    );
}

#[test]
fn a_stream_that_the_client_closed_has_no_end_time() {
    let mut tally = started(false);
    let row = tally.row("POST", "/chat", false);
    left(row, &mut tally);
    let (all, _) = aggregated(vec![tally], NOW + SECOND);
    let level = level_json(all.summary());
    let stream = &level["stream"];
    assert_eq!((level["counts"]["ok"].as_u64(), stream["abandoned"].as_u64()), (Some(1), Some(1)));
    assert_eq!(
        (stream["ttft_ms"]["n"].as_u64(), stream["tokens_unreported"].as_u64()),
        (Some(1), Some(0))
    );
    for name in ["e2e_ms", "stream_end_ms", "tpot_ms"] {
        assert_eq!(stream[name], Value::Null, "{name}");
    }
    assert_eq!(level["latency"]["service_ms"], Value::Null);
    assert_eq!(level["latency"]["ttfb_ms"]["n"], 1);
    assert_eq!(level["warnings"][0]["text"], "1 stream abandoned by the client before its end");
}

#[test]
fn reported_requests_that_have_not_ended_at_the_end_of_the_test_are_in_flight() {
    let mut tally = started(false);
    let row = tally.row("POST", "/chat", false);
    for start in [NOW, NOW + 1, NOW + 2, NOW + 2] {
        tally.record_open_request(row, start);
    }
    tally.remove_open_request(row, NOW + 1);
    tally.record_request(row, &successful(NOW + 1, NOW + 900));
    tally.remove_open_request(row, NOW + 7);
    let (all, intervals) = aggregated(vec![tally], NOW + SECOND);
    let level = level_json(all.summary());
    assert_eq!(
        (level["counts"]["attempted"].as_u64(), level["counts"]["ok"].as_u64()),
        (Some(4), Some(1))
    );
    assert_eq!(
        (level["counts"]["in_flight"].as_u64(), sum_of(&intervals, "attempted")),
        (Some(3), 4)
    );
}

#[test]
fn broken_streams_that_were_not_reported_are_added_up_over_processes() {
    let mut tallies = vec![started(false), started(false)];
    for (number, tally) in tallies.iter_mut().enumerate() {
        let row = tally.row("GET", "/", false);
        tally.record_request(row, &successful(NOW, NOW + 10));
        tally.set_unreported_streams(3);
        tally.set_unreported_streams(1_000 * number as u64 + 4);
    }
    let (all, _) = aggregated(tallies, NOW + SECOND);
    let warnings = level_json(all.summary())["warnings"].clone();
    assert_eq!(warnings[0]["code"], "warning.streams_unreported");
    assert_eq!(warnings[0]["values"]["n"], 1008);
    assert_eq!(all.summary().total().attempted, 2);
}

#[test]
fn intervals_have_the_maximum_of_users_in_their_time() {
    let mut tally = started(false);
    let mut all = aggregate();
    for (second, users) in [(0, 5), (1, 20), (2, 10)] {
        all.set_users(WALL + second * SECOND, users);
    }
    tally.end(NOW + 4 * SECOND);
    let mut intervals = all.add_report("one", tally.take_report(NOW + 4 * SECOND));
    intervals.extend(all.end(false));
    let users: Vec<_> =
        intervals.iter().map(|interval| interval["concurrency"].as_u64().unwrap()).collect();
    assert_eq!(users, [5, 20, 20, 10, 10]);
    assert_eq!(level_json(all.summary())["concurrency"], 20);
}
