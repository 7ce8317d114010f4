"""What /proc says of a machine, read to the tick."""

from torr.procfs.totals import Core, Interface, MachineTotals, Pressure, machine_totals


def test_cores_interfaces_and_pressure_are_read(proc):
    proc.machine((10, 1, 4, 50, 6, 2, 3, 5), (0, 0, 0, 9, 0, 0, 0, 0), lo=(77, 3), psi={"cpu": 250})
    found = machine_totals(proc.root)
    assert found.cores == {0: Core(56, 11, 4, 5, 5), 1: Core(9, 0, 0, 0, 0)}
    assert (found.cores[0].busy, found.cores[0].total) == (25, 81)
    assert found.network == {"lo": Interface(77, 3, 77, 3), "eth0": Interface(0, 0, 0, 0)}
    assert found.pressure == {"cpu": Pressure(250, 1.5, 0, 0.0)}


def test_a_machine_that_tells_nothing_has_nothing(tmp_path):
    assert machine_totals(tmp_path) == MachineTotals({}, {}, {})


def test_this_machine_tells_of_its_cores():
    found = machine_totals()
    assert found.cores
    assert all(core.total > 0 for core in found.cores.values())
    assert "lo" in found.network
