import json

import pytest

from versus import reading
from versus.reading import Said, UnreadableError

WRK = """Running 1s test @ http://127.0.0.1:18081/
  1 threads and 2 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   375.65us    1.02ms   8.13ms   89.95%
  Latency Distribution
     50%   27.00us
  50288 requests in 1.00s, 4.01MB read
{more}Requests/sec:  50152.79
"""
HEY = """
Summary:
  Total:\t1.0030 secs
  Requests/sec:\t21497.3618

Response time histogram:
  0.000 [1]\t|
  0.003 [19811]\t|■■■■

Status code distribution:
  [200]\t13847 responses
  [503]\t5856 responses

Error distribution:
  [12]\tGet "http://127.0.0.1:18081/": dial tcp 127.0.0.1:18081: connect: connection refused
"""
AB = """
Concurrency Level:      4
Time taken for tests:   1.000 seconds
Complete requests:      65190
Failed requests:        3
{more}Keep-Alive requests:    65190
"""
H2LOAD = """
finished in {time}, 54448.00 req/s, 4.47MB/s
requests: 54450 total, 54452 started, 54450 done, 54448 succeeded, 2 failed, 1 errored, 0 timeout
status codes: 54448 2xx, 0 3xx, 0 4xx, 0 5xx
"""
BOMBARDIER = {
    "spec": {"numberOfConnections": 4, "testType": "timed"},
    "result": {
        "timeTakenSeconds": 0.999,
        "req1xx": 0,
        "req2xx": 46698,
        "req3xx": 1,
        "req4xx": 2,
        "req5xx": 3,
        "others": 4,
    },
}
OHA = {
    "summary": {"successRate": 1.0, "total": 1.002},
    "statusCodeDistribution": {"200": 40439, "503": 10},
    "errorDistribution": {"aborted due to deadline": 4, "connection closed": 2},
}
VEGETA = {
    "duration": 990100784,
    "requests": 100,
    "status_codes": {"0": 3, "200": 90, "503": 7},
    "errors": ["503 Service Unavailable"],
}
LEVEL = {
    "attempted_per_s": 1000.0,
    "seconds": 2.0,
    "counts": {"ok": 1998, "errors": {"refused": 1, "timeout": 1}},
    "generator": {"cpu_s": 0.25},
}


@pytest.mark.parametrize(
    ("read", "output", "said"),
    [
        (reading.wrk, WRK.format(more=""), Said(50288, 1.0)),
        (
            reading.wrk,
            WRK.format(more="  Non-2xx or 3xx responses: 15189\n"),
            Said(50288, 1.0, 15189),
        ),
        (
            reading.wrk,
            WRK.format(more="  Socket errors: connect 1, read 2, write 0, timeout 4\n"),
            Said(50288, 1.0, 7),
        ),
        (reading.wrk, WRK.format(more="").replace("1.00s", "980.5ms"), Said(50288, 0.9805)),
        (reading.hey, HEY, Said(19703, 1.003, 5868)),
        (reading.ab, AB.format(more=""), Said(65190, 1.0, 3)),
        (reading.ab, AB.format(more="Non-2xx responses:      7\n"), Said(65190, 1.0, 10)),
        (reading.h2load, H2LOAD.format(time="1.01s"), Said(54450, 1.01, 2)),
        (reading.h2load, H2LOAD.format(time="999.50ms"), Said(54450, 0.9995, 2)),
        (reading.bombardier, json.dumps(BOMBARDIER), Said(46708, 0.999, 9)),
        (reading.oha, json.dumps(OHA), Said(40449, 1.002, 12)),
        (reading.vegeta, json.dumps(VEGETA), Said(100, 0.990100784, 10)),
        (reading.k6, '{"requests":64,"failed":1,"seconds":2.5}', Said(64, 2.5, 1)),
        (reading.torr, json.dumps({"levels": [LEVEL]}), Said(2000, 2.0, 2, 0.25)),
        (
            reading.bare,
            '{"requests": 10, "cpu_s": 0.5, "seconds": 1.5, "answer_bytes": 99}',
            Said(10, 1.5, 0, 0.5),
        ),
    ],
)
def test_reads_what_a_tool_says_that_it_did(read, output, said):
    assert read(output) == said


@pytest.mark.parametrize(
    "read",
    [reading.wrk, reading.hey, reading.ab, reading.h2load, reading.bombardier, reading.oha],
)
def test_a_tool_that_says_something_else_is_an_error(read):
    with pytest.raises(UnreadableError, match="unable to connect"):
        read("unable to connect to 127.0.0.1:18081 Connection refused")
