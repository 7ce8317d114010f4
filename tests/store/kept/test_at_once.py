"""Several torrs write into one store at once, an empty one to begin with: nothing is lost."""

import subprocess
import sys

from torr.store.kept.store import Store

WRITERS, EACH = 4, 10

CODE = """
import sys
from kept import text
from torr.store.kept.place import Place
from torr.store.kept.store import Store

url, writer, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for turn in range(each):
    with Store.open(Place(url)) as store:
        number = writer * each + turn
        run_id = store.register(text(f"writer-{writer}", number=number, tags=["t"]))
        store.annotate(run_id, add=[f"turn-{turn}"])
"""


def test_every_run_of_every_writer_is_kept(place):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", CODE, place.url, str(number), str(EACH)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": ":".join(sys.path)},
        )
        for number in range(WRITERS)
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n", writer.stderr.read()
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, err = writer.communicate(timeout=120)
        assert (writer.returncode, err) == (0, "")
    with Store.open(place) as store:
        found = store.find()
        assert len({run.uid for run in found}) == WRITERS * EACH
        assert all(len(run.tags) == 2 for run in found)
        assert all(store.result(run.id)["id"] == run.uid for run in found)
