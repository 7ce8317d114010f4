"""The block of both READMEs that a kept run fills: what a request costs each tool.

    python benches/versus/readme.py benches/versus/runs/RUN.json

A test compares the block with its run, so that neither goes stale.
"""

from __future__ import annotations

import json
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from versus.places import ROOT
from versus.report import names, not_measured
from versus.row import middle

COLUMNS = {
    "small-1": "1",
    "small-64": "64",
    "small-256": "256",
    "small-1000": "1,000",
    "16k-64": "16 KB",
    "64k-64": "64 KB",
    "tls-small-64": "TLS",
}
WIDTH = 105
# An address stays in one piece.
_WHOLE: Any = {"break_long_words": False, "break_on_hyphens": False}
BEGIN, END = "<!-- versus -->", "<!-- /versus -->"


@dataclass(frozen=True)
class Words:
    """What a block says, in one language."""

    page: str
    tool: str
    bare: str
    above: str
    late: str
    left_out: str
    bars: str
    missed: str
    figures: dict[str, str]
    """Descriptions of figures that miss their limits, by row and figure."""
    comma: str


WORDS = (
    Words(
        page="README.md",
        tool="tool",
        bare="*bare send and recv*",
        above=(
            "The table shows the processor time of the client per request, in µs: for a small "
            "response over 1, 64, 256 and 1,000 connections, and for responses of 16 KB, of 64 KB "
            "and over TLS with 64 connections. Each value is the median of {rounds} interleaved "
            "rounds on {processor}, with client and nginx on one core each. The row *bare send and "
            "recv* is a loop that parses only the first response, and records nothing."
        ),
        late=(
            "At a constant rate of 1,000/s, requests arrive at the target later than planned. The "
            "p99 of this lateness is: {tools}. For a bare loop that never sleeps it is {bare}."
        ),
        left_out="Left out: {names}.",
        bars=(
            "`benches/versus` contains {all} limits for torr, which were written before the run: "
            "for its cost compared with each other tool, and for its lateness, memory and start. "
            "torr meets {held} of them{missed}. [The run]({run}) has all values."
        ),
        missed=" and misses these: {names}",
        figures={
            "`templates-64` wrk-lua ÷ torr-templates": (
                "wrk with a Lua script costs {value:.2f} times as much as torr with templates "
                "(limit: at least {limit})"
            ),
            "`lag-1000` torr-spin: p99": (
                "with busy waiting (`--spin`), the p99 of the lateness is {value:.0f} µs at "
                "1,000/s (limit: {limit} µs)"
            ),
            "`lag-10000` torr-spin: p99": (
                "with busy waiting, it is {value:.0f} µs at 10,000/s (limit: {limit} µs)"
            ),
        },
        comma="; ",
    ),
    Words(
        page="README.zh-CN.md",
        tool="工具",
        bare="*只有 send 和 recv*",
        above=(
            "下表是客户端处理每个请求所用的处理器时间，单位 µs：小响应经 1、64、256、1,000 个连接；"
            "16 KB、64 KB 和 TLS 经 64 个连接。在 {processor} 上交错测量 {rounds} 轮，取中位数，"
            "客户端与 nginx 各占一个核。“只有 send 和 recv”一行是一个循环，"
            "它只解析第一个响应，不做记录。"
        ),
        late=(
            "以恒定速率 1,000/s 发送时，请求到达目标比计划晚。滞后的 p99 为：{tools}；"
            "从不休眠的同类循环为 {bare}。"
        ),
        left_out="未参加：{names}。",
        bars=(
            "`benches/versus` 中有测量之前为 torr 写下的 {all} 项限值：相对其他各工具的开销，"
            "以及滞后、内存和启动时间。torr 满足 {held} 项{missed}。所有数值见[测量记录]({run})。"
        ),
        missed="，未满足的是：{names}",
        figures={
            "`templates-64` wrk-lua ÷ torr-templates": (
                "使用 Lua 脚本的 wrk 的开销是使用模板的 torr 的 {value:.2f} 倍"
                "（限值：至少 {limit} 倍）"
            ),
            "`lag-1000` torr-spin: p99": (
                "用忙等待（`--spin`）以 1,000/s 发送时，滞后的 p99 为 {value:.0f} µs"
                "（限值：{limit} µs）"
            ),
            "`lag-10000` torr-spin: p99": (
                "用忙等待以 10,000/s 发送时为 {value:.0f} µs（限值：{limit} µs）"
            ),
        },
        comma="；",
    ),
)


def main() -> int:
    """Writes the block into both READMEs."""
    run = Path(sys.argv[1]).resolve()
    for words in WORDS:
        path = ROOT / words.page
        path.write_text(replaced(path.read_text(), block(json.loads(run.read_text()), run, words)))
    return 0


def replaced(text: str, new: str) -> str:
    """Return a page with another block."""
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        message = f"the page has no block between {BEGIN} and {END}"
        raise ValueError(message)
    return f"{before}{new}{after}"


def block(kept: dict[str, Any], run: Path, words: Words) -> str:
    """Return what the table shows, the table, and whether the bars hold."""
    rows = {one["name"]: one for one in kept["rows"] if one["name"] in COLUMNS}
    shown = [name for name in COLUMNS if name in rows]
    lines = [
        f"| {words.tool} | {' | '.join(COLUMNS[name] for name in shown)} |",
        f"| --- |{' ---: |' * len(shown)}",
        *(_line(tool, [rows[name] for name in shown], words) for tool in _order(rows, shown)),
    ]
    host = kept["host"]
    above = words.above.format(rounds=kept["rounds"], processor=host["processor"])
    said = [*_late(kept, words), _bars(kept, run, words)]
    if kept["left_out"]:
        said.append(words.left_out.format(names=", ".join(kept["left_out"])))
    below = (line for part in said for line in textwrap.wrap(part, WIDTH, **_WHOLE))
    return "\n".join([BEGIN, *textwrap.wrap(above, WIDTH, **_WHOLE), "", *lines, "", *below, END])


def _line(tool: str, rows: list[dict[str, Any]], words: Words) -> str:
    cells = [_cell(one, tool) for one in rows]
    cells = [f"**{cell}**" for cell in cells] if tool == "torr" else cells
    name = {"torr": "**torr**", "bare": words.bare}.get(tool, tool)
    return f"| {name} | {' | '.join(cells)} |"


def _cell(one: dict[str, Any], tool: str) -> str:
    if tool not in names(one):
        return "–"
    cost = middle(one["shots"], tool, "cpu_us")
    return f"{cost:.1f}" if cost < 100 else f"{cost:,.0f}"


def _late(kept: dict[str, Any], words: Words) -> list[str]:
    """The sentence on lateness, if the run has that row."""
    found = next((one for one in kept["rows"] if one["name"] == "lag-1000"), None)
    if found is None or not found["shots"]:
        return []
    p99 = {tool: middle(found["shots"], tool, "p99_us") / 1000 for tool in names(found)}
    late = {
        tool: f"{p99[tool]:{'.2g' if p99[tool] < 10 else ',.0f'}} ms"
        for tool in sorted(p99, key=lambda tool: p99[tool])
    }
    bare = late.pop("bare", None)
    late.pop("torr-spin", None)
    if bare is None:
        return []
    tools = ", ".join(f"{tool} {figure}" for tool, figure in late.items())
    return [words.late.format(tools=tools, bare=bare)]


def _order(rows: dict[str, dict[str, Any]], shown: list[str]) -> list[str]:
    """torr, then the limit, then the others, cheapest first in the row that most people want."""
    by = rows["small-64" if "small-64" in rows else shown[0]]
    others = [tool for tool in names(by) if tool not in ("torr", "bare")]
    return [tool for tool in ("torr", "bare") if tool in names(by)] + others


def _bars(kept: dict[str, Any], run: Path, words: Words) -> str:
    judged = [(one["name"], bar) for one in kept["rows"] for bar in one["bars"]]
    missed = {f"`{name}` {bar['name']}": bar for name, bar in judged if not bar["held"]}
    described = [
        words.figures.get(name, name).format(value=bar["value"], limit=bar["limit"])
        for name, bar in missed.items()
    ]
    described += [f"`{one['name']}`" for one, _ in not_measured(kept)]
    total = len(judged) + len(not_measured(kept))
    return words.bars.format(
        held=total - len(described),
        all=total,
        missed=words.missed.format(names=words.comma.join(described)) if described else "",
        run=run.with_suffix(".md").relative_to(ROOT),
    )


if __name__ == "__main__":
    sys.exit(main())
