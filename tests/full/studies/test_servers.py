"""Every server of the studies starts, answers as its matrix expects, and stops."""

from __future__ import annotations

import pytest

from installed import children_of, wait_until
from matrices import NAMES, candidates, read

TYPES = {
    "litefs": "text/plain; charset=utf-8",
    "proxy": "application/json; charset=utf-8",
    "healthz": "application/json; charset=utf-8",
}
SERVERS = [
    (study, each["name"]) for study in NAMES for each in candidates(read(study, "short.toml"))
]
DEPLOYMENTS = [name for study, name in SERVERS if study == "litefs"]
CLEAN = {0, -15}


def expected(study):
    return read(study, "short.toml")["expect"]["body"].encode()


@pytest.mark.parametrize(("study", "name"), SERVERS)
def test_a_server_answers_as_all_do_and_leaves_nothing_behind(start, study, name):
    server = start(study, name)
    answer = server.ask()
    assert (answer.status, answer.content_type) == (200, TYPES[study])
    assert answer.body == expected(study)
    assert server.stop() in CLEAN
    wait_until(server.is_gone)


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_deployment_with_four_workers_answers_the_same(start, name):
    server = start("litefs", name, processes=4)
    wait_until(lambda: len(children_of(server.process.pid)) >= 4)
    answers = [server.ask() for _ in range(20)]
    assert {answer.body for answer in answers} == {expected("litefs")}
    assert {answer.content_type for answer in answers} == {TYPES["litefs"]}
    assert server.stop() in CLEAN
    wait_until(server.is_gone)
