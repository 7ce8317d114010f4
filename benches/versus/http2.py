"""HTTP/2, gRPC and WebSocket: processor time per request and rate, over connections and streams."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from common.nghttpd import Nghttpd
from common.target import EchoListener, MessageListener
from versus.bars import Bar, judge_ratio
from versus.load import Load
from versus.row import Measured, Plan, in_turn
from versus.shot import Target, attempt
from versus.tools import ALL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from common.nginx import Nginx
    from versus.speed import Measure

BETWEEN_S = 0.2
TARGET_CORE = 1
OF_NGHTTPD = {1: 0.85, 10: 0.70, 100: 0.40}
OVER_NGINX = {1: 0.95, 10: 0.95, 100: 0.95}
OVER_TLS = {1: 0.75, 10: 0.95, 100: 1.05}
OVER_GHZ = 0.25
OVER_H2LOAD = 0.80
OVER_K6 = 0.10
COALESCE = "400us"
NGINX_CONNECTIONS = 16
OVER_16K = {1: 0.85, 10: 0.85, 100: 0.85}


def of_nghttpd(connections: int, streams: int) -> Measure:
    """Return the measure of a small response of nghttpd."""

    def measure(nginx: Nginx, plan: Plan) -> Measured:
        del nginx
        with Nghttpd(TARGET_CORE) as target:
            load = Load(target.url("/small"), connections, plan.seconds, streams=streams)
            return _measured(target, plan, load, {"h2load": OF_NGHTTPD[streams]}, "h2load")

    return measure


def of_nginx(path: str, streams: int, limit: float, *, tls: bool, coalesce: str = "") -> Measure:
    """Return the measure of a response of nginx; torr may send the requests of a time together.

    nginx answers small requests that come together for less. h2load collects them because it is
    always behind, so its rate is compared with that of torr when it collects them, too.
    """
    batching_decides = path == "/small" and streams > 1 and not coalesce
    rate_over = "" if batching_decides else "h2load"

    def measure(nginx: Nginx, plan: Plan) -> Measured:
        url = nginx.http2_url(path, secure=tls)
        load = Load(url, NGINX_CONNECTIONS, plan.seconds, streams=streams, coalesce=coalesce)
        return _measured(nginx, plan, load, {"h2load": limit}, rate_over)

    return measure


def of_grpc(connections: int, streams: int) -> Measure:
    """Return the measure of unary calls, against ghz and against h2load with a fixed body."""

    def measure(nginx: Nginx, plan: Plan) -> Measured:
        del nginx
        with EchoListener(TARGET_CORE) as target:
            load = Load(target.url, connections, plan.seconds, streams=streams, grpc=True)
            limits = {"ghz": OVER_GHZ, "h2load": OVER_H2LOAD}
            return _measured(target, plan, load, limits)

    return measure


def of_messages(connections: int, streams: int) -> Measure:
    """Return the measure of messages over WebSocket, against k6."""

    def measure(nginx: Nginx, plan: Plan) -> Measured:
        del nginx
        with MessageListener(TARGET_CORE) as target:
            url = target.url.replace("http:", "ws:")
            load = Load(url, connections, plan.seconds, streams=streams)
            # The loop has one message at a time on each connection.
            beside: dict[str, float | None] = {} if streams > 1 else {"bare": None}
            return _measured(target, plan, load, {"k6": OVER_K6, **beside})

    return measure


def _measured(
    target: Target,
    plan: Plan,
    load: Load,
    limits: Mapping[str, float | None],
    rate_over: str = "",
) -> Measured:
    """Measure torr and other tools; one without a limit stands beside them."""
    present, absent = plan.present([ALL["torr"], *(ALL[name] for name in limits)])
    measured = Measured(left_out=absent)
    for number in range(plan.rounds):
        for tool in in_turn(present, number):
            shot = attempt(tool, load, target, absent)
            measured.shots += [shot.kept(number)] if shot else []
            time.sleep(BETWEEN_S)
    bars = [Bar("torr", name, limit) for name, limit in limits.items() if limit is not None]
    bars += [Bar("torr", rate_over, 1.0, "≥", key="per_s")] if rate_over else []
    judged = [judge_ratio(bar, measured.shots) for bar in bars]
    measured.bars = [one for one in judged if one]
    return measured
