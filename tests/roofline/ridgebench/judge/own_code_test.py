"""Which kernels and objects a row of ridgebench has, by the programs of this build and by published runs."""

import json
import os
import re
from pathlib import Path

import pytest
from golden import ROOT
from ridgebench.data.records import load_run
from ridgebench.judge.code.compare import HostDifference
from ridgebench.judge.code.host_object import HostObject
from ridgebench.judge.code.own import OwnRows, is_own, source_of
from ridgebench.judge.code.program import load

BUILD = Path(os.environ["RIDGEBENCH_BUILD"])
RUN = next(iter(sorted((ROOT / "results" / "nvidia-h200").glob("2026-11-22*"))))
OTHERS = {"relu/cub", "softmax/naive"}


@pytest.fixture(name="rows", scope="module")
def rows_fixture():
    program = load(BUILD / "ridgebench")
    if program.build is None:
        pytest.skip("the build has no build.ninja")
    assert is_own((program, program))
    return OwnRows((program, program))


@pytest.fixture(autouse=True)
def untouched(rows):
    before = rows.changed, rows.differences.host
    yield
    rows.changed, rows.differences.host = before
    rows.__dict__.pop("_host", None)


def states(rows) -> set[str]:
    return {path for path, finding in rows.listed().items() if finding.state != "same code"}


def needs_kernels(rows) -> set[str]:
    kernels = rows.programs[0].kernels
    return kernels or pytest.skip("built without CUDA")


def test_a_program_has_the_code_of_itself(rows):
    assert len(rows.listed()) > 30 and states(rows) == set()


def test_every_file_of_a_technique_has_a_kernel_of_its_own_or_is_known(rows):
    kernels = "\n".join(needs_kernels(rows))
    empty = {one.path for one in rows.sources if one.kind == "cu" and one.token not in kernels}
    # These share the kernels of wgmma_persistent.cuh, launch an empty kernel, or copy by the driver.
    assert {path.rpartition("/")[2] for path in empty} <= {
        "wgmma_persistent_fp8.cu", "wgmma_persistent_block_scaled.cu", "pageable.cu", "pinned.cu", "peer.cu", "cub.cu"}


def test_rows_of_a_published_run_have_the_files_that_register_them(rows):
    needs_kernels(rows)
    found, unknown = {}, set()
    for row in load_run(RUN).rows:
        if row.role == "kernel" and row.origin == "hand" and row.device != "cpu":
            source = rows.source(row.op, row.technique, False)
            found[row.op, row.technique] = source
            if source is None:
                unknown.add(f"{row.op}/{row.technique}")
    assert all(re.search("_(tuned|fast_accum|promoted)$", name) for name in unknown), unknown
    assert sum(source is not None for source in found.values()) >= 15
    for (operation, technique), source in found.items():
        if source is None:
            continue
        (path,) = [p for p in ROOT.glob(f"kernels/{source.folder}/**/{source.stem}.cu")]
        text = path.read_text() + "".join(p.read_text() for p in path.parent.glob(f"{source.stem}*.cuh"))
        assert f'"{technique}"' in text and (operation == source.folder or f'"{operation}"' in text), (operation, technique, source)


def test_no_file_of_a_technique_names_the_namespace_of_another():
    files = {path: source_of(path.relative_to(ROOT).as_posix()) for path in ROOT.glob("kernels/*/**/*.cu")}
    names = {f"{one.folder}_{one.stem}" for one in files.values() if one}
    for path, one in files.items():
        if one:
            used = set(re.findall(r"\b(\w+)::", path.read_text())) & names
            assert used <= {f"{one.folder}_{one.stem}"}, path


def test_a_changed_kernel_concerns_its_own_row_only(rows):
    kernels = needs_kernels(rows)
    rows.changed = {next(name for name in kernels if "4cuda10relu_vec16" in name)}
    assert states(rows) == {"kernels/relu/vec16.cu"}


def test_a_changed_kernel_of_the_harness_concerns_every_row_of_a_gpu(rows):
    kernels = needs_kernels(rows)
    rows.changed = {next(name for name in kernels if "memory_kernels" in name)}
    assert states(rows) == {one.path for one in rows.sources if one.kind == "cu"}


def object_of(rows, end: str) -> str:
    return next(name for name in rows.programs[0].build.objects if name.endswith(end))


def test_a_changed_object_of_a_technique_concerns_its_own_row_only(rows):
    rows.differences.host = [HostDifference(object_of(rows, "kernels/relu/naive.cpp.o"), {".text"}, sides=(HostObject(),) * 2)]
    assert states(rows) == {"kernels/relu/naive.cpp"}


def test_a_changed_object_of_the_harness_concerns_every_row(rows):
    rows.differences.host = [HostDifference(object_of(rows, "harness/device/cpu/memory.cpp.o".replace("harness/", "")), {".text"})]
    assert states(rows) == set(rows.listed())


def test_a_name_that_others_need_concerns_them(rows):
    name = object_of(rows, "kernels/relu/naive.cpp.o")
    needed = next(iter(rows._names[None]))
    side = HostObject(defined={needed: ".text.shared"})
    rows.differences.host = [HostDifference(name, {".text.shared"}, sides=(side, side))]
    assert states(rows) == set(rows.listed())


def test_the_commit_of_a_build_is_left_out_and_its_flags_are_not():
    from ridgebench.judge.code import own

    path = next(BUILD.glob("**/generated/harness/base/build_info.cpp.o"))
    data = path.read_bytes()
    (commit,) = set(re.findall(rb"\0([0-9a-f]{40})\0", data)) or {None}
    if commit:
        assert own.facts(data.replace(commit, b"0" * 40)) == own.facts(data)
    assert own.facts(data.replace(b"-O3", b"-O2")) != own.facts(data)


def test_rows_that_nobody_can_attribute_are_unknown(rows):
    row = next(row for row in load_run(RUN).rows if row.role == "kernel" and row.origin == "hand")
    for change in ({"loaded_from": "mine.so"}, {"origin": "library"}, {"op": "new", "technique": "thing"}):
        before = {key: getattr(row, key) for key in change}
        row.__dict__.update(change)
        assert rows.of_row(row).state == "unknown"
        row.__dict__.update(before)
    assert json.dumps(rows.listed()["kernels/relu/naive.cpp"].text) == '"same code"'
