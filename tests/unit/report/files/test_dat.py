import pytest
from hypothesis import given
from hypothesis import strategies as st

from torr.errors import FileError, UsageError
from torr.report.files import dat
from torr.results.series import LevelPoint
from torr.sources import dat_file
from torr.stats.series import Series


def read(tmp_path, text, name="apiserver.dat"):
    path = tmp_path / name
    path.write_text(text)
    return dat_file.read(path)


def test_writes_one_line_a_level_in_wrktests_columns(tmp_path, ladder):
    (path,) = dat.write(ladder, tmp_path)
    assert path == tmp_path / "apiserver.dat"
    assert path.read_text().splitlines()[:3] == [
        "10 1940.00 5.155 100",
        "20 3879.85 5.155 100",
        "50 9685.44 5.162 100",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["apiserver.dat"]


def test_levels_the_generator_limited_are_left_out(tmp_path, limited_ladder):
    (path,) = dat.write(limited_ladder, tmp_path)
    assert [line.split()[0] for line in path.read_text().splitlines()] == [
        *("10", "20", "50", "100", "200", "400")
    ]


def test_the_median_of_rounds_is_written(tmp_path, make_level, make_result):
    rounds = [make_level(5, rate, 1.0, round=n) for n, rate in enumerate((100.0, 900.0, 110.0), 1)]
    (path,) = dat.write(make_result("ladder", rounds), tmp_path)
    assert path.read_text() == "5 110.00 1 100\n"


def test_a_ladder_limited_everywhere_leaves_a_comment(tmp_path, make_level, make_result):
    levels = [make_level(5, 100.0, 1.0, verdict="generator-limited")]
    (path,) = dat.write(make_result("ladder", levels), tmp_path)
    assert path.read_text().startswith("# no level")


def test_a_level_without_an_ok_answer_survives_being_written_and_read(tmp_path):
    series = Series("a", (LevelPoint(5, 0.0, None, 0.0),))
    assert read(tmp_path, dat.text(series)).points == series.points


@given(
    st.lists(
        st.tuples(
            st.integers(1, 10**6),
            st.integers(0, 10**9),
            st.integers(0, 10**7),
            st.integers(0, 10**5),
        ),
        min_size=1,
        unique_by=lambda row: row[0],
    )
)
def test_a_series_survives_being_written_and_read(tmp_path_factory, rows):
    points = sorted(
        (LevelPoint(c, rate / 100, ms / 1000, share / 1000) for c, rate, ms, share in rows),
        key=lambda point: point.concurrency,
    )
    path = tmp_path_factory.mktemp("dat") / "a.dat"
    path.write_text(dat.text(Series("a", tuple(points))))
    assert dat_file.read(path) == Series("a", tuple(points))


def test_reads_wrktest_with_percent_signs_comments_and_blank_lines(tmp_path):
    series = read(
        tmp_path, "# c qps ms ok\n\n500 40000.5 12.5 99.98%\n 200 47812 4.33 100% # best\n"
    )
    assert series == Series(
        "apiserver", (LevelPoint(200, 47_812, 4.33, 100), LevelPoint(500, 40_000.5, 12.5, 99.98))
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("200 100 4.3", "3 columns where 4 were expected"),
        ("200 100 4.3 100 7", "5 columns where 4 were expected"),
        ("200 fast 4.3 100", "'fast' is not a number (ok/s)"),
        ("0 100 4.3 100", "'0' is not a number of connections"),
        ("2.5 100 4.3 100", "'2.5' is not a number of connections"),
        ("200 nan 4.3 100", "'nan' is not a number of ok/s"),
        ("200 -1 4.3 100", "'-1' is not a possible value (ok/s)"),
        ("200 1 inf 100", "'inf' is not a possible value"),
        ("1e308 1 4.3 100", "'1e308' is not a possible value (concurrency)"),
        ("200 1e308 4.3 100", "'1e308' is not a possible value (ok/s)"),
        ("200 1 4% 100", "'4%' is not a number"),
        ("200 1 4 115.66", "over 100 %"),
        ("10 1 1 100", "level 10 comes a second time"),
    ],
)
def test_a_broken_line_is_named_by_file_and_line(tmp_path, line, says):
    with pytest.raises(FileError) as caught:
        read(tmp_path, f"10 1 1 100\n# comment\n{line}\n")
    assert caught.value.message.startswith(f"{tmp_path}/apiserver.dat:3: ")
    assert says in caught.value.message


def test_a_file_without_levels_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="has no level"):
        read(tmp_path, "# nothing\n\n")


def test_a_missing_file_and_a_picture_are_errors_that_name_them(tmp_path):
    with pytest.raises(UsageError, match=r"a\.dat cannot be read: No such file"):
        dat_file.read(tmp_path / "a.dat")
    (tmp_path / "b.dat").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(UsageError, match="is not text"):
        dat_file.read(tmp_path / "b.dat")
