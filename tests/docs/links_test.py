"""Every page's relative links, anchors and inline paths lead somewhere."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRACKED = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                         text=True, check=False).stdout.splitlines()  # fmt: skip
PAGES = sorted(
    {ROOT / name for name in TRACKED if name.endswith(".md")} or {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("results/*/*.md")}
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# What may open a path from the root. Made by building or measuring: results/local, build.
FOLDERS = ("kernels/", "harness/", "roofline/", "scripts/", "tests/", "docs/", "cmake/", "results/")
MADE = ("results/local", "results/baselines")
PATH = re.compile(r"[\w./{},*-]+")


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def examples(text: str) -> set[str]:
    """Files that adding.md invents."""
    return set(re.findall(r"^`([^`\n]+)`:$", text, re.MULTILINE)) | {"docs/silu.md", "tests/kernels/silu/silu_test.cpp"}


def expanded(path: str) -> list[str]:
    """a/{b,c} -> a/b, a/c."""
    match = re.search(r"\{([^}]*)\}", path)
    if not match:
        return [path]
    return [each for part in match.group(1).split(",") for each in expanded(path[: match.start()] + part + path[match.end() :])]


def named_paths(text: str) -> set[str]:
    """Paths between backquotes and the scripts that blocks of commands call; those with <placeholders> are patterns."""
    inline = {word for code in CODE.findall(FENCE.sub("", text)) for word in code.split()[:1] if "<" not in code and "..." not in code}
    typed = {word for block in FENCE.findall(text) for word in re.findall(r"^(scripts/\S+)", block, re.MULTILINE)}
    paths = {path for word in inline | typed if word.startswith(FOLDERS) and PATH.fullmatch(word) for path in expanded(word)}
    return {path for path in paths if not path.startswith(MADE)} - examples(text)


def exists(path: str) -> bool:
    return any(ROOT.glob(path.rstrip("/"))) if "*" in path else (ROOT / path).exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_paths_exist(page):
    text = page.read_text("utf-8")
    broken = []
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        if not linked.exists():
            broken.append(target)
        elif anchor and anchor not in anchors(linked):
            broken.append(target)
    broken += sorted(path for path in named_paths(text) if not exists(path))
    assert broken == []


def test_the_check_can_fail():
    assert named_paths("`harness/no/such.hpp` and `docs/<op>.md`\n```\nscripts/none.sh x\n```\n") == {"harness/no/such.hpp", "scripts/none.sh"}
    assert expanded("kernels/matmul/{tile,hopper}/x") == ["kernels/matmul/tile/x", "kernels/matmul/hopper/x"]
    assert not exists("harness/no/such.hpp") and exists("docs/*.md")
    assert "6-comparing" in anchors(ROOT / "docs" / "method.md")
