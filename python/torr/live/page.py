"""What a browser is given: the page itself, and the run in the form that the page reads.

One door to the report's bundle, so that the server knows nothing of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from torr.report import sentence, trust

Json = dict[str, Any]

_UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_SCRIPT = """
const data = JSON.parse(document.getElementById("torr-data").textContent);
const events = new EventSource("events");
const say = (id, text) => { document.getElementById(id).textContent = text; };
const shown = (run) => say("sentence", run.view ? run.view.sentence : "");
for (const kind of ["run", "end"])
  events.addEventListener(kind, (event) => shown(JSON.parse(event.data)));
events.addEventListener("end", () => { events.close(); say("left", "over"); });
events.addEventListener("slice", (event) => {
  const { slice } = JSON.parse(event.data);
  say("rate", slice.ok_per_s === null ? "" : slice.ok_per_s.toFixed(1) + " ok/s");
});
events.addEventListener("progress", (event) => {
  const { left_s } = JSON.parse(event.data);
  say("left", left_s === null ? "" : left_s.toFixed(0) + " s left");
});
document.getElementById("stop").addEventListener("click", () => fetch("stop", {
  method: "POST", headers: { authorization: "Bearer " + data.live.token },
}));
"""


def run_of(result: Mapping[str, Any]) -> Json:
    """A run as the page reads it: the result without histograms of slices, and what it says."""
    levels = [
        {**level, "slices": [without_histograms(piece) for piece in level.get("slices") or ()]}
        for level in result["levels"]
    ]
    view = {
        "sentence": sentence.verdict(result),
        "trust": {"health": trust.health(result), "text": trust.trust(result)},
    }
    return {"result": {**result, "levels": levels}, "view": view}


def without_histograms(piece: Mapping[str, Any]) -> Json:
    """A slice as the page draws it."""
    return {key: value for key, value in piece.items() if key != "histograms"}


def document(data: Mapping[str, Any], title: str = "torr") -> str:
    """The page for its data."""
    text = json.dumps(data, ensure_ascii=False).translate(_UNSAFE)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{escape(title)}</title>"
        '<p id="sentence"></p><p><span id="rate"></span> <span id="left"></span></p>'
        '<button id="stop">Stop</button>'
        f'<script type="application/json" id="torr-data">{text}</script>'
        f"<script>{_SCRIPT}</script></html>"
    )
