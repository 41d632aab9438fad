"""Commands that take several results directories count each run once: by its run_id, and a link to one is no further run."""

import shutil

import pytest
from command_line import ridgebench
from golden import GOLDEN

COMMANDS = {
    "drift": ("baseline", "drift"),
    "promote": ("baseline", "promote", "--model", "--into", "into"),
    "plot": ("plot", "--out", "figures"),
    "report": ("report", "--out", "report.html"),
    "export": ("export", "--csv"),
}


@pytest.fixture(name="folder")
def folder_fixture(tmp_path):
    """A run, a link to it, and a copy of it under another name."""
    shutil.copytree(GOLDEN, tmp_path / "run")
    shutil.copytree(GOLDEN, tmp_path / "copy")
    (tmp_path / "latest").symlink_to("run")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_copy_and_a_repetition_are_refused_by_every_command(command, folder):
    for names, says in ((("run", "copy"), "copy is a copy of run: both hold run "), (("run", "run"), "run: named twice")):
        done = ridgebench(*COMMANDS[command], *names, cwd=folder)
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_loop_of_links_holds_no_run_and_an_empty_text_names_none(command, folder):
    (folder / "loop").symlink_to("loop")
    for name, says in (("loop", "loop: not found; allowed: a results directory"), ("", "an empty text names nothing; allowed: ")):
        done = ridgebench(*COMMANDS[command], name, cwd=folder)
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["copy", "latest", "loop", "run"]


def test_a_link_beside_its_run_is_no_further_run(folder):
    alone, both = (ridgebench("export", "--csv", *names, cwd=folder) for names in (["run"], ["latest", "run"]))
    assert (both.returncode, both.stdout) == (0, alone.stdout)
    done = ridgebench("baseline", "drift", "latest", "run", cwd=folder)
    assert done.returncode == 2 and "1 run; a trend takes 5" in done.stderr


@pytest.mark.parametrize("other", ["run", "latest", "copy"])
def test_a_comparison_of_a_run_with_itself_says_so(other, folder):
    done = ridgebench("compare", "run", other, cwd=folder)
    assert done.returncode == 0 and "both sides are run synthetic: no difference was measured" in done.stdout
