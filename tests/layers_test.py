"""The layers of the folders, circles of headers, modules and packages, opening comments of techniques, and names that are used once.

kernels/common <- kernels/<operation>; kernels/common <- roofline <- harness. In harness: base <- device <- measure
<- cli <- c, and base <- results <- measure. In the Python package: base <- data <- figures, exchange <- judge <- fleet <- pages. A
second half plants each violation in a small tree and expects it to be found.
"""

import ast
import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Layer -> layers that its files may include. An operation may include its own folder as well. Every arrow points
# down, so that there is no circle.
BELOW_HARNESS = {"kernels/common", "roofline"}
MAY_INCLUDE = {
    "kernels/common": {"kernels/common"},
    "kernels/<operation>": {"kernels/common"},
    "roofline": {"kernels/common", "roofline"},
    "harness/base": BELOW_HARNESS | {"harness/base"},
    "harness/device": BELOW_HARNESS | {"harness/base", "harness/device"},
    "harness/results": BELOW_HARNESS | {"harness/base", "harness/results"},
    "harness/measure": BELOW_HARNESS | {"harness/base", "harness/device", "harness/results", "harness/measure"},
    "harness/step": BELOW_HARNESS | {"harness/base", "harness/device", "harness/results", "harness/measure", "harness/step"},
    "harness/cli": BELOW_HARNESS
    | {"harness/base", "harness/device", "harness/results", "harness/measure", "harness/step", "harness/cli"},
    "harness/web": BELOW_HARNESS | {"harness/cli", "harness/results"},
    "harness/c": BELOW_HARNESS
    | {"harness/base", "harness/device", "harness/results", "harness/measure", "harness/step", "harness/cli", "harness/c"},
}
SOURCES = {".hpp", ".cpp", ".cu", ".cuh"}
HOST_ONLY = {".hpp", ".cpp"}
CUDA_HEADER = re.compile(r"^(cuda|cublas|cub/|nvml|nvtx|nvToolsExt|cooperative_groups|mma\.h|thrust/)|\.cuh$")
# A .cpp may call CUDA where its folder or its name says so.
CALLS_CUDA = re.compile(r"/cuda/.*\.cpp$|/cublas[a-z_]*\.cpp$")
DEVICE_CODE = re.compile(r"__global__|__device__|<<<")
PACKAGE = "roofline/ridgebench"
# Folder of the Python package -> folders that its modules may import, besides their own; "" has the modules of no folder.
MAY_IMPORT = {
    "base": set(),
    "data": {"base"},
    "peaks": {"base"},
    "figures/scene": {"base", "data"},
    "figures/page": {"base", "data", "figures/scene"},
    "figures/slides": {"base", "data", "figures/scene", "figures/page"},
    "figures/html": {"base", "data", "figures/scene", "figures/page", "figures/slides"},
    "figures/playground": {"base", "data", "figures/scene", "figures/page"},
    "figures": {"base", "data", "figures/page", "figures/slides"},
    "problems": {"base", "data", "kernels"},
    "exchange": {"base", "data", "problems"},
    "exercises": {"base", "data", "exchange", "peaks"},
    "gpu_check": {"base", "data"},
    "kernels": {"base", "data"},
    "judge": {"base", "data", "figures/page", "exchange"},
    "fleet": {"base", "data", "figures/page", "figures/html", "judge"},
    "pages": {"base", "data", "figures/page", "figures/slides", "judge", "fleet"},
    "": {"base", "exchange", "kernels", "peaks"},  # whose names `import ridgebench` offers
}
OPENING_COMMENT_LINES = range(2, 9)


def layer(path: str) -> str | None:
    """The layer of a path from the root; None for a file outside the layers (a library's header)."""
    parts = path.split("/")
    if parts[0] == "roofline":
        return "roofline"
    if parts[0] == "harness" and len(parts) > 2:
        return f"harness/{parts[1]}"
    if parts[0] != "kernels" or len(parts) < 3:
        return None
    return "kernels/common" if parts[1] == "common" else "kernels/<operation>"


def sources(root: Path) -> list[str]:
    found = []
    for folder in ("kernels", "roofline", "harness"):
        found += [p.relative_to(root).as_posix() for p in (root / folder).rglob("*") if p.suffix in SOURCES]
    return sorted(found)


def includes(root: Path, path: str) -> list[str]:
    text = (root / path).read_text(encoding="utf-8")
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, re.MULTILINE)


def forbidden_includes(root: Path) -> list[str]:
    found = []
    for path in sources(root):
        here, folder = layer(path), path.rsplit("/", 1)[0]
        if here not in MAY_INCLUDE:
            found.append(f"{path} is in no layer; allowed: {', '.join(MAY_INCLUDE)}")
            continue
        for included in includes(root, path):
            there = layer(included)
            own = there == "kernels/<operation>" and included.split("/")[:2] == path.split("/")[:2]
            if there is not None and there not in MAY_INCLUDE[here] and not own:
                found.append(f"{path} includes {included}")
            if there is None and (root / folder / included).is_file():
                found.append(f"{path} includes {included} by a path that is not from the root")
    return found


def cuda_in_host_files(root: Path) -> list[str]:
    return [
        f"{path} includes {included}"
        for path in sources(root)
        if Path(path).suffix in HOST_ONLY and not CALLS_CUDA.search(path)
        for included in includes(root, path)
        if CUDA_HEADER.search(included)
    ]


def has_device_code(root: Path, path: str) -> bool:
    """In the file, or in a .cuh of its folders that it includes: a kernel template that it instantiates."""
    if DEVICE_CODE.search((root / path).read_text(encoding="utf-8")):
        return True
    near = "/".join(path.split("/")[:2]) + "/"
    return any(
        has_device_code(root, included)
        for included in includes(root, path)
        if included.startswith(near) and included.endswith(".cuh") and "/common/" not in included
    )


def cu_without_device_code(root: Path) -> list[str]:
    return [
        f"{path} has no device code: it is a .cpp"
        for path in sources(root)
        if path.endswith(".cu") and not has_device_code(root, path)
    ]


def commands_of(root: Path) -> set[str]:
    """The modules whose main() is a command, by the table of __main__.py; none in a tree without the package."""
    table = root / PACKAGE / "__main__.py"
    return set(re.findall(r'": \("([\w.]+)", "', table.read_text(encoding="utf-8"))) if table.exists() else set()


def imported_commands(root: Path) -> list[str]:
    """A module that imports the main file of a command: what both need lies in a module of its own."""
    known, commands = modules(root), commands_of(root)
    found = {name: sorted(imported(name, path, known) & commands) for name, path in known.items() if name != "__main__"}
    return [f"{PACKAGE}/{name.replace('.', '/')}.py imports the command {', '.join(names)}" for name, names in found.items() if names]


def folder_of(name: str) -> str:
    """The folder of a module as MAY_IMPORT names it; its first folder if MAY_IMPORT has none of them."""
    parts = name.strip(".").split(".")[: None if name.endswith(".") else -1]
    return next(("/".join(parts[:depth]) for depth in (2, 1) if "/".join(parts[:depth]) in MAY_IMPORT), "".join(parts[:1]))


def forbidden_imports(root: Path) -> list[str]:
    """A module that imports one of a folder that does not lie below its own."""
    known, found = modules(root), []
    for name, path in known.items():
        here, shown = folder_of(name), path.relative_to(root).as_posix()
        if here not in MAY_IMPORT:
            found.append(f"{shown} is in no layer; allowed: {', '.join(filter(None, MAY_IMPORT))}")
            continue
        ends = {one for one in imported(name, path, known) if folder_of(one) not in MAY_IMPORT[here] | {here}}
        found += [f"{shown} imports {one}" for one in sorted(ends)]
    return found


def circles_of_packages(root: Path) -> list[str]:
    """A folder of the package that needs itself by way of others. A command may draw on all."""
    known, commands = modules(root), commands_of(root)
    arrows: dict[str, set[str]] = {}
    for name in known.keys() - commands:
        if "." in name.strip("."):
            ends = {one.partition(".")[0] for one in imported(name, known[name], known) if "." in one.strip(".")}
            arrows.setdefault(name.partition(".")[0], set()).update(ends - {name.partition(".")[0]})
    found = circle(arrows)
    return [f"{PACKAGE}/{found[0]} is in a circle: {' - '.join(found)}"] if found else []


def is_technique(path: str) -> bool:
    """An implementation file of an operation or a ceiling; one named after its folder is the operation's own."""
    parts = path.split("/")
    return layer(path) == "kernels/<operation>" and parts[-1].endswith((".cpp", ".cu")) and (
        Path(path).stem != parts[1]
    )


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """A way from a node back to it; empty without one."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def circles_of_headers(root: Path) -> list[str]:
    """A file that includes itself by way of others."""
    arrows = {path: set(includes(root, path)) for path in sources(root)}
    found = circle({path: ends & arrows.keys() for path, ends in arrows.items()})
    return [f"{found[0]} is in a circle: {' - '.join(found)}"] if found else []


def modules(root: Path) -> dict[str, Path]:
    """The modules of the Python package by their dotted names; a package by the name of its folder."""
    files = (root / PACKAGE).rglob("*.py")
    return {".".join(p.relative_to(root / PACKAGE).with_suffix("").parts).removesuffix("__init__") or ".": p for p in files}


def imported(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the package that a module imports, also within functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            here = ["ridgebench", *name.split(".")[:-1]]
            base = [*here[: len(here) - node.level + 1], *filter(None, [node.module])] if node.level else node.module.split(".")
            whole = [".".join([*base, one.name][1:]) for one in node.names]
            found |= {one if one in known else ".".join(base[1:]) for one in whole}
        elif isinstance(node, ast.Import):
            found |= {one.name.removeprefix("ridgebench.") for one in node.names}
    return found & known.keys()


def circles_of_modules(root: Path) -> list[str]:
    """A module of Python that imports itself by way of others."""
    known = modules(root)
    found = circle({name: imported(name, path, known) for name, path in known.items()})
    return [f"{PACKAGE}/{found[0].replace('.', '/')}.py is in a circle: {' - '.join(found)}"] if found else []


def without_opening_comment(root: Path) -> list[str]:
    found = []
    for path in filter(is_technique, sources(root)):
        comment = 0
        for line in (root / path).read_text(encoding="utf-8").splitlines():
            if not line.startswith("//"):
                break
            comment += 1
        if comment not in OPENING_COMMENT_LINES:
            found.append(f"{path} opens with {comment} lines of comment; allowed: 2 to 8")
    return found


RULES = [
    forbidden_includes,
    cuda_in_host_files,
    cu_without_device_code,
    circles_of_headers,
    circles_of_modules,
    circles_of_packages,
    forbidden_imports,
    imported_commands,
    without_opening_comment,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule):
    assert rule(ROOT) == []


def test_every_layer_has_files():
    assert {layer(path) for path in sources(ROOT)} == set(MAY_INCLUDE)
    assert sum(map(is_technique, sources(ROOT))) >= 10


COMMENT = "// One idea.\n// Its limit.\n"
SOUND = {
    "kernels/common/format.hpp": "#include <array>\n",
    "kernels/relu/relu.hpp": '#include "kernels/common/format.hpp"\n',
    "kernels/relu/naive.cpp": COMMENT + '#include "kernels/relu/relu.hpp"\n',
    "kernels/relu/naive.cu": COMMENT + '#include <cuda_runtime.h>\n__global__ void relu_naive() {}\n',
    "kernels/relu/tile.cuh": "__global__ void relu_tile() {}\n",
    "kernels/relu/tile.cu": COMMENT + '#include "kernels/relu/tile.cuh"\n',
    "kernels/dot/dot.hpp": '#include "kernels/common/format.hpp"\n',
    "roofline/model.cpp": '#include "kernels/common/format.hpp"\n',
    "harness/base/clock.hpp": '#include "roofline/model.hpp"\n#include "kernels/common/format.hpp"\n',
    "harness/device/device.hpp": '#include "harness/base/clock.hpp"\n',
    "harness/device/cuda/device.cpp": "#include <cuda_runtime.h>\n",
    "harness/results/record.hpp": '#include "harness/base/clock.hpp"\n',
    "harness/measure/case.hpp": '#include "harness/device/device.hpp"\n#include "harness/results/record.hpp"\n',
    "harness/cli/run.cpp": '#include "harness/measure/case.hpp"\n',
    "harness/c/own_run.cpp": '#include "harness/cli/run.hpp"\n',
    "roofline/ridgebench/base/files.py": "import json\n",
    "roofline/ridgebench/figures/page/page.py": "from ridgebench.base.files import read\nfrom . import style\n",
    "roofline/ridgebench/figures/page/style.py": "from ...base.files import write\n",
    "roofline/ridgebench/figures/plot.py": "from .page import page\n",
    "roofline/ridgebench/judge/trend.py": "from ridgebench.figures.page import page\n",
    "roofline/ridgebench/__main__.py": 'COMMANDS = {"plot": ("figures.plot", "Draw")}\n',
}


def tree(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def test_a_sound_tree_passes(tmp_path):
    root = tree(tmp_path, SOUND)
    assert [rule(root) for rule in RULES] == [[]] * len(RULES)


@pytest.mark.parametrize(
    "rule, path, text",
    [
        (forbidden_includes, "kernels/common/format.hpp", '#include "kernels/dot/dot.hpp"\n'),
        (forbidden_includes, "kernels/common/format.hpp", '#include "roofline/model.hpp"\n'),
        (forbidden_includes, "kernels/common/format.hpp", '#include "harness/base/clock.hpp"\n'),
        (forbidden_includes, "kernels/relu/relu.hpp", '#include "kernels/dot/dot.hpp"\n'),
        (forbidden_includes, "kernels/relu/relu.hpp", '  #  include "harness/base/clock.hpp"\n'),
        (forbidden_includes, "kernels/relu/naive.cpp", COMMENT + '#include "roofline/model.hpp"\n'),
        (forbidden_includes, "roofline/model.cpp", '#include "kernels/relu/relu.hpp"\n'),
        (forbidden_includes, "roofline/model.cpp", '#include "harness/base/clock.hpp"\n'),
        (forbidden_includes, "harness/cli/run.cpp", '#include "kernels/relu/relu.hpp"\n'),
        (forbidden_includes, "kernels/relu/naive.cpp", COMMENT + '#include "relu.hpp"\n'),
        (forbidden_includes, "harness/base/clock.hpp", '#include "harness/device/device.hpp"\n'),
        (forbidden_includes, "harness/base/clock.hpp", '#include "harness/results/record.hpp"\n'),
        (forbidden_includes, "harness/device/device.hpp", '#include "harness/results/record.hpp"\n'),
        (forbidden_includes, "harness/device/device.hpp", '#include "harness/measure/case.hpp"\n'),
        (forbidden_includes, "harness/results/record.hpp", '#include "harness/device/device.hpp"\n'),
        (forbidden_includes, "harness/results/record.hpp", '#include "harness/measure/case.hpp"\n'),
        (forbidden_includes, "harness/measure/case.hpp", '#include "harness/cli/run.hpp"\n'),
        (forbidden_includes, "harness/cli/run.cpp", '#include "harness/c/own_run.hpp"\n'),
        (forbidden_includes, "harness/other/new.cpp", "\n"),
        (forbidden_includes, "harness/new.cpp", "\n"),
        (cuda_in_host_files, "kernels/relu/relu.hpp", "#include <cuda_runtime.h>\n"),
        (cuda_in_host_files, "harness/cli/run.cpp", '#include "kernels/common/cuda/types.cuh"\n'),
        (cuda_in_host_files, "harness/device/cuda/nvml.hpp", "#include <cuda_runtime.h>\n"),
        (cuda_in_host_files, "kernels/common/format.hpp", "#include <cublas_v2.h>\n"),
        (cu_without_device_code, "kernels/relu/naive.cu", COMMENT + "#include <cuda_runtime.h>\n"),
        (cu_without_device_code, "kernels/relu/tile.cu", COMMENT + '#include "kernels/common/cuda/types.cuh"\n'),
        (circles_of_headers, "harness/base/clock.hpp", '#include "harness/base/clock.hpp"\n'),
        (circles_of_headers, "harness/device/device.hpp", '#include "harness/measure/case.hpp"\n'),
        (circles_of_modules, "roofline/ridgebench/base/files.py", "from ridgebench.base.files import read\n"),
        (circles_of_modules, "roofline/ridgebench/figures/page/page.py", "def f():\n    from ridgebench.judge import trend\n"),
        (circles_of_modules, "roofline/ridgebench/figures/page/page.py", "import ridgebench.judge.trend\n"),
        (forbidden_imports, "roofline/ridgebench/base/text.py", "from ridgebench.judge import trend\n"),
        (forbidden_imports, "roofline/ridgebench/data/view.py", "def f():\n    from ..figures.page import style\n"),
        (forbidden_imports, "roofline/ridgebench/figures/page/panel.py", "from ridgebench.figures import plot\n"),
        (forbidden_imports, "roofline/ridgebench/exchange/stream.py", "from ridgebench.judge import trend\n"),
        (forbidden_imports, "roofline/ridgebench/text.py", "from ridgebench.judge import trend\n"),
        (forbidden_imports, "roofline/ridgebench/other/new.py", "\n"),
        (imported_commands, "roofline/ridgebench/figures/page/style.py", "from ..plot import main\n"),
        (without_opening_comment, "kernels/relu/naive.cpp", "// One line.\nint x;\n"),
        (without_opening_comment, "kernels/relu/naive.cu", "\n" + COMMENT),
        (without_opening_comment, "kernels/relu/naive.cpp", "// Line.\n" * 9),
    ],
)
def test_a_violation_is_found(tmp_path, rule, path, text):
    found = rule(tree(tmp_path, SOUND | {path: text}))
    assert len(found) == 1
    assert path in found[0]


def test_a_circle_of_packages_is_found(tmp_path):
    files = {"figures/page/style.py": "from ridgebench.judge import report\n", "judge/report.py": "\n"}
    root = tree(tmp_path, SOUND | {f"{PACKAGE}/{path}": text for path, text in files.items()})
    (found,) = circles_of_packages(root)
    assert found.startswith(f"{PACKAGE}/") and {"figures", "judge"} <= set(found.split())


# Names at file scope: functions, constants and types.
FILE_SCOPE = re.compile(
    r"^(?:(?!TEST|TYPED_|INSTANTIATE|namespace|using namespace|return|template|//|#|[ }])[\w:<>,&*\[\] ]*?\b(\w+)\((?!.*;$)"
    r"|(?:inline )?const(?:expr)? [^;(]*?\b(\w+)(?:\[[^\]]*\])?\s*[={]"
    r"|(?:struct|class|enum class|enum) (\w+))",
    re.MULTILINE,
)


def shared_names(files: dict[str, str]) -> set[str]:
    """Names that several of the files give to something of their own."""
    names = Counter()
    for text in files.values():
        names.update({next(filter(None, match)) for match in FILE_SCOPE.findall(text)})
    return {name for name, count in names.items() if count > 1}


def test_files_that_are_compiled_together_share_no_name():
    # An overload of another file would be called without a word of the compiler.
    folders = {}
    for path in sorted((ROOT / "tests").rglob("*_test.cpp")):
        folder = re.match(r"(harness/[a-z]+|kernels/common|[a-z]+)/", path.relative_to(ROOT / "tests").as_posix())[1]
        if folder not in ("device", "emulator") and "RIDGEBENCH_ISA" not in path.read_text():
            folders.setdefault(folder, {})[path.name] = path.read_text()
    assert len(folders) > 5
    assert {folder: names for folder, files in folders.items() if (names := shared_names(files))} == {}


def test_a_shared_name_is_found():
    one = "constexpr double kHalf = 0.5;\nRow row(int i) {\n"
    assert shared_names({"a": one, "b": "std::vector<Row> row(const Rows& rows) {\n"}) == {"row"}
    assert shared_names({"a": one, "b": "const int kHalf{1};\n"}) == {"kHalf"}
    assert shared_names({"a": "struct Row {\n", "b": "class Row : public X {\n"}) == {"Row"}
    assert shared_names({"a": one, "b": "TEST(A, B) {\n  EXPECT_EQ(row(1), 2);\n"}) == set()
