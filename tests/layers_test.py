"""The layers of DESIGN.md, the sizes of files and the opening comments of techniques, read off the sources.

kernels/common <- kernels/<operation>; kernels/common <- roofline <- harness. A second half plants each
violation in a small tree and expects it to be found.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Layer -> layers that its files may include. An operation may include its own folder as well.
MAY_INCLUDE = {
    "kernels/common": {"kernels/common"},
    "kernels/<operation>": {"kernels/common"},
    "roofline": {"kernels/common", "roofline"},
    "harness": {"kernels/common", "roofline", "harness"},
}
SOURCES = {".hpp", ".cpp", ".cu", ".cuh"}
HOST_ONLY = {".hpp", ".cpp"}
CUDA_HEADER = re.compile(r"^(cuda|cublas|cub/|nvml|nvtx|nvToolsExt|cooperative_groups|mma\.h|thrust/)|\.cuh$")
MOST_HARNESS_LINES = 250
MOST_TECHNIQUE_LINES = 150
MOST_PERSISTENT_KERNEL_LINES = 300  # Hopper's, tma and wgmma in one
OPENING_COMMENT_LINES = range(2, 9)


def layer(path: str) -> str | None:
    """The layer of a path from the root; None for a file outside the layers (a library's header)."""
    parts = path.split("/")
    if parts[0] in ("roofline", "harness"):
        return parts[0]
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
        if Path(path).suffix in HOST_ONLY
        for included in includes(root, path)
        if CUDA_HEADER.search(included)
    ]


def is_technique(path: str) -> bool:
    """An implementation file of an operation or a ceiling; one named after its folder is the operation's own."""
    parts = path.split("/")
    return layer(path) == "kernels/<operation>" and parts[-1].endswith((".cpp", ".cu")) and (
        Path(path).stem != parts[1]
    )


def too_long(root: Path) -> list[str]:
    found = []
    for path in sources(root):
        lines = len((root / path).read_text(encoding="utf-8").splitlines())
        most = None
        if layer(path) == "harness":
            most = MOST_HARNESS_LINES
        elif is_technique(path):
            persistent = path.endswith(".cu") and "persistent" in path
            most = MOST_PERSISTENT_KERNEL_LINES if persistent else MOST_TECHNIQUE_LINES
        if most is not None and lines > most:
            found.append(f"{path} has {lines} lines; allowed: {most}")
    return found


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


RULES = [forbidden_includes, cuda_in_host_files, too_long, without_opening_comment]


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
    "kernels/relu/naive.cu": COMMENT + '#include <cuda_runtime.h>\n#include "kernels/common/cuda/ptx/mma.cuh"\n',
    "kernels/dot/dot.hpp": '#include "kernels/common/format.hpp"\n',
    "roofline/model.cpp": '#include "kernels/common/format.hpp"\n',
    "harness/run.cpp": '#include "roofline/model.hpp"\n#include "kernels/common/format.hpp"\n',
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
        (forbidden_includes, "kernels/common/format.hpp", '#include "harness/run.hpp"\n'),
        (forbidden_includes, "kernels/relu/relu.hpp", '#include "kernels/dot/dot.hpp"\n'),
        (forbidden_includes, "kernels/relu/relu.hpp", '  #  include "harness/run.hpp"\n'),
        (forbidden_includes, "kernels/relu/naive.cu", COMMENT + '#include "roofline/model.hpp"\n'),
        (forbidden_includes, "roofline/model.cpp", '#include "kernels/relu/relu.hpp"\n'),
        (forbidden_includes, "roofline/model.cpp", '#include "harness/run.hpp"\n'),
        (forbidden_includes, "harness/run.cpp", '#include "kernels/relu/relu.hpp"\n'),
        (forbidden_includes, "kernels/relu/naive.cpp", COMMENT + '#include "relu.hpp"\n'),
        (cuda_in_host_files, "kernels/relu/relu.hpp", "#include <cuda_runtime.h>\n"),
        (cuda_in_host_files, "harness/run.cpp", '#include "kernels/common/cuda/types.cuh"\n'),
        (cuda_in_host_files, "kernels/common/format.hpp", "#include <cublas_v2.h>\n"),
        (too_long, "harness/run.cpp", "\n" * 251),
        (too_long, "kernels/relu/naive.cu", COMMENT + "\n" * 149),
        (without_opening_comment, "kernels/relu/naive.cpp", "// One line.\nint x;\n"),
        (without_opening_comment, "kernels/relu/naive.cu", "\n" + COMMENT),
        (without_opening_comment, "kernels/relu/naive.cpp", "// Line.\n" * 9),
    ],
)
def test_a_violation_is_found(tmp_path, rule, path, text):
    found = rule(tree(tmp_path, SOUND | {path: text}))
    assert len(found) == 1
    assert found[0].startswith(path)
