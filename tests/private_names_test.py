"""Names of the Python package begin with an underscore if and only if no other module uses them.

A module of the package, a test or a script uses a name if it imports it, reads it from the module, or replaces it by setattr(). The
second half plants each case in a small tree.
"""

import ast
import re
from pathlib import Path

import pytest
from layers_test import PACKAGE, ROOT, modules, tree

# import_module() finds these functions of commands, of importers and of a package's lazy names.
DYNAMIC = {"main", "add_options", "load"}
# Other files than Python's have these names: harness/cli/python/command_table.cmake, scripts/try/wheel.sh.
ELSEWHERE = {("__main__", "COMMANDS"), ("kernels.library", "find")}
USERS = ("tests", "scripts")
DOTTED = re.compile(r"ridgebench(\.\w+)+")
Use = tuple[str, str]  # a module without "ridgebench.", and a name of it


def defined(module: ast.Module) -> set[str]:
    """The functions, classes and variables of a module, without those that the language or __all__ names."""
    found, open_nodes = set(), list(module.body)
    public = {"__all__"}
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
            found |= names
            public |= set(ast.literal_eval(node.value)) if "__all__" in names else set()
        else:
            open_nodes += [one for one in ast.iter_child_nodes(node) if isinstance(one, (ast.stmt, ast.ExceptHandler))]
    return {name for name in found - public if not (name.startswith("__") and name.endswith("__"))}


class Uses(ast.NodeVisitor):
    """What a file uses of the package: names of other modules, and the modules that it hands on as values."""

    def __init__(self, name: str, known: set[str]) -> None:
        self.here, self.known = name, known
        self.modules: dict[str, str] = {}  # what a name of the file represents
        self.found: set[Use] = set()
        self.values: set[str] = set()
        self.attributes: set[str] = set()  # of anything else than a module

    def bind(self, path: str, name: str, alias: str) -> None:
        """`from path import name as alias`."""
        if f"{path}.{name}".strip(".") in self.known:
            self.modules[alias] = f"{path}.{name}".strip(".")
        else:
            self.found.add((path, name))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level:
            above = self.here.split(".")[:-1]
            base = [*above[: len(above) - node.level + 1], *filter(None, [node.module])]
        elif (node.module or "").split(".")[0] == "ridgebench":
            base = node.module.split(".")[1:]
        else:
            return
        for one in node.names:
            self.bind(".".join(base), one.name, one.asname or one.name)

    def visit_Import(self, node: ast.Import) -> None:
        for one in node.names:
            if one.name.split(".")[0] == "ridgebench":
                self.modules[one.asname or "ridgebench"] = one.name.partition(".")[2] if one.asname else ""

    def module_of(self, node: ast.AST) -> str | None:
        """The module that an expression is."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id)
        if isinstance(node, ast.Attribute) and (base := self.module_of(node.value)) is not None:
            inner = f"{base}.{node.attr}".strip(".")
            return inner if inner in self.known else None
        return None

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if (base := self.module_of(node.value)) is None:
            self.attributes.add(node.attr)
            self.visit(node.value)
        elif self.module_of(node) is None:
            self.found.add((base, node.attr))

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in self.modules:
            self.values.add(self.modules[node.id])

    def visit_Call(self, node: ast.Call) -> None:
        first, second = [*node.args, None, None][:2]
        if first is not None and (module := self.module_of(first)) is not None and isinstance(second, ast.Constant):
            self.found.add((module, str(second.value)))  # setattr(module, "name", ...)
            for one in (node.func, *node.args[1:], *node.keywords):
                self.visit(one)
        else:
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and DOTTED.fullmatch(node.value):
            module, _, name = node.value.partition(".")[2].rpartition(".")
            self.found.add((module, name))


def uses_of(path: Path, name: str, known: set[str]) -> set[Use]:
    """The names of other modules that a file uses."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    found = Uses(name, known)
    for node in ast.walk(module):  # names of modules hold for the whole file, also if a function imports them
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.visit(node)
    found.visit(module)
    # Of a module that is handed on, the file uses what it reads from any object.
    handed = {(one, attribute) for one in found.values for attribute in found.attributes}
    return {use for use in found.found | handed if use[0] != name.rstrip(".")}


def used_names(root: Path) -> set[Use]:
    own = modules(root)
    known = {name.rstrip(".") for name in own}  # a package has the name of its folder
    users = [path for folder in USERS for path in sorted((root / folder).rglob("*.py"))]
    found = [uses_of(path, name, known) for name, path in own.items()]
    return set().union(*found, *(uses_of(path, f"({path.stem})", known) for path in users))


def wrong_names(root: Path) -> list[str]:
    """A public name that only its own module uses, and a private one that another file uses."""
    used, found = used_names(root) | ELSEWHERE, []
    for module, path in modules(root).items():
        for name in sorted(defined(ast.parse(path.read_text(encoding="utf-8"))) - DYNAMIC):
            private = name.startswith("_")
            if private == ((module.rstrip("."), name) in used):
                end = "is used by another file: it has no underscore" if private else "is used by its own module only: it begins with _"
                found.append(f"{path.relative_to(root)}: {name} {end}")
    return found


def test_private_names_begin_with_an_underscore():
    assert wrong_names(ROOT) == []


def test_the_exceptions_exist():
    names = {module: defined(ast.parse(path.read_text(encoding="utf-8"))) for module, path in modules(ROOT).items()}
    assert all(name in names[module] for module, name in ELSEWHERE) and DYNAMIC <= set().union(*names.values())


SOUND = {
    f"{PACKAGE}/__init__.py": "",
    f"{PACKAGE}/plot/__init__.py": "",
    f"{PACKAGE}/plot/page.py": "WIDTH = 3\n_DEPTH = 2\n\n\ndef draw():\n    return _DEPTH\n\n\ndef main():\n    pass\n",
}
PAGE = f"{PACKAGE}/plot/page.py"


@pytest.mark.parametrize(("path", "text"), [
    ("tests/page_test.py", "from ridgebench.plot.page import WIDTH, draw\n"),
    ("tests/page_test.py", "from ridgebench.plot import page as one\nprint(one.WIDTH, one.draw())\n"),
    ("scripts/page.py", "import ridgebench.plot.page\nprint(ridgebench.plot.page.WIDTH, ridgebench.plot.page.draw)\n"),
    (f"{PACKAGE}/plot/grid.py", "def main():\n    from .page import WIDTH, draw\n"),
    (f"{PACKAGE}/plot/grid.py", "from . import page\n\n\ndef main():\n    return [one.draw(one.WIDTH) for one in (page,)]\n"),
    (f"{PACKAGE}/report.py", "from ridgebench.plot import page\n\n\ndef main(WIDTH):\n    return page.draw(page.WIDTH)\n"),
    ("tests/page_test.py", "from ridgebench.plot import page\nsetattr(page, 'WIDTH', 1)\npatch('ridgebench.plot.page.draw')\n"),
])  # fmt: skip
def test_a_use_of_another_file_is_found(tmp_path, path, text):
    assert wrong_names(tree(tmp_path, SOUND | {path: text})) == []


@pytest.mark.parametrize(("text", "found"), [
    ("from ridgebench.plot.page import WIDTH\n", f"{PAGE}: draw is used by its own module only: it begins with _"),
    ("from ridgebench.plot import page\nprint(page.draw, page.width, WIDTH)\n", f"{PAGE}: WIDTH is used by its own module only: it begins with _"),
    ("from ridgebench.plot.page import WIDTH, _DEPTH, draw\n", f"{PAGE}: _DEPTH is used by another file: it has no underscore"),
    ("from ridgebench.plot import page\nprint(page._DEPTH, page.WIDTH, page.draw)\n", f"{PAGE}: _DEPTH is used by another file: it has no underscore"),
    ("from elsewhere.page import WIDTH\nfrom ridgebench.plot import page\npage.draw()\n", f"{PAGE}: WIDTH is used by its own module only: it begins with _"),
])  # fmt: skip
def test_a_wrong_name_is_found(tmp_path, text, found):
    assert wrong_names(tree(tmp_path, SOUND | {"tests/page_test.py": text})) == [found]


def test_names_of_a_module():
    text = "import a\n__all__ = ['b']\nb = c = 1\nd: int = 2\nif a:\n    def e():\n        f = 1\nelse:\n    class G:\n        h = 1\n__version__ = 1\n"
    assert defined(ast.parse(text)) == {"c", "d", "e", "G"}
