"""The machine code of two builds that nvcc made: which rows the gate would measure. Nothing runs on a GPU."""

import json
import shutil
import subprocess

import pytest
from builds import ARCHITECTURES, HEADER, KERNELS, LISTED, NVCC, build, needs_nvcc
from command_line import ridgebench

pytestmark = needs_nvcc
SAME, CHANGED, UNKNOWN = "same code", "changed", "unknown"


@pytest.fixture(name="base", scope="module")
def base_fixture(tmp_path_factory):
    return build(tmp_path_factory.mktemp("base") / "a")


def states(one, other, *options) -> tuple[dict[str, str], int]:
    """The state of each row by its short name, and the exit code."""
    done = ridgebench("gate", "--code", one, other, "--json", *options)
    assert done.stdout, done.stderr
    names = {whole: short for short, whole in LISTED.items()}
    return {names.get(row["id"], row["id"]): row["code"] for row in json.loads(done.stdout)["rows"]}, done.returncode


def changed(*names: str) -> dict[str, str]:
    return {name: CHANGED if name in names else SAME for name in LISTED}


def test_a_comment_a_line_and_another_folder_change_nothing(base, tmp_path):
    other = build(tmp_path / "somewhere" / "else", kernels="// A comment.\n\n" + KERNELS.replace("int main", "// Another.\nint main"))
    assert states(base, other) == (changed(), 0)


NAMED = KERNELS.replace("int main() {", '#include <cstdio>\nint main() {\n  std::puts(__FILE__);')


@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-lineinfo")])
def test_objects_of_another_folder_are_the_same(flags, tmp_path):
    for name in ("one", "another"):
        build(tmp_path / name, kernels=NAMED.replace("__FILE__", f'"{tmp_path / name}/kernels.cu"'), flags=(*ARCHITECTURES, *flags))
        subprocess.run([NVCC, *ARCHITECTURES, *flags, "-c", tmp_path / name / "kernels.cu", "-o", tmp_path / name / "kernels.o"], check=True)
    assert states(tmp_path / "one", tmp_path / "another") == (changed(), 0)
    assert (tmp_path / "one" / "kernels.o").read_bytes() != (tmp_path / "another" / "kernels.o").read_bytes()


def test_a_constant_changes_the_kernel_that_has_it(base, tmp_path):
    assert states(base, build(tmp_path / "b", kernels=KERNELS.replace("*= N", "*= N + 5"))) == (changed("scale"), 3)


def test_a_called_function_changes_its_caller(base, tmp_path):
    assert states(base, build(tmp_path / "b", kernels=KERNELS.replace("1.5f", "2.5f"))) == (changed("calls"), 3)


def test_an_inlined_header_changes_the_kernel_that_uses_it(base, tmp_path):
    assert states(base, build(tmp_path / "b", header=HEADER.replace("0.5f", "0.25f"))) == (changed("weigh"), 3)


def test_another_instance_leaves_no_row_with_the_same_code(base, tmp_path):
    found, code = states(base, build(tmp_path / "b", kernels=KERNELS.replace("scale<3>", "scale<4>")))
    assert found == {"hidden": UNKNOWN, "scale": CHANGED, "void scale<4>(float*)": CHANGED, "weigh": UNKNOWN, "calls": UNKNOWN}
    assert code == 3


def test_data_of_the_device_change_all_kernels_of_the_file(base, tmp_path):
    assert states(base, build(tmp_path / "b", kernels=KERNELS.replace("{1, 2, 3, 4}", "{1, 2, 3, 5}"))) == (changed(*LISTED), 3)


def test_a_launch_changes_the_code_of_the_host(base, tmp_path):
    found, code = states(base, build(tmp_path / "b", kernels=KERNELS.replace("weigh<<<1, 64>>>", "weigh<<<2, 64>>>")))
    assert found == dict.fromkeys(LISTED, UNKNOWN) and code == 3


def test_a_flag_that_changes_code_is_found(base, tmp_path):
    kernels = KERNELS.replace("1.5f;", "1.5f / x;")
    one, other = build(tmp_path / "a", kernels=kernels), build(tmp_path / "b", kernels=kernels, flags=(*ARCHITECTURES, "-use_fast_math"))
    found, _ = states(one, other)
    assert found["calls"] == CHANGED and states(base, one)[0]["calls"] == CHANGED


@pytest.mark.parametrize("flag", ["-Xptxas=-v", "-lineinfo", "-Xptxas=-O1"])
def test_other_options_of_the_compiler_leave_nothing_the_same(flag, base, tmp_path):
    found, _ = states(base, build(tmp_path / "b", flags=(*ARCHITECTURES, flag)))
    assert SAME not in found.values()


def test_another_architecture_leaves_nothing_the_same(base, tmp_path):
    found, _ = states(base, build(tmp_path / "b", flags=ARCHITECTURES[1:]))
    assert set(found.values()) == {UNKNOWN}


@pytest.mark.parametrize("mode", ["-no-compress", "-compress-mode=size"])
def test_compression_changes_nothing(mode, base, tmp_path):
    pytest.importorskip("zstandard")
    assert states(base, build(tmp_path / "b", flags=(*ARCHITECTURES, mode)))[0] == changed()


LONGER = KERNELS.replace("return x * x + 1.5f;", "for (int i = 0; i < 99; ++i) x = x * x / (x + i);\n#pragma unroll 40\n"
                         "for (int i = 0; i < 40; ++i) x = x / (x + i) + 1.5f;\nreturn x;")


def test_a_longer_kernel_moves_the_data_of_the_host_and_changes_only_itself(base, tmp_path):
    other = build(tmp_path / "b", kernels=LONGER)
    assert other.stat().st_size > base.stat().st_size
    assert states(base, other) == (changed("calls"), 3)


def test_a_list_of_launches_chooses_the_kernels_of_a_row(base, tmp_path):
    other = build(tmp_path / "b", kernels=KERNELS.replace("*= N", "*= N + 5"))
    launches = tmp_path / "launches.csv"
    launches.write_text("row,kernel\none,scale\ntwo,weigh(float*)\ntwo,hidden\nthree,void scale<3>(float*)\nfour,cublas_gemm\n")
    found, _ = states(base, other, "--launches", launches)
    assert found == {"one": CHANGED, "two": SAME, "three": CHANGED, "four": UNKNOWN}
    launches.write_text('NVTX Range,Style,Kernel Name\n:one,PushPop,"void scale<3>(float *)"\n:two,PushPop,weigh(float *)\n')
    assert states(base, other, "--launches", launches)[0] == {"one": CHANGED, "two": SAME}


@pytest.mark.parametrize(
    ("text", "said"),
    [("a,b\n", "launches.csv:1: no columns"), ("row,kernel\nx\n", "launches.csv:2: 1 column"), ("row,kernel\n", "lists no kernel")],
)
def test_a_malformed_list_of_launches_is_refused(text, said, base, tmp_path):
    (tmp_path / "launches.csv").write_text(text)
    done = ridgebench("gate", "--code", base, base, "--launches", tmp_path / "launches.csv")
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_stripped_program_is_unknown_unless_nothing_moved(base, tmp_path):
    if shutil.which("strip") is None:
        pytest.skip("strip is not installed")
    paths = [build(tmp_path / "a"), build(tmp_path / "b", kernels=LONGER)]
    for path in paths:
        subprocess.run(["strip", path], check=True)
    assert set(states(*paths)[0].values()) == {UNKNOWN, CHANGED}
    assert states(paths[0], paths[0])[0] == changed()
