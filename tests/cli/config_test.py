"""--config: the command line wins over the file, the file over defaults, and environment.json has what was in force."""

import re

import pytest
from command_line import OK, ROOT, answer, environment, ids, read_environment, refused, ridgebench, strict_json

RUN = """# a run within a second
device = "sim"
filter = '^(relu|dot)/naive/(fp32|bf16)/'
budget = 0.7
seed = "1k"
no-early = true
no-plot = false
"""


@pytest.fixture(name="write")
def write_fixture(tmp_path):
    def write(text: str) -> str:
        (tmp_path / "my.toml").write_text(text)
        return str(tmp_path / "my.toml")

    return write


def test_the_command_line_wins_over_the_file_and_the_file_over_defaults(write, tmp_path):
    done = ridgebench("run", "--seed", "5", "--config", write(RUN), "--out", tmp_path / "run")
    assert done.returncode == OK, done.stderr
    stored = read_environment(tmp_path / "run")
    assert (stored["seed"], stored["budget_s"], stored["early_launches"]) == (5, 0.7, False)
    assert stored["filter"] == "^(relu|dot)/naive/(fp32|bf16)/" and stored["profile"] == "quick"


@pytest.mark.parametrize("given", ["--config {}", "--config={}"])
def test_the_recorded_words_repeat_the_run_without_the_file(given, write, tmp_path):
    config = write(RUN + "op = ['relu', 'dot']\n")
    ridgebench("run", *given.format(config).split(), "--out", tmp_path / "first")
    words = read_environment(tmp_path / "first")["command_line"]
    assert words[1:] == [
        "run", "--device=sim", "--filter=^(relu|dot)/naive/(fp32|bf16)/", "--budget=0.7", "--seed=1k", "--no-early",
        "--op=relu", "--op=dot", "--out", str(tmp_path / "first"),
    ]  # fmt: skip
    assert ridgebench(*words[1:-1], tmp_path / "again").returncode == OK
    first, again = (read_environment(tmp_path / name) for name in ("first", "again"))
    same = ("seed", "filter", "budget_s", "early_launches", "profile", "names")
    assert [first.get(key) for key in same] == [again.get(key) for key in same]
    assert ids(tmp_path / "first") == ids(tmp_path / "again")


def test_a_duel_records_its_words(write, tmp_path):
    config = write('techniques = ["naive", "naive"]\nop = "relu"\nformat = "fp32"\nshape = "4k"\nseconds = 2\ndevice = "sim"\n')
    assert ridgebench("duel", "--config", config, "--out", tmp_path / "duels").returncode == OK
    words = read_environment(tmp_path / "duels")["command_line"]
    assert words[2:-2] == ["naive", "naive", "--op=relu", "--format=fp32", "--shape=4k", "--seconds=2", "--device=sim"]


SECTIONS = """
[predict]
operation = "relu"
shape = "n:64"
format = "bf16"
on = "h100-sxm"
[predict.table]
n = "1k"
on = "h200"
[predict.model]
model = "gpt-2"
on = "h200"
[plan.einsum]
expression = "bd,dk->bk"
size = ["b=8", "d=4,k=2"]
[plan.transfer]
bytes = "140G"
link = "50G"
"""


def test_each_command_takes_its_section(write):
    config = write(SECTIONS)
    assert answer("predict", "--config", config) == answer("predict", "relu", "n:64", "--format", "bf16", "--on", "h100-sxm")
    assert answer("predict", "table", "--config", config) == answer("predict", "table", "--n", "1000", "--on", "h200")
    assert answer("predict", "model", "--config", config) == answer("predict", "model", "gpt-2", "--on", "h200")
    assert answer("plan", "einsum", "--config", config) == answer("plan", "einsum", "bd,dk->bk", "--size", "b=8,d=4,k=2")
    assert answer("plan", "transfer", "--config", config, "--bytes", "1G")["inputs"]["bytes"] == 1e9


GOLDEN = ROOT / "tests" / "data" / "golden_results"


def test_the_commands_in_python_take_their_section(write):
    config = write("[export]\ncsv = true\nmd = false\n[run]\nseed = 1\n")
    assert ridgebench("export", "--config", config, GOLDEN).stdout == ridgebench("export", GOLDEN, "--csv").stdout != ""
    assert ridgebench("export", GOLDEN, f"--config={config}", "--csv").returncode == OK  # given as well
    assert answer("info", "--config", config)["schema"] == "urn:ridgebench:info:1"  # which has another section


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("cvs = true", ("key 'cvs' is not an option of export", "allowed: csv, md")),
        ("config = 'other.toml'", ("key 'config' is not an option of export",)),
        ("csv = 'yes'", ("key 'csv' is 'yes'", "true or false")),
        ("out = true", ("key 'out' is True", "FILE")),
        ("csv = true\n[export]\ncsv = true", ("key 'csv' is given twice",)),
        ("export = 1", ("key 'export' has a value", "[export]")),
        ("csv", ("no TOML", "line 1")),
    ],
)
def test_a_wrong_file_of_a_command_in_python(text, parts, write):
    config = write(text + "\n")
    done = ridgebench("export", GOLDEN, "--config", config)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert all(part in done.stderr for part in (f"export: {config}", *parts))


def test_a_gate_leaves_the_option_to_the_commands_that_it_runs():
    assert "--config" not in ridgebench("gate", "--help").stdout
    assert "--config FILE" in ridgebench("plot", "--help").stdout and "--config FILE" in ridgebench("baseline", "check", "--help").stdout


@pytest.mark.parametrize(("text", "parts"), [
    ("; a comment\n[info]\non = 'h100-sxm'\n", ("'; a comment' is not TOML", "allowed: a comment after #")),
    ("on = h100-sxm\n", ("key 'on' is h100-sxm, without quotes", "allowed: a text in quotes")),
    ("[info]\non=h100-sxm  # a sheet\n", ("key 'on' is h100-sxm, without quotes",)),
    ("[run]\nop = ['relu', gelu]\n", ("key 'op' is gelu, without quotes",)),
    ("[run]\nbudget = 10k\n", ("key 'budget' is 10k, without quotes",)),
    ("[run]\nfilter =\n", ("key 'filter' has no value", "allowed: KEY = VALUE on one line")),
    ("[run]\nfilter = # all\n", ("key 'filter' has no value",)),
    ("on\n", ("key 'on' has no value",)),
])
def test_ini_is_refused(text, parts, write):
    refused(ridgebench("info", "--config", write(text)), "my.toml", *parts)


def test_a_section_of_a_python_command_is_read_by_it_only(write):
    config = write("on = 'h200'\n[export]\ncsv\n")
    assert answer("info", "--config", config) == answer("info", "--on", "h200")


def test_numbers_and_comments_of_toml_are_read(write):
    config = write("# a size\nn = 1e3  # 'k' or \"M\" = none\n")
    assert answer("predict", "table", "--on", "h200", "--config", config) == answer("predict", "table", "--on", "h200", "--n", "1000")


def test_the_drawing_on_a_terminal_takes_a_file(write):
    drawn = ridgebench("plot", "--terminal", "--config", write("on = 'h100'\nascii = true\n"))
    assert drawn.returncode == OK and drawn.stdout == ridgebench("plot", "--terminal", "--on", "h100", "--ascii").stdout


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("devise = 'cpu'", ("key 'devise' is not an option of run", "allowed: device", "resume")),
        ("spent = 3", ("key 'spent' is not an option of run",)),  # hidden
        ("config = 'other.toml'", ("key 'config' is not an option of run",)),
        ("help = true", ("key 'help' is not an option of run",)),
        ("[rnu]\nseed = 1", ("section [rnu] names no command", "[run]")),
        ("[plan.trian]\nmfu = 1", ("section [plan.trian] names no command",)),
        ("[plan.train]\nmuf = 1", ("key 'muf' is not an option of plan train", "allowed: parameters", "mfu")),
        ("seed = 1\nfill = 'zeros'\nseed = 2", ("key 'seed' is given twice",)),
        ("device = 'cpu", ("key 'device' has a quote that is not closed",)),
        ("some words", ("key 'some words' is not an option of run",)),
        ("dry-run = 'maybe'", ("key 'dry-run' is 'maybe'", "true or false")),
        ("profile = 'huge'", ("'huge'", "quick, standard", "my.toml sets --profile")),
        ("seed = -1\nfill = 'zeros'", ("--seed", "whole number", "my.toml sets --seed")),
        ("seed = [1, 2]", ("--seed", "my.toml sets --seed")),
        ("retry = true", ("--retry requires --resume", "my.toml sets --retry")),
    ],
)
def test_a_wrong_file_is_one_line_with_file_and_key(text, parts, write, tmp_path):
    config = write(text + "\n")
    refused(ridgebench("run", "--config", config, "--out", tmp_path / "run"), config, *parts)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["missing.toml", "."])
def test_a_file_that_cannot_be_read(name, tmp_path):
    refused(ridgebench("info", "--config", name, cwd=tmp_path), f"--config {name} cannot be read", "allowed: a file")


def test_no_file_is_read_unless_it_is_named(tmp_path):
    for name in ("ridgebench.toml", ".ridgebench.toml", "config.toml", "ridgebench.ini", "config.ini", ".config/ridgebench.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("on = 'h100-sxm'\n")
    done = ridgebench("info", "--json", cwd=tmp_path, env=environment(HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path)))
    assert "data_sheets" in strict_json(done.stdout)


def test_every_command_with_options_takes_a_file():
    commands = [["doctor"], ["info"], ["list"], ["run"], ["duel"], ["number"]]
    commands += [["predict"], ["predict", "model"], ["predict", "table"]]
    commands += [["plan", found] for found in re.findall(r"^  (\w+) ", ridgebench("plan", "--help").stdout, re.MULTILINE)]
    assert len(commands) > 15
    for command in commands:
        assert "--config FILE" in ridgebench(*command, "--help").stdout, command


def test_the_example_of_the_page(write, tmp_path):
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    config = write(page[page.index("# nightly.toml") :].split("```")[0])
    done = ridgebench("run", "--config", config, "--device", "sim", "--dry-run")
    assert done.returncode == OK and done.stdout.count("relu/") > 1 and "dot/" not in done.stdout
