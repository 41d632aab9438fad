"""Which kernels and objects a row of ridgebench has, by the programs of this build and by published runs."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from golden import ROOT
from ridgebench.data.records import load_run
from ridgebench.judge.code.compare import HostDifference
from ridgebench.judge.code.host_object import HostObject
from ridgebench.judge.code.own import OwnRows, is_own, source_of
from ridgebench.judge.code.program import load
from ridgebench.judge.code.registered import Key, Registered, Technique, registered_by

BUILD = Path(os.environ["RIDGEBENCH_BUILD"])
RUN = next(iter(sorted((ROOT / "results" / "nvidia-h200").glob("2026-11-22*"))))


@pytest.fixture(name="rows", scope="module")
def rows_fixture():
    program = load(BUILD / "ridgebench")
    if program.build is None:
        pytest.skip("the build has no build.ninja")
    assert is_own((program, program))
    return OwnRows((program, program))


def forget(rows) -> None:
    """Forgets what follows from the differences and from what the programs say."""
    for name in ("_host", "_on_gpu", "_of_libraries"):
        rows.__dict__.pop(name, None)


@pytest.fixture(autouse=True)
def untouched(rows):
    before = rows.changed, rows.differences.host, rows.registered
    yield
    rows.changed, rows.differences.host, rows.registered = before
    forget(rows)


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
            source = rows.by_name(row.op, row.technique, False)
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
    assert states(rows) == {one.path for one in rows.sources if one.kind == "cu" or one.stem.startswith("cublas")}


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


def row_of(op: str, technique: str, kind: str = "fp32", device: str = "cuda:0", **more: str) -> SimpleNamespace:
    return SimpleNamespace(op=op, technique=technique, format=kind, device=device, **{"origin": "hand", "loaded_from": None} | more)


def row_of_key(key: Key, origin: str) -> SimpleNamespace:
    return row_of(key.op, key.technique, key.format, "cpu" if key.backend == "cpu" else "cuda:0", origin=origin)


def test_the_program_says_the_file_of_each_technique_and_the_file_has_its_code(rows):
    assert len(rows.registered) == 2
    for key, one in rows.registered[0].techniques.items():
        source = rows.source(row_of_key(key, one.origin))
        assert source == source_of(one.source), (key, one, source)
        (path,) = ROOT.glob(f"kernels/{source.folder}/**/{source.stem}.{source.kind}")
        assert path == ROOT / one.source
        by_name = rows.by_name(key.op, key.technique, key.backend == "cpu")
        assert by_name in (None, source) or one.origin != "hand", (key, one)


@pytest.mark.parametrize("key, path", [
    (Key("matmul", "wgmma_tuned", "bf16", "cuda"), "kernels/matmul/hopper/wgmma_persistent.cu"),
    (Key("matmul_gelu", "wgmma_tuned_promoted", "fp8_e4m3", "cuda"), "kernels/matmul/hopper/wgmma_persistent_fp8.cu"),
    (Key("matmul", "cublas_tuned", "bf16", "cuda"), "kernels/matmul/cublas.cpp"),
    (Key("wgmma_peak", "wgmma_rs", "bf16", "cuda"), "kernels/ceilings/hopper/tensor_wgmma.cu"),
    (Key("matmul", "openblas", "fp32", "cpu"), "kernels/matmul/host/openblas.cpp"),
])  # fmt: skip
def test_techniques_whose_files_have_other_names(rows, key, path):
    found = rows.registered[0].techniques
    if key not in found:
        pytest.skip("the build lacks it")
    assert found[key].source == path


def test_a_changed_kernel_concerns_the_rows_that_its_file_registers(rows):
    kernels = needs_kernels(rows)
    rows.changed = {next(name for name in kernels if "ceilings_tensor_wgmma" in name)}
    concerned = {key for key, one in rows.registered[0].techniques.items() if rows.of_row(row_of_key(key, one.origin)).state == "changed"}
    assert {key.op for key in concerned} == {"wgmma_peak"} and len(concerned) >= 4


def test_a_kernel_of_no_technique_concerns_rows_of_libraries_on_a_gpu(rows):
    kernels = needs_kernels(rows)
    rows.changed = {next(name for name in kernels if "memory_kernels" in name)}
    assert rows.of_row(row_of("matmul", "cublas", "bf16", origin="library")).state == "changed"
    assert rows.of_row(row_of("matmul", "openblas", device="cpu", origin="library")).state == "same code"


def test_rows_of_a_library_are_the_same_only_with_the_same_file_of_it(rows):
    row = row_of("matmul", "openblas", device="cpu", origin="library")
    one = rows.registered[0]
    if Key("matmul", "openblas", "fp32", "cpu") not in one.techniques:
        pytest.skip("built without OpenBLAS")
    assert rows.of_row(row).state == "same code" and one.libraries["openblas"]
    rows.registered = [one, replace(one, libraries=one.libraries | {"openblas": "/opt/lib/libopenblas.so.0"})]
    found = rows.of_row(row)
    assert found.state == "unknown" and "the programs load openblas from /" in found.reason and "against /opt/lib/libopenblas.so.0" in found.reason
    assert rows.of_row(row_of("matmul", "packed", device="cpu")).state == "same code"
    assert "kernels/matmul/openblas.cpp" in states(rows) and "kernels/matmul/packed.cpp" not in states(rows)
    rows.registered = [one]
    assert "does not say which file" in rows.of_row(row).reason
    rows.registered = [one, one]
    forget(rows)
    rows.differences.host = [HostDifference(object_of(rows, "kernels/matmul/host/openblas.cpp.o"), {".text"}, sides=(HostObject(),) * 2)]
    assert "openblas.cpp" in rows.of_row(row).reason


def test_a_technique_whose_file_moved_is_unknown(rows):
    one, key = rows.registered[0], Key("relu", "naive", "fp32", "cpu")
    moved = replace(one, techniques=one.techniques | {key: Technique("kernels/relu/streaming.cpp", "hand")})
    rows.registered = [one, moved]
    found = rows.of_row(row_of("relu", "naive", device="cpu"))
    assert (found.state, found.reason) == ("unknown", "its file is kernels/relu/naive.cpp against kernels/relu/streaming.cpp")
    rows.registered = [moved, moved]
    assert rows.source(row_of("relu", "naive", device="cpu")) == source_of("kernels/relu/streaming.cpp")


def test_a_program_that_does_not_say_its_files_is_read_by_names(rows, tmp_path):
    (tmp_path / "old").write_text("#!/bin/sh\necho 'ridgebench: list: the following argument was not expected: --sources' >&2\nexit 2\n")
    (tmp_path / "old").chmod(0o755)
    (tmp_path / "odd").write_text("#!/bin/sh\necho '{\"techniques\": [{}], \"libraries\": {}}'\n")
    (tmp_path / "odd").chmod(0o755)
    assert registered_by(tmp_path / "old") is registered_by(tmp_path / "odd") is registered_by(tmp_path / "none") is None
    rows.registered = []
    assert rows.source(row_of("relu", "naive", device="cpu")) == source_of("kernels/relu/naive.cpp")
    assert "no file is named like relu/thing" in rows.of_row(row_of("relu", "thing")).reason
    rows.registered = [Registered()] * 2
    assert "no file registers it" in rows.of_row(row_of("relu", "naive", device="cpu")).reason


def test_rows_of_a_loaded_object_are_the_same_if_the_programs_are(rows):
    row = row_of("mine", "kernel", device="cpu", loaded_from="mine.so")
    assert rows.of_row(row).state == "same code"
    one = rows.registered[0]
    rows.registered = [one, replace(one, libraries=one.libraries | {"cublas": "/opt/lib/libcublas.so.12"})]
    assert rows.of_row(row).state == "same code"
    called = rows.of_row(row_of("mine", "kernel", device="cpu", loaded_from="mine.so", origin="library"))
    assert called.state == "unknown" and "the programs load cublas from" in called.reason
    rows.differences.host = [HostDifference(object_of(rows, "kernels/relu/naive.cpp.o"), {".text"}, sides=(HostObject(),) * 2)]
    assert rows.of_row(row).state == "unknown"
    assert "scripts are not compared" in rows.of_row(row_of("mine", "kernel", device="cpu", loaded_from="mine.py:kernel")).reason


def test_rows_that_nobody_can_attribute_are_unknown(rows):
    assert rows.of_row(row_of("new", "thing", device="cpu")).state == "unknown"
    assert rows.of_row(row_of("relu", "naive", device="sim")).state == "unknown"
    assert json.dumps(rows.listed()["kernels/relu/naive.cpp"].text) == '"same code"'


def test_folders_of_builds_compare_the_libraries_by_the_programs_in_them(rows, tmp_path, program):
    one = rows.registered[0]
    library = next(iter({"kernels/matmul/openblas.cpp", "kernels/matmul/cublas.cpp"} & set(rows.listed())), None) or pytest.skip("built without a library")
    places = []
    for name, at in (("old", "/opt/a"), ("new", "/opt/b")):
        (tmp_path / name).mkdir()
        places.append(tmp_path / name)
        answer = {"techniques": [key._asdict() | technique._asdict() for key, technique in one.techniques.items()],
                  "libraries": dict.fromkeys(one.libraries, f"{at}/library.so")}  # fmt: skip
        (tmp_path / name / "answer.json").write_text(json.dumps(answer))
        (tmp_path / name / "ridgebench").write_text(f"#!/bin/sh\ncat '{tmp_path / name / 'answer.json'}'\n")
        (tmp_path / name / "ridgebench").chmod(0o755)

    def finding(*folders):
        two = OwnRows(tuple(replace(each, path=folder, elf=None) for each, folder in zip(rows.programs, folders)))
        return two.listed()[library]

    found = finding(*places)
    assert found.state == "unknown" and "/opt/a/library.so against /opt/b/library.so" in found.reason
    assert finding(places[0], places[0]).state == "same code"
    (tmp_path / "new" / "ridgebench").unlink()
    found = finding(*places)
    assert found.state == "unknown" and "does not say which file" in found.reason
