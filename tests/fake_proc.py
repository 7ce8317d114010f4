"""A /proc of the test's own: processes that come, work, are waited for and go, to the tick."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass
class FakeProc:
    """Writes what the kernel would; numbers of CPU time are ticks."""

    root: Path
    lists_children: bool = True

    def process(self, pid, parent=1, *, cpu=0, waited=0, started=None, threads=(0,), **more):
        """A process as it is now; `threads` are the nanoseconds of each, `name` holds anything."""
        fields = [str(parent), "0", "0", "0", "0", "0", "0", "0", "0", "0"]
        fields += [str(cpu - cpu // 3), str(cpu // 3), str(waited), "0", "20", "0"]
        fields += [str(len(threads)), "0", str(pid * 10 if started is None else started)]
        fields += ["4096", str(more.get("pages", 10)), "0"]
        name = more.get("name", "a (b) c")
        folder = self.root / f"proc/{pid}"
        self._write(folder / "stat", f"{pid} ({name}) S {' '.join(fields)}\n")
        self._write(folder / "comm", f"{name}\n")
        self._write(folder / "status", f"Name:\tx\nCpus_allowed_list:\t{more.get('cores', '0')}\n")
        self._write(folder / "limits", "Limit\nMax open files            20000    20000  files\n")
        if "pss" in more:
            self._write(folder / "smaps_rollup", f"0-1 [rollup]\nPss:    {more['pss']} kB\n")
        shutil.rmtree(folder / "task", ignore_errors=True)
        for number, spent_ns in enumerate(threads):
            task = folder / f"task/{pid + number}"
            self._write(task / "schedstat", f"{spent_ns} 5 7\n")
            voluntary, involuntary = more.get("switches", (0, 0))
            self._write(
                task / "status",
                f"Name:\tx\nvoluntary_ctxt_switches:\t{voluntary}\n"
                f"nonvoluntary_ctxt_switches:\t{involuntary}\n",
            )
            if self.lists_children:
                self._write(task / "children", "")
        self._tell(parent, pid)

    def gone(self, pid):
        """It was waited for, or nobody wanted to."""
        shutil.rmtree(self.root / f"proc/{pid}")
        for task in self.root.glob("proc/*/task/*/children"):
            self._write(task, "".join(f"{n} " for n in task.read_text().split() if int(n) != pid))

    def machine(self, *cores, lo=(0, 0), psi=None):
        """Cores as user, nice, system, idle, iowait, irq, softirq, steal; `lo` bytes, packets."""
        lines = ["cpu  1 1 1 1 1 1 1 1 0 0"]
        lines += [f"cpu{n} {' '.join(map(str, core))} 0 0" for n, core in enumerate(cores)]
        self._write(self.root / "proc/stat", "\n".join([*lines, "intr 5 0 0", ""]))
        flow = f"{lo[0]} {lo[1]} 0 0 0 0 0 0 {lo[0]} {lo[1]} 0 0 0 0 0 0"
        text = f"Inter-|  Receive\n face |bytes\n    lo: {flow}\n  eth0: {' '.join('0' * 16)}\n"
        self._write(self.root / "proc/self/net/dev", text)
        for name, us in (psi or {}).items():
            some = f"some avg10=1.50 avg60=0.00 avg300=0.00 total={us}"
            self._write(self.root / f"proc/pressure/{name}", f"{some}\n")

    def _tell(self, parent, pid):
        told = self.root / f"proc/{parent}/task/{parent}/children"
        if self.lists_children and told.exists() and str(pid) not in told.read_text().split():
            self._write(told, f"{told.read_text()}{pid} ")

    def _write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
