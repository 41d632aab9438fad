"""The site of the pages: mkdocs finds no dead link, the navigation is README's table, nothing comes from the net, the search finds."""

import json
import re
import shutil
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

import chromium
import pytest
from golden import ROOT
from ridgebench.base.command_line import USAGE
from ridgebench.pages.readers_table import table_of_readers
from ridgebench.pages.site import main

pytestmark = pytest.mark.skipif(find_spec("material") is None, reason="no mkdocs-material; scripts/setup.sh --dev installs it")
PAGES = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "results").glob("*/NOTES.md"), ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class Page(HTMLParser):
    """What a page loads, what it links to, and the links of its navigation."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.loaded, self.links, self.navigation, self._in_navigation = path, set(), set(), set(), False
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "nav" and "md-nav--primary" in (values.get("class") or ""):
            self._in_navigation = True
        if tag in LOADS and values.get(LOADS[tag]) and values.get("rel") != "canonical":
            self.loaded.add(values[LOADS[tag]])
        if tag == "a" and values.get("href"):
            self.links.add(values["href"])
            if self._in_navigation:
                self.navigation.add(self.target(values["href"]))

    def handle_endtag(self, tag):
        self._in_navigation = self._in_navigation and tag != "main"

    def target(self, link: str) -> Path:
        return (self.path.parent / unquote(link.partition("#")[0].partition("?")[0])).resolve()


@pytest.fixture(scope="module", name="site")
def site_fixture(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "site"
    assert main(["-o", str(folder)]) == 0  # mkdocs --strict found no dead link and no dead anchor
    return folder


@pytest.fixture(scope="module", name="pages")
def pages_fixture(site) -> list[Page]:
    """Without the reports of published runs, and without 404.html, which a server shows at any address."""
    made = [path for path in site.rglob("*.html") if path.name != "404.html"]
    return [Page(path) for path in made if path.relative_to(site).parts[0] != "results" or path.with_suffix(".md").exists()]


def made_of(site: Path, page: Path) -> Path:
    """The page of the site for one of the tree."""
    name = page.relative_to(ROOT).as_posix()
    return site / ("index.html" if name == "README.md" else name.replace(".md", ".html"))


def test_the_navigation_has_every_page(site, pages):
    (home,) = [page for page in pages if page.path == site / "index.html"]
    named = [ROOT / name for _, row in table_of_readers(ROOT) for _, name in row]
    assert len(named) >= 45
    assert [page.name for page in {*named, *PAGES} if made_of(site, page).resolve() not in home.navigation] == []


def test_nothing_is_loaded_from_the_net_and_every_link_has_a_target(site, pages):
    assert len(pages) > 60
    assert {url for page in pages for url in page.loaded if re.match("(https?:)?//", url)} == set()
    dead = [f"{page.path.relative_to(site)}: {link}" for page in pages for link in page.loaded | page.links
            if not re.match(r"[a-z]+:", link) and not page.target(link).exists()]
    assert dead == []
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert "url(" in styles and not re.search(r"url\([\"']?(https?:)?//|@import", styles)


def test_figures_and_the_files_for_programs_are_there(site):
    assert all((site / name).exists() for name in ("llms.txt", "skills/ridgebench/SKILL.md", "docs/start.md"))
    shown = {name for page in [ROOT / "README.md", *PAGES] for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text("utf-8"))}
    assert len(shown) >= 3 and all(list(site.rglob(Path(name).name)) for name in shown)


def test_the_search_has_each_page(site):
    found = {entry["location"].partition("#")[0]: "" for entry in json.loads((site / "search" / "search_index.json").read_text())["docs"]}
    for entry in json.loads((site / "search" / "search_index.json").read_text())["docs"]:
        found[entry["location"].partition("#")[0]] += f"{entry['title']} {entry['text']}"
    for page in PAGES:
        shown = re.sub(r"```.*?```|<!--.*?-->|\]\([^)]*\)", "", page.read_text("utf-8"), flags=re.DOTALL)  # no targets of links
        word = re.findall(r"\b[a-z]{5,}\b", shown)[-1]
        assert word in found[made_of(site, page).relative_to(site).as_posix()], f"{page.name}: {word}"


def tree(folder: Path, text: str) -> Path:
    """A tree whose one page has this text."""
    shutil.copytree(ROOT / "docs" / "site", folder / "docs" / "site")
    (folder / "README.md").write_text("# Title\n\n| I want to | page |\n| --- | --- |\n| look | [page](docs/page.md) |\n")
    (folder / "docs" / "page.md").write_text(f"# Page\n\n{text}\n")
    (folder / "skills" / "ridgebench").mkdir(parents=True)
    (folder / "llms.txt").touch(), (folder / "skills" / "ridgebench" / "SKILL.md").touch()
    (folder / "sort.cpp").write_text("int main() {}  // sorts\n")
    return folder


def test_a_source_file_has_a_page_of_its_code(tmp_path):
    assert main(["-o", str(tmp_path / "site")], tree(tmp_path / "tree", "See [it](../sort.cpp).")) == 0
    assert 'href="../sort.cpp.html"' in (tmp_path / "site" / "docs" / "page.html").read_text()
    assert "sorts" in (tmp_path / "site" / "sort.cpp.html").read_text()


@pytest.mark.parametrize("link", ["none.md", "../none.cpp", "page.md#none", "#none"])
def test_a_dead_link_is_refused_by_name(tmp_path, capfd, link):
    assert main(["-o", str(tmp_path / "site")], tree(tmp_path / "tree", f"See [it]({link}).")) == USAGE
    error = capfd.readouterr().err
    assert "docs/page.md" in error and link.split("/")[-1] in error


def test_a_tree_without_pages_is_refused(tmp_path, capfd):
    assert main(["-o", str(tmp_path / "site")], tmp_path) == USAGE
    assert capfd.readouterr().err.startswith(f"site: {tmp_path}/docs/site/mkdocs.yml is missing")


def test_a_folder_with_other_files_is_kept(tmp_path, capfd):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    assert main(["-o", str(tmp_path / "mine")], tree(tmp_path / "tree", "")) == USAGE
    assert "mine is not empty" in capfd.readouterr().err and (tmp_path / "mine" / "file").exists()


@pytest.mark.skipif(chromium.PROGRAM is None, reason="no chromium; scripts/setup.sh --dev installs it")
def test_a_browser_shows_it_and_searches_without_a_server(site, tmp_path):
    with chromium.Browser(tmp_path) as browser:
        for name in ("index.html", "docs/matmul.html", "docs/commands.html", "results/nvidia-h200/NOTES.html"):
            for width in (1280, 390):
                browser.open(site / name, width)
                assert browser.run("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} at {width}"
                assert browser.run("[...document.images].every((image) => image.complete && image.naturalWidth)")
                assert browser.errors == [] and {url.partition(":")[0] for url in browser.requests} <= {"file", "data"}
        browser.run("document.querySelector('[data-md-component=search-query]').focus()")
        answer = """new Promise((done) => { const results = document.querySelector('.md-search-result');
            const look = () => { if (results.querySelector('a[href*="h=flyvbjerg"]') || /No match/.test(results.innerText)) done(results.innerText); };
            new MutationObserver(look).observe(results, {childList: true, subtree: true, characterData: true}); look(); })"""
        for letter in "flyvbjerg":
            browser.press(letter)
        assert "Duels" in browser.run(answer)
