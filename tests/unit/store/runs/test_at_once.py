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

# Forked processes import nothing anew.
CODE = """
import sys
from multiprocessing import get_context
from stored_runs import text
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.store import Store

url, each, *firsts = sys.argv[1], *map(int, sys.argv[2:])
fork = get_context("fork")
together = fork.Barrier(len(firsts))

def write(first):
    together.wait()
    for turn in range(each):
        with Store.open(DatabaseUrl(url)) as store:
            run_id = store.register(text(number=first + turn, tags=["t", "u"]))
            store.annotate(run_id, add=[f"turn-{turn}"])

writers = [fork.Process(target=write, args=(first,)) for first in firsts]
for writer in writers:
    writer.start()
for writer in writers:
    writer.join()
sys.exit(any(writer.exitcode for writer in writers))
"""


def write(place, firsts):
    """Have a writer for each of `firsts`, the number of its first run, write all at once."""
    writers = subprocess.run(
        [sys.executable, "-c", CODE, place.url, str(EACH), *map(str, firsts)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
        timeout=600,
        check=False,
    )
    assert (writers.returncode, writers.stderr) == (0, "")


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
