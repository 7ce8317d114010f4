"""Rerank, as Jina and Cohere have made it: documents are sorted by how well they fit a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.planning.apis.api import MADE_UP, ModelApi
from torr.planning.apis.body import QUERY, batch, joined

if TYPE_CHECKING:
    from torr.options.stream import StreamOptions
    from torr.planning.apis.api import Body


def _write(_number: int, options: StreamOptions) -> Body:
    texts = f'"query":"{QUERY}","documents":{batch(options)}'
    return joined({"model": options.model}, texts, {}), ()


API = ModelApi(
    "rerank",
    "/v1/rerank",
    None,
    _write,
    takes=MADE_UP | {"model", "batch", "unique_prefix"},
    has_query=True,
)
