import signal

from torr import errors
from torr.errors import ExitCode, TorrError, exit_code


def test_every_error_ends_with_the_exit_code_of_its_family(tmp_path):
    assert exit_code(errors.MissedError("x")) == 1
    assert exit_code(errors.UsageError("x")) == 2
    assert exit_code(errors.FileError(tmp_path / "a.dat", 3, "x")) == 2
    assert exit_code(errors.OutputError("x")) == 2
    assert exit_code(errors.LevelError("x")) == 2
    assert exit_code(errors.ResultError("x")) == 2
    assert exit_code(errors.NothingMeasuredError("x")) == 3
    assert exit_code(errors.GeneratorLimitedError("x")) == 4
    assert exit_code(errors.InterruptedRunError("x")) == 130
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        error = errors.InterruptedRunError("x")
        error.signal_number = number
        assert exit_code(error) == 128 + number
    assert exit_code(KeyboardInterrupt()) is ExitCode.INTERRUPTED


def test_no_subclass_of_torr_error_lacks_an_exit_code():
    families = TorrError.__subclasses__()
    assert families
    for family in families:
        assert exit_code(family("x"))


def test_an_error_nobody_foresaw_is_a_defect():
    assert exit_code(ZeroDivisionError()) == 70


def test_a_message_carries_its_hint():
    assert (
        str(errors.UsageError("no scheme", "write http://…")) == "no scheme\nhint: write http://…"
    )
    assert str(errors.UsageError("no scheme")) == "no scheme"


def test_a_file_error_names_file_and_line(tmp_path):
    error = errors.FileError(tmp_path / "a.dat", 3, "4 columns were expected")
    assert error.message == f"{tmp_path}/a.dat:3: 4 columns were expected"
