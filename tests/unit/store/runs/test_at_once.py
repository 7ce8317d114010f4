"""Several torrs write into one store at once, an empty one to begin with: nothing is lost."""

import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

import typed
from installed import wait_until
from stored_runs import result, text
from torr.store.runs.database import Database
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.schema import results, runs, tags
from torr.store.runs.store import Store
from torr.store.runs.stored_run import columns_of

WRITERS, EACH = 4, 4

CODE = """
import sys
import typed
from stored_runs import text
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.store import Store

url, first, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for turn in range(each):
    with Store.open(DatabaseUrl(url)) as store:
        run_id = store.register(text(number=first + turn, tags=["t", "u"]))
        store.annotate(run_id, add=[f"turn-{turn}"])
"""


def write(place, firsts):
    """Have a writer for each of `firsts`, the number of its first run, write all at once."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", CODE, place.url, str(first), str(EACH)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": ":".join(sys.path)},
        )
        for first in firsts
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n", writer.stderr.read()
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, err = writer.communicate(timeout=600)
        assert (writer.returncode, err) == (0, "")


@pytest.mark.parametrize("count", [1, WRITERS], ids=["one for all", "each its own"])
def test_every_run_of_every_writer_is_kept_once(place, count):
    write(place, [at % count * EACH for at in range(WRITERS)])
    with Store.open(place) as store:
        found = store.find()
        assert len(found) == len({run.uid for run in found}) == count * EACH
        assert all(len(run.tags) == 3 for run in found)
        assert all(store.result(run.id).id == run.uid for run in found)


def registered(connection):
    run_id = connection.execute(
        sa.insert(runs).values(**columns_of(typed.result(**result()), None)).returning(runs.c.id)
    ).scalar_one()
    packed = zlib.compress(text())
    connection.execute(sa.insert(results).values(run_id=run_id, json_zlib=packed))


def tagged(connection):
    connection.execute(sa.insert(tags).values(run_id=1, tag="t"))


MEANWHILE = {
    "registers it": (registered, lambda store: store.register(text())),
    "tags it": (tagged, lambda store: store.annotate(1, add=["t"])),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_whoever_does_what_another_is_just_doing_waits_and_succeeds(databases, what):
    """Of PostgreSQL, where two write at once; SQLite lets one writer in."""
    first, second = MEANWHILE[what]
    place = DatabaseUrl(databases.make())
    with Store.open(place) as store, ThreadPoolExecutor(1) as pool:
        if first is tagged:
            store.register(text())
        with Database.open(place).writing() as connection:
            first(connection)
            late = pool.submit(second, store)
            wait_until(lambda: late.done() or waiting(place))
        late.result()
        assert [run.tags for run in store.find()] == [("t",) if first is tagged else ()]


def waiting(place):
    """Whether somebody waits for a lock."""
    engine = sa.create_engine(place.url, poolclass=sa.NullPool)
    with engine.connect() as connection:
        query = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return connection.execute(query).scalar_one() > 0
