"""Own kernels run in a process of their own: what they do to its clock, its checker or its memory changes no verdict."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from build_folder import run
from command_line import (
    OK,
    ROOT,
    ROW_FAILED,
    UNDECIDED,
    environment,
    one_line,
    read_environment,
    records,
    ridgebench,
    start,
    wait_until,
)

CXX = os.environ.get("CXX", "g++")

# One file with every cheat and every fault. The variable DOES chooses one, because a file takes seconds to compile.
SOURCE = r"""
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <atomic>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include "kernels/common/interface/kernel.hpp"
using namespace ridgebench;
namespace {
bool does(const std::string& name) { return name == std::getenv("DOES"); }

// Makes each call of `function` a call of `other`.
void replace(void* function, void* other) {
#if defined(__x86_64__)
  unsigned char code[12] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0};
  std::memcpy(code + 2, &other, 8);
#elif defined(__aarch64__)
  std::uint32_t code[4] = {0x58000050, 0xD61F0200, 0, 0};
  std::memcpy(code + 2, &other, 8);
#endif
  const auto page = reinterpret_cast<std::uintptr_t>(function) & ~std::uintptr_t{0xFFF};
  if (mprotect(reinterpret_cast<void*>(page), 0x2000, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) std::abort();
  std::memcpy(function, code, sizeof code);
  __builtin___clear_cache(static_cast<char*>(function), static_cast<char*>(function) + sizeof code);
}

// Every time is half of what it was.
int half_clock(clockid_t clock, timespec* time) {
  const int result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const long long half = (time->tv_sec * 1000000000LL + time->tv_nsec) / 2;
  *time = {static_cast<time_t>(half / 1000000000LL), static_cast<long>(half % 1000000000LL)};
  return result;
}

// A comparison that reads by these finds no difference.
void read_zeros(const View*, std::int64_t, std::span<double> out) {
  for (double& value : out) value = 0;
}
double read_zero(const View*, std::int64_t) { return 0; }

const bool patched = [] {
  if (const char* log = std::getenv("LOADS")) {
    std::ofstream(log, std::ios::app) << std::ifstream("/proc/self/cmdline").rdbuf() << '\n';
  }
  if (does("clock")) replace(dlsym(RTLD_DEFAULT, "clock_gettime"), reinterpret_cast<void*>(half_clock));
  if (does("checker")) {
    replace(dlsym(RTLD_DEFAULT, "_ZNK10ridgebench4View4readElSt4spanIdLm18446744073709551615EE"),
            reinterpret_cast<void*>(read_zeros));
    replace(dlsym(RTLD_DEFAULT, "_ZNK10ridgebench4ViewixEl"), reinterpret_cast<void*>(read_zero));
  }
  return true;
}();

double factor = 2;  // of the reference
std::atomic<int> launches = 0;

void say_process() { std::ofstream(std::getenv("PROCESS")) << getpid() << std::endl; }

void twice(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}

mode_t mask_of_files() {
  const mode_t mask = umask(0);
  umask(mask);
  return mask;
}

// What a kernel may do to its process, and what another kernel then finds, as text.
void spoil(const std::string& what) {
  const rlimit none{};
  sigset_t all;
  sigfillset(&all);
  if (what == "folder" && chdir("/") != 0) std::abort();
  if (what == "mask") umask(0777);
  if (what == "locale") std::setlocale(LC_ALL, "C.UTF-8");
  if (what == "signals") sigprocmask(SIG_BLOCK, &all, nullptr);
  if (what == "rounding") std::fesetround(FE_UPWARD);
  if (what == "limits" && setrlimit(RLIMIT_NOFILE, &none) != 0) std::abort();
#if defined(__SSE__)
  if (what == "flushing") __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040U);
#endif
}

std::string found() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, nullptr, &blocked);
  volatile float smallest = 1.1754944e-38f;
  const float half = smallest / 2;
  char folder[4096] = {};
  if (getcwd(folder, sizeof folder) == nullptr) return "no folder";
  return std::string(folder) + ' ' + std::to_string(mask_of_files()) + ' ' + std::setlocale(LC_ALL, nullptr) + ' ' +
         std::to_string(sigismember(&blocked, SIGUSR1)) + ' ' + std::to_string(std::fegetround()) + ' ' +
         std::to_string(files.rlim_cur) + ' ' + std::to_string(half > 0);
}

void launch(const float* x, float* y, std::int64_t n) {
  const int number = ++launches;
  launches.notify_all();
  spoil(std::getenv("DOES"));
  if (does("crash")) std::raise(SIGSEGV);
  if (does("exit")) std::exit(0);
  if (does("throw")) throw std::runtime_error("no luck");
  if (does("throw in a thread")) std::thread([] { throw std::runtime_error("no luck"); }).join();
  if (does("loop")) {
    say_process();
    while (true) pause();
  }
  if (does("input")) const_cast<float*>(x)[0] = 0;
  if (does("close")) close(3);
  if (does("forge")) {
    const std::uint64_t answer[3] = {std::uint64_t{6} << 32U, 1U << 20U, 0};
    if (write(3, answer, 16) != 16) std::abort();
  }
  if (does("reference")) {
    factor = 3;
    for (std::int64_t i = 0; i < n; ++i) y[i] = 3 * x[i];
  } else if (does("thread")) {  // works when the next launch comes
    std::thread([=] {
      launches.wait(number);
      twice(x, y, n);
    }).detach();
  } else {
    twice(x, y, n);
  }
}

Operation doubling(const std::string& name) {
  Operation op = elementwise({.name = name, .flops_per_element = 1, .value = [](double x) { return factor * x; }});
  op.formats = {Format::fp32};
  return op;
}

Launch bind(Queue&, const Shape& s, const float* x, float* y) {
  return [=, n = s["n"]] { launch(x, y, n); };
}

const RegisterOperation added{doubling("twice")};
const Registration own({.operation = "twice", .name = "own", .engine = Engine::memory}, bind);
// Right for no element: relu's outputs are not negative.
const Registration relu({.operation = "relu", .name = "minus", .engine = Engine::memory},
                        [](Queue&, const Shape& s, const float*, float* y) {
                          return [=, n = s["n"]] { std::fill(y, y + n, -1.0f); };
                        });
const RegisterOperation other{doubling("other")};
const Registration honest({.operation = "other", .name = "honest", .engine = Engine::memory},
                          [](Queue&, const Shape& s, const float* x, float* y) {
                            if (const char* log = std::getenv("FOUND")) std::ofstream(log) << found();
                            return [=, n = s["n"]] { twice(x, y, n); };
                          });
}  // namespace
"""
CHOSEN = ("--op", "twice", "--shape", "n:1e6", "--budget", "0.5")


@pytest.fixture(scope="module", name="cheats")
def cheats_fixture(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("objects")
    (folder / "cheats.cpp").write_text(SOURCE)
    run(CXX, "-std=c++20", "-shared", "-fPIC", "-O1", "-pthread", f"-I{ROOT}", "cheats.cpp", "-o", "libcheats.so", cwd=folder)
    return folder / "libcheats.so"


def measured(cheats: Path, out: Path, does: str, *options, code: int = ROW_FAILED, device: str = "cpu"):
    """What the run said, and its rows of kernels by operation and technique."""
    done = ridgebench(
        "run", "--device", device, f"--load={cheats}", *(options or CHOSEN), "--out", out, env=environment(DOES=does)
    )
    assert done.returncode == code, done.stderr
    rows = [row for row in records(out) if row["role"] == "kernel" and row["status"] != "skipped"]
    return done, {f"{row['op']}/{row['technique']}": row for row in rows}


def test_an_honest_kernel_is_believed(cheats, tmp_path):
    _, rows = measured(cheats, tmp_path / "results", "nothing", code=OK)
    row = rows["twice/own"]
    assert (row["status"], row["isolated"], row["loaded_from"]) == ("ok", True, "libcheats.so")
    assert row["time_median_s"] > 0
    done = ridgebench("verify", tmp_path / "results")
    assert done.returncode == OK, done.stderr


def test_a_kernel_whose_clock_is_slow_is_suspect(cheats, tmp_path):
    _, rows = measured(cheats, tmp_path / "results", "clock")
    row = rows["twice/own"]
    assert row["status"] == "suspect" and row["time_median_s"] is None
    assert row["reason"].startswith("the kernel's process claims ") and " for what took " in row["reason"]
    assert sorted(row["samples_s"])[len(row["samples_s"]) // 2] < 0.9 * row["seen_s"]
    done = ridgebench("verify", tmp_path / "results")
    assert "twice" not in done.stderr, "the record holds what the verdict follows from"


def test_a_patched_checker_changes_no_verdict(cheats, tmp_path):
    _, rows = measured(cheats, tmp_path / "results", "checker", "--op", "relu", "--technique", "minus", "--format", "fp32",
                       "--shape", "n:64k", "--budget", "0.5")  # fmt: skip
    assert rows["relu/minus"]["status"] == "wrong"
    assert "differs from the reference" in rows["relu/minus"]["reason"]


def test_a_launch_cannot_change_the_reference(cheats, tmp_path):
    _, rows = measured(cheats, tmp_path / "results", "reference")
    assert rows["twice/own"]["status"] == "wrong"


def test_work_after_the_launch_returned_does_not_count(cheats, tmp_path):
    _, rows = measured(cheats, tmp_path / "results", "thread")
    assert rows["twice/own"]["status"] == "wrong"


def duel(cheats: Path, out: Path, does: str, *technique: str):
    return ridgebench("duel", *technique, "--op", "twice", "--format", "fp32", "--shape", "n:1e6", "--seconds", "1",
                      "--device", "cpu", f"--load={cheats}", "--out", out, env=environment(DOES=does))  # fmt: skip


def test_a_duel_doubts_the_same_claims(cheats, tmp_path):
    done = duel(cheats, tmp_path / "honest", "nothing", "own", "own")
    assert done.returncode in (OK, UNDECIDED), done.stderr
    done = duel(cheats, tmp_path / "results", "clock", "own", "own")
    assert done.returncode == ROW_FAILED, done.stderr
    (row,) = [json.loads(line) for line in (tmp_path / "results" / "duels.jsonl").read_text().splitlines()]
    assert row["status"] == "suspect" and "own: the kernel's process claims " in row["reason"]


@pytest.mark.parametrize(
    ("does", "reason", "crashed"),
    [
        ("crash", "crashed: SIGSEGV, a wrong address", True),
        ("exit", "crashed: a call of exit", True),
        ("throw in a thread", "crashed: SIGABRT, an abort or an uncaught exception", True),
        ("input", "crashed: SIGSEGV, a wrong address", True),
        ("close", "crashed: ", True),
        ("forge", "crashed: an answer that belongs to another command", True),
        ("throw", "no luck", False),
    ],
)
def test_a_fault_costs_its_row_and_no_other(does, reason, crashed, cheats, tmp_path):
    done, rows = measured(cheats, tmp_path / "results", does, "--filter", "^(twice|other)/", "--budget", "0.5", device="sim")
    failed = rows["twice/own"]
    assert failed["status"] == "failed" and failed["reason"].startswith(reason)
    assert (f"ridgebench: {failed['id']} {reason}" in done.stderr) == crashed
    assert ("the other rows are kept and measured" in done.stderr) == crashed
    assert rows["other/honest"]["status"] == "ok"
    assert "resumed" not in read_environment(tmp_path / "results"), "the run was not started again"


SPOILT = ["folder", "mask", "locale", "signals", "rounding", "limits"] + ["flushing"] * (os.uname().machine == "x86_64")


@pytest.mark.parametrize("what", SPOILT)
def test_what_a_kernel_does_to_its_process_reaches_no_other_row(what, cheats, tmp_path):
    """`other` finds the process of its kernels as it is where `twice` does nothing, whichever comes first."""
    found = {}
    for does in ("nothing", what):
        log, out = tmp_path / f"found-{does}", tmp_path / does
        done = ridgebench("run", "--device", "sim", f"--load={cheats}", "--filter", "^(twice|other)/", "--budget", "0.5",
                          "--out", out, cwd=tmp_path, env=environment(DOES=does, FOUND=str(log)))  # fmt: skip
        rows = {row["op"]: row for row in records(out) if row["role"] == "kernel"}
        assert rows["other"]["status"] == "ok", done.stderr
        assert list(rows) == ["twice", "other"], "the seed puts the hostile kernel first"
        found[does] = log.read_text()
        sound = ridgebench("verify", out)
        assert sound.returncode == OK, sound.stderr
    assert found[what] == found["nothing"]


def kernels_process(path: Path) -> int:
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def has_ended(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in "ZX"


def looping(cheats: Path, tmp_path: Path) -> tuple[subprocess.Popen, int]:
    """A run and the process whose kernel does not return."""
    pid = tmp_path / "process"
    os.environ.update(DOES="loop", PROCESS=str(pid))
    try:
        process = start("run", "--device", "sim", f"--load={cheats}", "--filter", "^(twice|other)/", "--budget", "0.5",
                        "--out", tmp_path / "results")  # fmt: skip
    finally:
        del os.environ["DOES"], os.environ["PROCESS"]
    return process, kernels_process(pid)


def test_a_signal_costs_the_row(cheats, tmp_path):
    process, kernels = looping(cheats, tmp_path)
    os.kill(kernels, signal.SIGKILL)
    process.communicate()
    assert process.returncode == ROW_FAILED
    rows = {row["op"]: row for row in records(tmp_path / "results") if row["role"] == "kernel"}
    assert rows["twice"]["reason"] == "crashed: signal 9, Killed"
    assert rows["other"]["status"] == "ok"


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_the_process_of_the_kernels_ends_with_the_run(which, cheats, tmp_path):
    process, kernels = looping(cheats, tmp_path)
    if which != signal.SIGKILL:
        os.kill(kernels, which)  # Ctrl-C reaches both, and that process leaves it to the other one
    wait_until(lambda: process.send_signal(which) or process.poll() is not None)  # a later one ends the run at once
    process.communicate()
    assert process.returncode == -which
    wait_until(lambda: has_ended(kernels))


def test_the_measuring_process_never_loads_the_file(cheats, tmp_path):
    log = tmp_path / "loads"
    done = ridgebench("run", "--device", "sim", f"--load={cheats}", "--filter", "^other/", "--budget", "0.5",
                      "--out", tmp_path / "results", env=environment(DOES="nothing", LOADS=str(log)))  # fmt: skip
    assert done.returncode == OK, done.stderr
    loads = log.read_bytes().splitlines()
    assert len(loads) == 2, "one process computes the functions, the other one launches"
    assert all(load.split(b"\0")[1] == b"serve-kernels" for load in loads)


def test_the_command_is_for_processes_of_the_program(cheats):
    assert "is for processes that `run` and `duel` start" in one_line(ridgebench("serve-kernels", cheats, cheats), 2)
