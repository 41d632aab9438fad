"""Files of `ridgebench run --load`: their code decides whether the rows of a gate are measured."""

import subprocess
from types import SimpleNamespace

import pytest
from builds import needs_compiler

from ridgebench.judge.code_rows import find

pytestmark = needs_compiler
KERNEL = "#include <cmath>\nextern \"C\" double kernel(double x) { return 2 * std::sqrt(x); }\n"
ROWS = [SimpleNamespace(id="twice/mine", op="twice", technique="mine", format="fp32", device="cpu", origin="hand", loaded_from="kernels.so"),
        SimpleNamespace(id="relu/naive", op="relu", technique="naive", format="fp32", device="cpu", origin="hand", loaded_from=None)]  # fmt: skip


@pytest.fixture(name="made", scope="module")
def made_fixture(tmp_path_factory):
    """Shared objects of one name: the first one, the same with a comment, and one with another constant; and a command without them."""
    texts = {"first": KERNEL, "comment": f"// faster\n{KERNEL}", "changed": KERNEL.replace("2 *", "3 *")}
    made = {}
    for name, text in texts.items():
        folder = tmp_path_factory.mktemp(name)
        (folder / "kernels.cpp").write_text(text)
        subprocess.run(["g++", "-O2", "-shared", "-fPIC", "kernels.cpp", "-o", "kernels.so"], cwd=folder, check=True)
        made[name] = str(folder / "kernels.so")
    (folder / "main.cpp").write_text("int main() {}\n")
    subprocess.run(["g++", "main.cpp", "-o", "program"], cwd=folder, check=True)
    return made | {"run": [str(folder / "program"), "run", "--device=cpu"]}


def states(baseline: list[str], candidate: list[str], reader: str = "ridgebench") -> dict[str, list[str]]:
    session = SimpleNamespace(reader=reader, commands={"baseline": baseline, "candidate": candidate}, reference=None,
                              kernels=lambda: [row.id for row in ROWS], load=lambda folder: SimpleNamespace(rows=ROWS))
    return find(session, [], None)


@pytest.mark.parametrize("form", [lambda file: ["--load", file], lambda file: [f"--load={file}"]])
@pytest.mark.parametrize("second, state", [("first", "same code"), ("comment", "same code"), ("changed", "unknown")])
def test_rows_of_two_files_are_the_same_if_their_code_is(made, form, second, state):
    found = states([*made["run"], *form(made["first"])], [*made["run"], *form(made[second])])
    assert {one[0] for one in found.values()} == {state}
    if state == "unknown":
        assert all(reason.startswith(f"--load {made[second]}: the code of the host differs") for _, reason in found.values())


def test_every_file_counts(made):
    one, other = ([*made["run"], "--load", made["first"], f"--load={made[second]}"] for second in ("first", "changed"))
    assert {state for state, _ in states(one, other).values()} == {"unknown"}


@pytest.mark.parametrize("candidate, reader", [
    (["--load", "{}", "--budget=9"], "ridgebench"), (["--load={}"], "ridgebench"), ([], "ridgebench"), (["--load", "{changed}"], "csv")])
def test_other_arguments_are_other_arguments(made, candidate, reader):
    words = [word.replace("{}", made["first"]).replace("{changed}", made["changed"]) for word in candidate]
    found = states([*made["run"], "--load", made["first"]], [*made["run"], *words], reader)
    assert all(one == ["unknown", "the commands have other arguments"] for one in found.values())


def test_a_script_is_not_compared(made, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("kernels = []\n")
    found = states([*made["run"], f"--load={tmp_path}/a.py:kernels"], [*made["run"], f"--load={tmp_path}/b.py:kernels"])
    assert all(state == "unknown" and "b.py:kernels: scripts are not compared" in reason for state, reason in found.values())
