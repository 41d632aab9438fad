"""What the readers of other benchmarks make of their files, also of malformed ones."""

import json

import pytest
from ridgebench.base.files import ResultsError
from ridgebench.base.text import cut
from ridgebench.judge.command_session import CommandSession
from ridgebench.judge.readers import READERS, gbench_filter, gbench_plan
from ridgebench.judge.readings import Metric

TIME = Metric("real_time", is_time=True)


def read(kind: str, text, metric: Metric = TIME) -> dict:
    found = READERS[kind].parse(text if isinstance(text, str) else json.dumps(text), "FILE", metric)
    return {row.id: row for row in found.rows}


def entry(name="BM_x", value: object = 2.0, **more) -> dict:
    return {"name": name, "run_name": name, "run_type": "iteration", "real_time": value, "time_unit": "us"} | more


def gbench(*entries) -> dict:
    return read("gbench", {"benchmarks": list(entries)})


def test_the_best_repetition_counts_or_the_median():
    repeated = {"benchmarks": [entry(value=v, repetition_index=i, rate=v) for i, v in enumerate((3.0, 9.0, 1.0, 4.0))]}

    def found(name: str, **how) -> float:
        (row,) = read("gbench", repeated, Metric(name, **how)).values()
        return row.time_median_s

    assert found("real_time", is_time=True, best=True) == pytest.approx(1e-6)
    assert found("real_time", is_time=True) == pytest.approx(3.5e-6)
    assert found("rate", higher_is_better=True, best=True) == pytest.approx(1 / 9)
    assert found("rate", higher_is_better=True) == pytest.approx(1 / 3.5)


@pytest.mark.parametrize(
    ("times_us", "repetitions"),
    [([1.0] * 20, 71), ([2800.0] * 40, 36), ([1e5] * 4, 10), ([1e6] * 9, 3), ([1.0], 400)],
)
def test_repetitions_fill_four_seconds(times_us, repetitions):
    entries = [entry(f"BM_{i}", time) for i, time in enumerate(times_us)]
    seconds = repetitions * sum(max(time, 2800) for time in times_us) / 1e6
    text = json.dumps({"benchmarks": entries})
    assert gbench_plan(text, "FILE", None) == (repetitions, pytest.approx(seconds))
    assert gbench_plan(text, "FILE", ["BM_0"])[0] >= repetitions


def test_aggregates_count_where_nothing_else_was_printed():
    repeated = [entry(value=v, repetition_index=i) for i, v in enumerate((1.0, 9.0, 2.0))]
    aggregate = {"run_name": "BM_x", "run_type": "aggregate"}
    aggregates = [entry(f"BM_x_{kind}", 99, **aggregate, aggregate_name=kind) for kind in ("mean", "median")]
    rows = gbench(*repeated, *aggregates)
    assert list(rows) == ["BM_x"] and rows["BM_x"].time_median_s == pytest.approx(2e-6)
    assert gbench(*aggregates)["BM_x"].time_median_s == pytest.approx(99e-6), "where nothing else was printed"


@pytest.mark.parametrize(("unit", "seconds"), [("ns", 2e-9), ("us", 2e-6), ("ms", 2e-3), ("s", 2)])
def test_units_of_time(unit, seconds):
    assert gbench(entry(time_unit=unit))["BM_x"].time_median_s == pytest.approx(seconds)


def test_errors_and_skipped_rows_keep_their_message():
    failed = entry("a", 0, error_occurred=True, error_message="no file")
    rows = gbench(failed, entry("b", 0, skipped=True, skip_message="no AMX"))
    assert [(row.status, row.reason) for row in rows.values()] == [("failed", "no file"), ("skipped", "no AMX")]


def test_a_counter_that_is_nan_does_not_spoil_its_row():
    rows = read("gbench", '{"benchmarks": [{"name": "a", "real_time": 1, "x": NaN, "y": Infinity}]}')
    assert rows["a"].time_median_s == pytest.approx(1e-9)


def test_rows_that_lack_a_counter_are_skipped_where_others_have_it():
    rows = read("gbench", {"benchmarks": [entry("a", hits=3), entry("b")]}, Metric("hits"))
    assert [(row.status, row.reason) for row in rows.values()] == [("ok", None), ("skipped", "no hits")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"), ("{", "not JSON"), ("[]", "no object"), ("{}", "benchmarks is not a list"),
        ("[" * 100_000, "nested more than"), ('{"a": ' * 150 + "1" + "}" * 150, "no object of at most"),
        ({"benchmarks": [1]}, "benchmarks is not a list of objects"), ({"benchmarks": [{}]}, "without name"),
        ({"benchmarks": [entry(), entry()]}, "'BM_x' comes twice"),
        ({"benchmarks": [entry(time_unit="h")]}, "time_unit 'h'; allowed: s, ms, us, ns"),
        ({"benchmarks": [{"name": "a", "cpu_time": 1}]}, "no real_time in any row; allowed: real_time, cpu_time"),
    ],
)
def test_files_of_google_benchmark_that_are_none(text, said):
    with pytest.raises(ResultsError, match="^FILE: ") as error:
        read("gbench", text)
    assert said in str(error.value) and "\n" not in str(error.value) and len(str(error.value)) < 300


@pytest.mark.parametrize("value", [0, -1, "x", None, True, 10**400])
def test_a_value_that_no_benchmark_can_measure_fails_its_row_alone(value):
    rows = gbench(entry("a", value), entry("b"))
    told = "real_time is " + cut(repr(value), 60) + "; allowed: a number from 1e-300 to 1e+300"
    assert [(row.id, row.status, row.reason) for row in rows.values()] == [("b", "ok", None), ("a", "failed", told)]
    assert gbench(entry("a", 1), entry("a", value, repetition_index=1))["a"].status == "failed", "one repetition of two"


def test_a_metric_that_no_row_has_is_refused_though_a_row_failed():
    failed = entry("a", 0, error_occurred=True, error_message="no file")
    with pytest.raises(ResultsError, match="no hits in any row; allowed: real_time"):
        read("gbench", {"benchmarks": [failed, entry("b")]}, Metric("hits"))


def nvbench(summaries=None, **state) -> dict:
    told = [
        {"tag": tag, "data": [{"name": "value", "type": "float64", "value": value}]}
        for tag, value in (summaries or {}).items()
    ]
    states = [{"name": "Device=0 N=2^20", "summaries": told} | state]
    return {"devices": [{"name": "H100"}], "benchmarks": [{"name": "copy", "states": states}]}


def test_states_of_nvbench():
    mean, median = "nv/cold/time/gpu/mean", "nv/cold/time/gpu/median"
    only_mean = read("nvbench", nvbench({mean: "1e-5"}), Metric("time", is_time=True))
    assert only_mean["copy/Device=0 N=2^20"].time_median_s == pytest.approx(1e-5)
    both = read("nvbench", nvbench({mean: "1e-5", median: "2e-5"}), Metric("time", is_time=True))
    assert next(iter(both.values())).time_median_s == pytest.approx(2e-5)
    skipped = read("nvbench", nvbench(is_skipped=True, skip_reason="too large"), Metric("time", is_time=True))
    assert next(iter(skipped.values())).reason == "too large"
    broken = read("nvbench", nvbench({mean: "x"}), Metric("time", is_time=True))
    assert next(iter(broken.values())).reason == f"{mean} is 'x'; allowed: a number from 1e-300 to 1e+300"


@pytest.mark.parametrize(
    "text", ["{}", nvbench(), {"benchmarks": [], "devices": 3}]
)
def test_files_of_nvbench_that_are_none(text):
    with pytest.raises(ResultsError, match="^FILE: "):
        read("nvbench", text, Metric("time", is_time=True))


def test_columns_of_csv():
    text = 'name, value,unit\n"a,b",3,ms\n\n"a,b",1,ms\n"a,b",2,ms\nc,4,ms\n'
    rows = read("csv", text, Metric("value"))
    assert {name: row.time_median_s for name, row in rows.items()} == {"a,b": 2, "c": 4}
    assert read("csv", text, Metric("value", True))["c"].time_median_s == 0.25


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "FILE:1: column 'name' is missing; there are none"), ("a,b\n1,2\n", "FILE:1: column 'name' is missing; there are a, b"),
        ("name,b\n1,2\n", "FILE:1: column 'value' is missing"), ("name,value,value\na,1,2\n", "FILE:1: column 'value' comes twice"),
        ("name,value\na\n", "FILE:2: 1 columns"),
        ("name,value\n,1\n", "FILE:2: 2 columns; allowed: 2, with a name"), ('name,value\n"a,1\n', "no CSV"),
    ],
)
def test_tables_that_are_none(text, said):
    with pytest.raises(ResultsError) as error:
        read("csv", text, Metric("value"))
    assert said in str(error.value)


@pytest.mark.parametrize("value", ["x", "nan", "1e-320", "0", "-1", ""])
def test_a_line_without_a_number_fails_its_row_alone(value):
    rows = read("csv", f"name,value\nb,1\na,2\na,{value}\n", Metric("value"))
    assert [(row.id, row.status) for row in rows.values()] == [("b", "ok"), ("a", "failed")]
    assert rows["a"].reason == f"line 4: value is '{value}'; allowed: a number from 1e-300 to 1e+300"


def test_a_filter_lets_exactly_the_named_rows_pass():
    assert gbench_filter(["BM_a<int>/8", "b.c+(d)|e"]) == r"^(BM_a<int>/8|b\.c\+\(d\)\|e)$"
    assert gbench_filter(["x" * 200_000]) is None


@pytest.mark.parametrize(("first", "second", "noted"), [("debug", "debug", 1), ("release", "debug", 1), ("release", "release", 0)])
def test_a_debug_library_of_google_benchmark_is_noted(first, second, noted):
    session = CommandSession.__new__(CommandSession)
    session.reader = "gbench"
    hard, soft = session.differences({"library_build_type": first}, {"library_build_type": second}, [])
    assert hard == [] and len(soft) == noted and all("library_build_type" in text for text in soft)
