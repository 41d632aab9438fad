"""llms.txt and SKILL.md: what a language model reads, from the program's commands, the exit codes and the pages (docs/agents.md)."""

import re
import shlex
import subprocess
from pathlib import Path

from ridgebench.base.files import ResultsError
from ridgebench.base.printers import markdown_table
from ridgebench.data.program import require_program

from .readers_table import summary, table_of_readers

_DESCRIPTION = (
    "Measures how fast a GPU or a host is and how fast a kernel is against its roofline limit, verifies every result, and judges changes "
    "with a stated error rate. Use it to benchmark or speed up a CUDA or C++ kernel, to gate a change by its speed, to check a node or a "
    "cluster of GPUs, to look up a peak, a bandwidth or an MFU, and to predict time and memory of a model or a training run."
)
_CALL = """`ridgebench` is the program. In a checkout it is `build/ridgebench`, which `scripts/run.sh --build-only` builds. The wheel, the Debian
package and the archive have it as `ridgebench`. `ridgebench COMMAND --help` has examples and the options that most calls need, and
`--help-all` has all options. `--json` prints strict JSON, and an error is one line on standard error."""
_COMMANDS_OF_ZSH = re.compile(r"^    ''\) *\n +commands=\((.*)\)$", re.MULTILINE)


def _commands() -> list[tuple[str, str]]:
    """Name and purpose of each command, as the program prints them for a shell."""
    done = subprocess.run([require_program("completion", "zsh"), "completion", "zsh"], capture_output=True, text=True, check=False)
    found = _COMMANDS_OF_ZSH.search(done.stdout)
    if done.returncode != 0 or not found:
        raise ResultsError(f"`ridgebench completion zsh` does not list the commands: {done.stderr.strip() or 'another layout'}")
    return [tuple(re.split(r"(?<!\\):", word, maxsplit=1)) for word in shlex.split(found[1])]  # type: ignore[misc]


def _section(page: Path, heading: str) -> str:
    """The text below a heading, up to the next one of its level."""
    found = re.search(rf"^{heading}\n+(.*?)(?=^## |\Z)", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    if not found:
        raise ResultsError(f"{page.name} has no heading '{heading}'")
    return found[1].strip()


def _without_links(text: str) -> str:
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)\s]+\)", r"\1", text)


def _opening(root: Path) -> str:
    """The first paragraph of README.md."""
    return (root / "README.md").read_text("utf-8").split("\n\n")[1]


def _pages(root: Path, wish: str, pages: list[tuple[str, str]]) -> str:
    lines = [f"- [{label}]({name}): {summary(root / name)}" for label, name in pages]
    return "\n".join([f"## {wish[0].upper()}{wish[1:]}", "", *lines])


def llms_txt(root: Path) -> str:
    """The pages in the order of the README's table, as llmstxt.org specifies: title, summary, sections of links."""
    quoted = "\n".join(f"> {line}" for line in _opening(root).splitlines())
    skill = "The commands, the exit codes and three worked loops are in [SKILL.md](skills/ridgebench/SKILL.md)."
    return "\n\n".join(["# ridgebench", quoted, skill, *(_pages(root, *row) for row in table_of_readers(root))]) + "\n"


def skill_md(root: Path) -> str:
    """An Agent Skill: when to use which command, the exit codes, three loops. Raises ResultsError without a program."""
    docs = root / "docs"
    listed = markdown_table(("command", "what it does"), ((f"`{name}`", purpose) for name, purpose in _commands()))
    table = re.search(r"(?:^\|.*\n?)+", _section(docs / "commands.md", "## Exit codes"), re.MULTILINE)
    assert table, "the section is a table and text"
    return "\n\n".join(
        [
            f"---\nname: ridgebench\ndescription: {_DESCRIPTION}\nlicense: Apache-2.0\n---",
            f"# ridgebench\n\n{_opening(root)}\n\n{_CALL}",
            "## When to use which command",
            listed,
            "## Exit codes",
            _without_links(table.group().strip()),
            "## Three loops",
            _without_links(_section(docs / "agents.md", "## Three loops")),
        ]
    ) + "\n"


FILES = {"llms.txt": llms_txt, "skills/ridgebench/SKILL.md": skill_md}
