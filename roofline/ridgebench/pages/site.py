"""Builds the pages as a site, by mkdocs-material: `scripts/site.sh`.

The text is that of the tree. A folder of copies gets, besides the pages, the figures that they show, a page of code for each source
file and a list of files for each folder that they link to, because the sources have no public address. The navigation is the table
"I want to" of README.md.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Callable, Iterator

from ridgebench.base.command_line import OK, ROOT, USAGE, Parser, fail
from ridgebench.base.files import ResultsError

from . import for_programs
from .readers_table import FENCE, table_of_readers

_SETTINGS = "docs/site/mkdocs.yml"
_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/**/*.md", "results/*/NOTES.md")
_AS_THEY_ARE = {".svg", ".png", ".json", ".jsonl", ".txt"}  # a browser shows these files
_NOT_SEARCHED = "---\nsearch: {exclude: true}\n---\n"  # words of code would outrank those of the pages
_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")


def _outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """The text with every part between its blocks of code changed."""
    parts, at = [], 0
    for block in FENCE.finditer(text):
        parts += [change(text[at : block.start()]), block.group()]
        at = block.end()
    return "".join([*parts, change(text[at:])])


class _Copies:
    """The folder of copies. `pages` has the Markdown files of the tree, in the order in which they were found, and what they link to."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder
        self.pages: dict[str, list[str]] = {}

    def add_page(self, name: str) -> None:
        if name in self.pages:
            return
        self.pages[name] = []
        text = (self._root / name).read_text("utf-8")
        self._write(name, _outside_of_code(text, lambda part: _LINK.sub(lambda link: self._followed(name, link), part)))

    def _followed(self, page: str, link: "re.Match[str]") -> str:
        """A link of a page, after its target was copied."""
        before, target, after = link.groups()
        if re.match(r"[a-z]+:", target):
            return link.group()
        name = os.path.normpath(PurePosixPath(page).parent / target)
        path = self._root / name
        if path.is_dir():
            self._add_list(name)
            return f"{before}{target.rstrip('/')}/index.md{after}"
        if not path.is_file():
            return link.group()  # mkdocs --strict refuses it
        if path.suffix == ".md":
            self.pages[page].append(name)
            self.add_page(name)
        elif path.suffix in _AS_THEY_ARE:
            self._copy(name)
        else:
            self._add_code(name)
            return f"{before}{target}.md{after}"
        return link.group()

    def _add_list(self, name: str) -> None:
        if (self._folder / name / "index.md").exists():
            return
        files = sorted(path.relative_to(self._root / name).as_posix() for path in (self._root / name).rglob("*") if path.is_file())
        lines = [f"- [{file}]({file})" for file in files]
        self._write(f"{name}/index.md", "\n".join([f"{_NOT_SEARCHED}# Files of {name}", "", *lines, ""]))
        for file in files:
            self._copy(f"{name}/{file}")

    def _add_code(self, name: str) -> None:
        text = (self._root / name).read_text("utf-8")
        language = {".hpp": "cpp", ".cuh": "cuda", ".cu": "cuda"}.get(Path(name).suffix, Path(name).suffix[1:])
        self._write(f"{name}.md", f"{_NOT_SEARCHED}# {name}\n\n~~~~~~{language}\n{text}~~~~~~\n")

    def _copy(self, name: str) -> None:
        (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self._root / name, self._folder / name)

    def _write(self, name: str, text: str) -> None:
        (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_text(text, "utf-8")


def _navigation(root: Path, links: dict[str, list[str]]) -> list[dict[str, object]]:
    """A section for each row of the table of README.md, with the pages it names.

    A page that no row names is in the section of the page that links to it first, and has its own title there.
    """
    sections: dict[str, list[object]] = {}
    section_of: dict[str, str] = {}
    for wish, pages in table_of_readers(root):
        title = wish[0].upper() + wish[1:].partition(":")[0]
        sections[title] = [{label[0].upper() + label[1:]: name} for label, name in pages if name not in section_of]
        for _, name in pages:
            section_of.setdefault(name, title)
    open_pages = list(section_of)
    for page in open_pages:  # which grows
        for name in links.get(page, ()):
            if name not in section_of and "/" in name:
                of_folder = os.path.dirname(name) + ".md"  # docs/operate.md has docs/operate/node.md
                section_of[name] = section_of.get(of_folder) or section_of[page]
                sections[section_of[name]].append(name)
                open_pages.append(name)
    rest = [name for name in links if name not in section_of and name != "README.md"]
    navigation: list[dict[str, object]] = [{"ridgebench": "README.md"}]
    navigation += [{title: pages} for title, pages in [*sections.items(), ("More", rest)] if pages]
    return navigation


def _pages_of(root: Path) -> Iterator[str]:
    for pattern in _PAGES:
        yield from sorted(path.relative_to(root).as_posix() for path in root.glob(pattern))


def _build(root: Path, site: Path, copies: Path) -> None:
    """Makes the folder `site` anew. Raises ResultsError where mkdocs refuses a page, with its lines."""
    if not (root / _SETTINGS).exists():
        raise ResultsError(f"{root / _SETTINGS} is missing: the pages are in a checkout and in the source archive")
    if not find_spec("mkdocs") or not find_spec("material"):
        raise ResultsError(f"{sys.executable} lacks mkdocs-material; scripts/setup.sh --dev installs it")
    tree = _Copies(root, copies / "pages")
    for name in _pages_of(root):
        tree.add_page(name)
    for file in (root / _SETTINGS).parent.iterdir():
        if file.suffix != ".yml":
            shutil.copyfile(file, copies / "pages" / file.name)
    settings = {
        "INHERIT": str(root / _SETTINGS),
        "docs_dir": str(copies / "pages"),
        "site_dir": str(site),
        "nav": _navigation(root, tree.pages),
    }
    (copies / "mkdocs.yml").write_text(json.dumps(settings, indent=1), "utf-8")
    command = [sys.executable, "-I", "-m", "mkdocs", "build", "--strict", "--config-file", str(copies / "mkdocs.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if done.returncode != 0:
        raise ResultsError(f"mkdocs refuses the pages: {done.stderr.strip() or done.stdout.strip()}")
    for name in (*tree.pages, *for_programs.FILES):  # llms.txt names the pages as Markdown
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, site / name)


def main(arguments: list[str], root: Path = ROOT) -> int:
    parser = Parser(prog="site", description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, default=root / "build" / "site", metavar="DIR", help="folder to replace")
    options = parser.parse_args(arguments)
    site = options.out.resolve()
    if site.exists() and any(site.iterdir()) and not (site / "sitemap.xml").exists():
        return fail(f"{options.out} is not empty, and not a site; allowed: a new folder, or one that this command made", USAGE, "site")
    try:
        with TemporaryDirectory(prefix="ridgebench-site-") as copies:
            _build(root, site, Path(copies))
    except ResultsError as error:
        return fail(str(error), error.code, "site")
    print(site / "index.html")
    return OK
