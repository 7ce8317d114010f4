"""Pages over a store of its own, served on loopback."""

from __future__ import annotations

import json

import pytest

from events import ask
from stored_runs import spoil, text
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.store import Store
from torr.webserver.history.app import app
from torr.webserver.server import HISTORY, ApplicationServer, ServerSocket


class Pages:
    """A store whose pages are served."""

    def __init__(self, place, url):
        self.place, self.url = place, url

    def keep(self, *levels, **more):
        """Keep a run; its id."""
        with Store.open(self.place) as store:
            return store.register(text(more.pop("name", "api"), *levels, **more))

    def spoil(self, run_id, **changes):
        spoil(self.place, run_id, **changes)

    def ask(self, path, **headers):
        return ask(self.url, path, **headers)

    def data(self, path, status=200):
        """What the page is given."""
        found, _, body = self.ask(path)
        assert found == status, body[:300]
        start = body.index('id="torr-data">') + len('id="torr-data">')
        return json.loads(body[start : body.index("</script>", start)])

    def stored(self, path, status=200):
        return self.data(path, status)["stored"]


@pytest.fixture
def pages(tmp_path):
    place = DatabaseUrl(f"sqlite:///{tmp_path}/runs.db")
    server_socket = ServerSocket("127.0.0.1", 0, HISTORY)
    made = app(lambda: Store.open(place), server_socket.access(), "baseline", None)
    server = ApplicationServer(made, server_socket).start()
    yield Pages(place, server_socket.url(server_socket.access()))
    server.stop()
