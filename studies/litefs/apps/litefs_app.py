"""LiteFS in its three deployments: its own server, ASGI and WSGI, one answer in all of them.

    TMPDIR=PRIVATE PORT=8001 WORKERS=4 python litefs_app.py
    uvicorn litefs_app:asgi --factory
    gunicorn 'litefs_app:wsgi()'

TMPDIR belongs to one start alone: LiteFS keeps the ids of its processes there, and ends at its next
start whatever has these ids then.
"""

from __future__ import annotations

import os
from typing import Any

from litefs.core import Litefs
from litefs.handlers import Response
from litefs.routing import get


@get("/", name="hello")
def hello(request: object) -> Response:  # noqa: ARG001, as LiteFS calls it
    """Answer what every candidate answers."""
    return Response.text("Hello world")


def app(**settings: Any) -> Litefs:  # noqa: ANN401, LiteFS gives no types
    """The application; without a `log` it would leave `default.log` behind."""
    made = Litefs(debug=False, log="/dev/null", **settings)
    made.register_routes(__name__)
    return made


def asgi() -> Any:  # noqa: ANN401
    """What uvicorn serves."""
    return app().asgi()


def wsgi() -> Any:  # noqa: ANN401
    """What gunicorn serves."""
    return app().wsgi()


if __name__ == "__main__":
    port, workers = int(os.environ["PORT"]), int(os.environ.get("WORKERS", "1"))
    app(host="127.0.0.1", port=port).run(processes=workers)
