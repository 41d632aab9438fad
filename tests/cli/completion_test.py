"""`ridgebench completion SHELL` in the shells themselves: what Tab makes of a line. A shell that is absent is skipped."""

import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import OK, ROOT, environment, refused, ridgebench

SHEETS = sorted(path.stem for path in (ROOT / "roofline" / "devices").glob("h100-*.json"))
# A line, and the words that may stand at its end.
OFFERED = [
    ("ridgebench pl", {"plan", "playground", "plot"}),
    ("ridgebench plan tra", {"train", "transfer"}),
    ("ridgebench plan train --pr", {"--precision", "--price-per-gpu-hour"}),
    ("ridgebench run --profile ", {"quick", "standard", "full", "lecture"}),
    ("ridgebench run --filter x --fill ", {"normal", "uniform", "zeros", "integers"}),
    ("ridgebench run --format fp8_e4m", {"fp8_e4m3"}),
    ("ridgebench list --device c", {"cpu"}),
    ("ridgebench duel nai", {"naive"}),
    ("ridgebench predict gel", {"gelu", "gelu_backward"}),
    ("ridgebench predict matmul n:4 --on h100-", set(SHEETS)),
    ("ridgebench predict model gpt-2", {"gpt-2", "gpt-2-xl"}),
    ("ridgebench step de", {"decode"}),
    ("ridgebench step decode --model llama-3-", {"llama-3-8b", "llama-3-70b"}),
    ("ridgebench baseline pro", {"promote"}),
    ("ridgebench gate --reader nv", {"nvbench"}),
    ("ridgebench plot --on tpu-v6", {"tpu-v6e"}),
    ("ridgebench run --bud", {"--budget"}),
    ("ridgebench run --out alo", {"alone"}),  # a file
    ("ridgebench run --seed alo", set()),  # takes no file
]
# A line of which Tab makes this one.
COMPLETED = [
    ("ridgebench numb", ["number"]),
    ("ridgebench run --bud", ["run", "--budget"]),
    ("ridgebench run --roof h100-p", ["run", "--roof", "h100-pcie"]),
    ("ridgebench run --roof=h100-p", ["run", "--roof=h100-pcie"]),
    ("ridgebench run --junit=alo", ["run", "--junit=alone"]),
    ("ridgebench predict model gpt-3", ["predict", "model", "gpt-3"]),
    ("ridgebench slides --theme da", ["slides", "--theme", "dark"]),
]


def script_of(shell: str, folder: Path) -> Path:
    """The script of the shell, in a folder with one other file."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = ridgebench("completion", shell)
    assert (done.returncode, done.stderr) == (OK, "")
    path = folder / f"_ridgebench.{shell}"
    path.write_text(done.stdout)
    (folder / "alone").touch()
    return path


def offered_by_bash(script: Path, line: str) -> set[str]:
    """What the function of bash offers. Tab asks readline for the names of files where it offers none."""
    code = (
        "source $1; compopt() { compgen -f -- \"${COMP_LINE##*[ =]}\"; }; COMP_LINE=$2; COMP_POINT=${#2};"
        '_ridgebench; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "--norc", "-c", code, "bash", script, line], cwd=script.parent, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (OK, "")
    return set(done.stdout.split())


def test_bash_offers_what_may_follow(tmp_path):
    script = script_of("bash", tmp_path)
    gpu = {"cuda:0"}  # of a build with CUDA
    assert {line: offered_by_bash(script, line) - gpu for line, _ in OFFERED} == dict(OFFERED)


SETUP = {
    "bash": ("bash --norc --noprofile -i", "bind 'set bell-style none'; source {}"),
    "zsh": ("zsh -f -i", "autoload -U compinit; compinit -D -u; unsetopt beep prompt_cr prompt_sp; source {}"),
}


class Terminal:
    """An interactive shell in which `ridgebench` prints the words that it gets."""

    def __init__(self, shell: str, script: Path) -> None:
        command, setup = SETUP[shell]
        self.master, slave = pty.openpty()
        variables = environment(TERM="dumb", PS1="> ", HISTFILE="/dev/null", HOME=str(script.parent))
        self.process = subprocess.Popen(
            command.split(), stdin=slave, stdout=slave, stderr=slave, env=variables, cwd=script.parent, start_new_session=True
        )
        os.close(slave)
        self.send(f"{setup.format(script)}; ridgebench() {{ printf '<%s>' \"$@\"; echo '<<end>>'; }}; echo 'rea''dy'\n")
        self.until("ready")

    def send(self, text: str) -> None:
        os.write(self.master, text.encode())

    def until(self, mark: str) -> str:
        shown = ""
        while mark not in shown:
            shown += os.read(self.master, 1 << 16).decode("utf-8", "replace")
        return shown

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.mark.parametrize("shell", SETUP)
def test_tab_completes_the_line(shell, tmp_path):
    terminal = Terminal(shell, script_of(shell, tmp_path))
    try:
        for line, words in COMPLETED:
            terminal.send(f"{line}\t\n")
            assert re.findall(r"<([^<>]+)>", terminal.until("<<end>>"))[:-1] == words
    finally:
        terminal.close()


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_every_command_and_option_of_the_help_is_in_the_script(shell):
    script = ridgebench("completion", shell).stdout
    for command in re.findall(r"^  (\w+) ", ridgebench("--help").stdout.split("\nCommands:")[1], re.MULTILINE):
        assert command in script
        for option in re.findall(r"^  (?:-\w, ?)?--([\w-]+)", ridgebench(command, "--help").stdout, re.MULTILINE):
            assert re.search(rf"--{option}\b", script), (command, option)


def test_hidden_options_stay_hidden():
    text = ridgebench("completion", "bash").stdout + ridgebench("completion", "zsh").stdout
    assert "--spent" not in text and "--one-process" not in text


def test_without_python_its_commands_have_no_options():
    done = ridgebench("completion", "bash", env=environment(RIDGEBENCH_PYTHON="/nowhere/python3"))
    assert done.returncode == OK and "note: Python does not answer" in done.stderr
    assert "gate" in done.stdout and "--reader" not in done.stdout and "--budget" in done.stdout


def test_an_unknown_shell_is_refused():
    refused(ridgebench("completion", "tcsh"), "'tcsh'", "allowed: bash, zsh")
    refused(ridgebench("completion"), "a command is missing", "allowed: bash, zsh")
