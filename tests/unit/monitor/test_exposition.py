"""Prometheus' text format: what is read, what is left out, what is passed over."""

import pytest

from torr.monitor.exposition import ExpositionReader, is_exposition

PAGE = r"""
# HELP http_requests_total The total.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{ path="C:\\DIR \"x\"\n", code="400" , } 3
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 1.5e+07
# TYPE lag_seconds histogram
lag_seconds_bucket{le="0.05"} 24054
lag_seconds_sum 53423
lag_seconds_count 144320
# TYPE gc summary
gc{quantile="0.5"} 4
gc_sum 17
queue_total 5 # {trace_id="a"} 1
strange NaN
endless +Inf
"""


def samples(*patterns):
    found = ExpositionReader(patterns).samples(PAGE)
    return [(sample.name, dict(sample.labels), sample.kind, sample.value) for sample in found]


def test_counters_and_gauges_are_read_with_their_labels():
    assert samples("http_*", "process_*") == [
        ("http_requests_total", {"method": "post", "code": "200"}, "counter", 1027.0),
        ("http_requests_total", {"path": 'C:\\DIR "x"\n', "code": "400"}, "counter", 3.0),
        ("process_resident_memory_bytes", {}, "gauge", 1.5e7),
    ]


def test_of_histograms_and_summaries_sums_and_counts_are_read():
    assert samples("lag_*", "gc*") == [
        ("lag_seconds_sum", {}, "counter", 53423.0),
        ("lag_seconds_count", {}, "counter", 144320.0),
        ("gc_sum", {}, "counter", 17.0),
    ]


def test_without_a_type_the_name_says_what_it_is():
    assert samples("queue_total", "strange", "endless") == [
        ("queue_total", {}, "counter", 5.0),
        ("strange", {}, "gauge", None),
        ("endless", {}, "gauge", None),
    ]


def test_the_order_is_that_of_the_patterns_and_no_series_comes_twice():
    names = [name for name, *_ in samples("process_*", "*_total", "http_*")]
    assert names[0] == "process_resident_memory_bytes"
    assert names.count("http_requests_total") == 2


@pytest.mark.parametrize("line", ["", "<html>", "{} 5", "name", "name{a=b} x", "# TYPE"])
def test_a_line_of_no_format_is_passed_over(line):
    assert ExpositionReader(("*",)).samples(f"{line}\nfine 1\n")[0].name == "fine"
    assert not is_exposition(line)


def test_a_page_with_one_number_is_of_the_format():
    assert is_exposition("# HELP x\nx 0\n")
