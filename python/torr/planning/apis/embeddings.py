"""Embeddings of OpenAI and compatible servers: a batch of texts in, a vector for each out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.planning.apis.api import MADE_UP, ModelApi
from torr.planning.apis.body import batch, joined

if TYPE_CHECKING:
    from torr.options.stream import StreamOptions
    from torr.planning.apis.api import Body


def _write(_number: int, options: StreamOptions) -> Body:
    after: dict[str, Any] = {} if options.user is None else {"user": options.user}
    return joined({"model": options.model}, f'"input":{batch(options)}', after), ()


API = ModelApi(
    "embeddings",
    "/v1/embeddings",
    None,
    _write,
    takes=MADE_UP | {"model", "batch", "user", "unique_prefix"},
)
