"""`--load` refuses what it cannot use in one line, and a run whose kernel crashed loads the file again."""

import os
import shutil
from pathlib import Path

import pytest
from build_folder import run
from command_line import OK, ROOT, ROW_FAILED, USAGE, environment, one_line, records, ridgebench

CXX = os.environ.get("CXX", "g++")
TAG = b"ridgebench kernel interface "

# One file with every fault. The variable FAULT chooses one, because a file takes seconds to compile.
SOURCE = """
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include "kernels/common/interface/kernel.hpp"
using namespace ridgebench;
namespace {
bool fault(const std::string& name) { return name == std::getenv("FAULT"); }

Operation doubling(const std::string& name) {
  Operation op = elementwise({.name = name, .flops_per_element = 1, .value = [](double x) { return 2 * x; }});
  op.formats = {Format::fp32};
  if (fault("no reference")) op.reference = nullptr;
  if (fault("attribute")) op.attributes = {{"n", 1}};
  if (fault("attributes")) op.attributes = {{"eps", 1}, {"eps", 2}};
  if (fault("no values")) {
    op.operands = [](const Shape& s, FormatPair) -> std::vector<Operand> {
      return {{"index", s["n"], Format::int32}, {"y", s["n"], Format::fp32, Access::written}};
    };
  }
  if (fault("negative flops")) op.flops = [](const Shape&) { return -5.0; };
  if (fault("unknown flops")) op.flops = [](const Shape&) { return std::nan(""); };
  if (fault("infinite flops")) op.flops = [](const Shape&) { return HUGE_VAL; };
  if (fault("no flops")) op.flops = [](const Shape&) -> double { throw std::runtime_error("no luck"); };
  if (fault("terms")) op.reduction = [](const Shape&) { return 1e300; };
  if (fault("traffic")) op.traffic = [](const Shape&, FormatPair) { return 0.0; };
  if (fault("no row")) op.row_length = [](const Shape&) { return std::int64_t{0}; };
  if (fault("long row")) op.row_length = [](const Shape& s) { return 3000000 * s["n"]; };
  if (fault("elements")) {
    op.operands = [](const Shape& s, FormatPair) -> std::vector<Operand> {
      return {{"x", s["n"], Format::fp32}, {"y", s["n"] == 1 ? 1 : -5, Format::fp32, Access::written}};
    };
  }
  if (fault("half an output")) {
    op.operands = [](const Shape& s, FormatPair) -> std::vector<Operand> {
      return {{"x", s["n"], Format::fp32}, {"y", s["n"] / 2, Format::fp32, Access::written}};
    };
    op.reference = [](const Shape&, std::int64_t row, std::span<const View> in, std::span<Expected> out) {
      std::vector<double> x(out.size());
      in[0].read(256 * row, x);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = {2 * x[i], 0};
    };
  }
  if (fault("infinite reference")) {
    op.reference = [](const Shape&, std::int64_t, std::span<const View>, std::span<Expected> out) {
      for (Expected& one : out) one = {HUGE_VAL, 1};
    };
  }
  return op;
}

void add(const std::string& operation, bool crashes) {
  RegisterOperation{doubling(operation)};
  const std::string name = fault("name") ? "a/b" : "naive";
  const Technique technique{.operation = operation, .name = name, .engine = Engine::memory};
  const Registration fp32(technique, [crashes](Queue&, const Shape& s, const float* x, float* y) {
    return [=, n = s["n"]] {
      if (crashes) std::raise(SIGSEGV);
      for (std::int64_t i = 0; i < (fault("half an output") ? n / 2 : n); ++i) y[i] = 2 * x[i];
    };
  });
  if (!fault("types")) return;
  const Registration integers(technique, [](Queue&, const Shape&, const std::int32_t*, float*) { return [] {}; });
}

const bool added = [] {
  if (fault("nothing")) return false;
  if (fault("exit while loading")) std::exit(0);
  if (fault("_exit while loading")) std::_Exit(0);
  if (fault("quick_exit while loading")) std::quick_exit(0);
  if (fault("crash while loading")) std::raise(SIGSEGV);
  if (fault("throw while loading")) throw std::runtime_error("no \\x1b[31m luck");
  if (fault("throw in a thread while loading")) std::thread([] { throw std::runtime_error("no luck"); }).join();
  if (fault("throw a number while loading")) throw 1;
  add(fault("known operation") ? "relu" : "twice", false);
  if (fault("crash")) add("crashing", true);
  return true;
}();
}  // namespace
"""
MISSING = "void missing_function(float* y);\nvoid call(float* y) { missing_function(y); }\n"


@pytest.fixture(scope="module", name="mine")
def mine_fixture(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("objects")
    for name, text in (("source", SOURCE), ("missing", MISSING)):
        (folder / f"{name}.cpp").write_text(text)
        run(CXX, "-std=c++20", "-c", "-fPIC", "-O0", f"-I{ROOT}", f"{name}.cpp", cwd=folder)
    run(CXX, "-shared", "source.o", "-o", "libmine.so", cwd=folder)
    run(CXX, "-shared", "source.o", "missing.o", "-o", "libmissing.so", cwd=folder)
    return folder / "libmine.so"


def refusal(*files, fault: str = "") -> str:
    loads = [f"--load={file}" for file in files]
    commands = (("list",), ("run",), ("duel", "a", "b"))
    lines = {one_line(ridgebench(*command, *loads, env=environment(FAULT=fault)), USAGE) for command in commands}
    (line,) = lines
    return line


def test_a_file_that_cannot_be_loaded_is_refused(tmp_path, mine):
    whole = mine.read_bytes()
    (tmp_path / "text.so").write_text("no shared object\n")
    (tmp_path / "empty.so").touch()
    (tmp_path / "half.so").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "header.so").write_bytes(whole[:64])
    (tmp_path / "folder.so").mkdir()
    os.mkfifo(tmp_path / "fifo.so")
    for name in ("text", "empty", "half", "header"):
        assert "it is not a shared object, or not all of one; allowed: a shared object that" in refusal(tmp_path / f"{name}.so")
    assert "there is no such file; allowed" in refusal(tmp_path / "absent\n\x1b[31m.so")
    for name in ("folder", "fifo"):
        assert "the file cannot be read; allowed" in refusal(tmp_path / f"{name}.so")
    program = shutil.copy(shutil.which("true"), tmp_path / "program.so")
    assert "it has no kernel interface" in refusal(program)
    odd = shutil.copy(mine, tmp_path / "a b.so")
    assert "other characters than letters" in refusal(odd)


def test_an_interface_that_differs_is_refused_before_any_code_runs(tmp_path, mine):
    whole = mine.read_bytes()
    assert whole.count(TAG) == 1
    at = whole.index(TAG)
    version = whole[at : whole.index(b",", at)]
    for old, new in ((version, TAG + b"1" * (len(version) - len(TAG))), (b"sizes ", b"sizes 1"), (b"libstdc++", b"libother+")):
        (tmp_path / "other.so").write_bytes(whole[:at] + whole[at:].replace(old, new, 1))
        said = refusal(tmp_path / "other.so", fault="crash")
        assert "it was compiled with 'ridgebench kernel interface" in said and "this program with" in said
    (tmp_path / "none.so").write_bytes(whole.replace(TAG, TAG.upper()))
    assert "it has no kernel interface" in refusal(tmp_path / "none.so")


def test_a_missing_symbol_is_named(mine):
    said = refusal(mine.with_name("libmissing.so"))
    assert "cannot be loaded: undefined symbol: missing_function(float*)" in said


def test_what_cannot_join_the_registry_is_refused(tmp_path, mine):
    other = shutil.copy(mine, tmp_path / "other.so")
    again = shutil.copy(mine, tmp_path / mine.name)
    assert "registers no operation and no technique" in refusal(mine, fault="nothing")
    assert "a file named libmine.so is loaded already" in refusal(mine, again)
    assert "other.so: operation twice is registered twice" in refusal(mine, other)
    assert "libmine.so: operation relu is registered twice" in refusal(mine, fault="known operation")
    assert "libmine.so: a technique of twice is named 'a/b'; allowed: letters, digits and _" in refusal(mine, fault="name")
    assert "binds pointer types that are no format of the operation" in refusal(mine, fault="types")
    assert "operation twice has no reference" in refusal(mine, fault="no reference")
    assert "attribute n of twice has the name of a dimension" in refusal(mine, fault="attribute")
    assert "attribute eps of twice has the name of" in refusal(mine, fault="attributes")
    said = refusal(mine, fault="no values")
    assert "operand index is int32; allowed with it: .values = integers_below(...)" in said


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("exit", "ended the program while it was loaded: a call of exit"),
        ("_exit", "ended the program while it was loaded: a call of exit"),
        ("quick_exit", "ended the program while it was loaded: a call of exit"),
        ("crash", "ended the program while it was loaded: SIGSEGV, a wrong address"),
        ("throw", "threw while it was loaded: no ?[31m luck"),
        ("throw in a thread", "threw while it was loaded: no luck"),
        ("throw a number", "threw while it was loaded"),
    ],
)
def test_a_file_that_ends_the_program_while_it_is_loaded_is_named(fault, said, mine):
    assert refusal(mine, fault=f"{fault} while loading").endswith(f"libmine.so: it {said}\n")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("negative flops", "-5 FLOPs of twice at n:7; allowed: 0 to 1e+30"),
        ("unknown flops", "nan FLOPs of twice at n:7; allowed: 0 to 1e+30"),
        ("infinite flops", "inf FLOPs of twice at n:7; allowed: 0 to 1e+30"),
        ("no flops", "flops of twice at n:7 failed: no luck"),
        ("terms", "1e+300 terms of a sum of twice at n:7; allowed: 1 to 2^50"),
        ("traffic", "0 bytes of traffic of twice at n:7; allowed: 1 to 2^60"),
        ("no row", "0 elements of a row of the reference of twice at n:7; allowed: 1 to 2^50"),
        ("elements", "-5 elements of an operand of twice at n:7; allowed: 1 to 2^50"),
    ],
)
def test_numbers_that_no_operation_has_are_refused_before_the_run(fault, said, tmp_path, mine):
    out = tmp_path / "results"
    for more in ((), ("--dry-run",)):
        words = ("run", "--device", "cpu", "--op", "twice", "--shape", "7", "--budget", "0.5", "--out", out, f"--load={mine}", *more)
        assert said in one_line(ridgebench(*words, env=environment(FAULT=fault)), USAGE)
    assert not out.exists()


def test_an_operand_may_have_no_element_in_the_smallest_shape(tmp_path, mine):
    words = ("run", "--device", "cpu", "--op", "twice", "--budget", "1", "--no-plot", f"--load={mine}", "--shape")
    done = ridgebench(*words, "512", "--out", tmp_path / "results", env=environment(FAULT="half an output"))
    assert done.returncode == OK, done.stderr
    assert {row["status"] for row in records(tmp_path / "results")} == {"ok"}
    said = one_line(ridgebench(*words, "1", "--out", tmp_path / "none", env=environment(FAULT="half an output")), USAGE)
    assert "0 elements of an operand of twice at n:1; allowed: 1 to 2^50" in said


def test_a_reference_that_is_not_finite_costs_its_row_only(tmp_path, mine):
    out = tmp_path / "results"
    words = ("run", "--device", "cpu", "--op", "twice,relu", "--technique", "naive", "--format", "fp32", "--shape", "7", "--budget", "1")
    done = ridgebench(*words, "--no-plot", "--out", out, f"--load={mine}", env=environment(FAULT="infinite reference"))
    assert done.returncode == ROW_FAILED, done.stderr
    rows = {row["op"]: row for row in records(out) if row["role"] == "kernel"}
    assert rows["relu"]["status"] == "ok" and rows["twice"]["status"] == "failed"
    assert "the reference gives inf with norm 1 for an element" in rows["twice"]["reason"]
    assert ridgebench("show", out).returncode == OK


def test_after_a_crash_the_run_loads_the_file_again(tmp_path, mine):
    out = tmp_path / "results"
    options = ("--device", "sim", "--filter", "^(crashing|twice)/", "--budget", "0.5", "--out", out)
    done = ridgebench("run", *options, f"--load={os.path.relpath(mine)}", env=environment(FAULT="crash"))
    assert done.returncode == ROW_FAILED, done.stderr
    rows = records(out)
    kernels = {row["op"]: (row["status"], row["loaded_from"]) for row in rows if row["role"] == "kernel"}
    assert kernels == {"crashing": ("failed", "libmine.so"), "twice": ("ok", "libmine.so")}
    assert {row["loaded_from"] for row in rows if row["role"] == "ceiling"} == {None}


def test_a_command_that_measures_nothing_takes_no_file(mine):
    assert one_line(ridgebench("verify", f"--load={mine}", "."), USAGE)
    assert ridgebench("list", "--device", "sim").returncode == OK
