"""The page about `torr doctor` speaks of everything that it says."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import ip_address

from documents import ROOT
from examined import GOOD, MACHINE
from torr.experiments.diagnosis import findings
from torr.experiments.doctor import DiagnosedTarget
from torr.procfs.listeners import ListeningSocket
from torr.procfs.sockets import SocketHolder

PAGE = (ROOT / "docs/can-this-machine-measure.md").read_text(encoding="utf-8")


def test_every_line_has_its_place_in_the_page():
    listener = ListeningSocket(ip_address("::1"), 80, 0, 128, 5)
    place = DiagnosedTarget("localhost:80", True, ((listener, SocketHolder(7, "nginx", 1024)),))
    seen = replace(GOOD, machine=replace(MACHINE, quota=1.0), target=place)
    names = {finding.name for finding in findings(seen)}
    assert not names - set(re.findall(r"`([^`\n]+)`", PAGE))
