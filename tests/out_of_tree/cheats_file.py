"""A file of own kernels that do everything wrong, and how tests measure it."""

import os
from pathlib import Path

from build_folder import run
from command_line import ROOT, ROW_FAILED, environment, records, ridgebench

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

// Every time is a quarter of what it was: other programs of a busy machine may hide a smaller lie.
int slow_clock(clockid_t clock, timespec* time) {
  const int result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const long long quarter = (time->tv_sec * 1000000000LL + time->tv_nsec) / 4;
  *time = {static_cast<time_t>(quarter / 1000000000LL), static_cast<long>(quarter % 1000000000LL)};
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
  if (does("clock")) replace(dlsym(RTLD_DEFAULT, "clock_gettime"), reinterpret_cast<void*>(slow_clock));
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
  } else if (does("fork")) {
    if (number == 1 && fork() == 0) {
      say_process();
      while (true) pause();
    }
    twice(x, y, n);
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


# A technique whose plans a user may name.
PLANNED = r"""
#include "kernels/common/interface/kernel.hpp"
using namespace ridgebench;
namespace {
struct Width {
  std::int64_t elements;
  std::string name() const { return "w" + std::to_string(elements); }
  std::string choice() const { return name(); }
};
Launch bind(Queue&, const Width& width, const Shape& s, const float* x, float* y) {
  return [=, n = s["n"]] {
    for (std::int64_t first = 0; first < n; first += width.elements) {
      const std::int64_t end = std::min(n, first + width.elements);
      for (std::int64_t i = first; i < end; ++i) y[i] = 2 * x[i];
    }
  };
}
Operation doubling() {
  Operation op = elementwise({.name = "twice", .flops_per_element = 1, .value = [](double x) { return 2 * x; }});
  op.formats = {Format::fp32};
  return op;
}
const RegisterOperation twice{doubling()};
const Registration own({.operation = "twice", .name = "own", .engine = Engine::memory},
                       planned([](Queue&, const Shape&) { return Width{64}; }, bind,
                               [] { return std::vector{Width{64}, Width{128}}; }));
}  // namespace
"""


def compiled(folder: Path, *options: str, source: str = SOURCE) -> Path:
    """The file as a shared object."""
    (folder / "cheats.cpp").write_text(source)
    run(CXX, "-std=c++20", "-shared", "-fPIC", "-O1", "-pthread", f"-I{ROOT}", *options, "cheats.cpp", "-o", "libcheats.so", cwd=folder)
    return folder / "libcheats.so"


def measured(cheats: Path, out: Path, does: str, *options, code=ROW_FAILED, device: str = "cpu", **variables: str):
    """What the run said, and its rows of kernels by operation and technique. `code` None: any."""
    done = ridgebench(
        "run", "--device", device, f"--load={cheats}", *(options or CHOSEN), "--out", out, env=environment(DOES=does, **variables)
    )
    assert code is None or done.returncode == code, done.stderr
    rows = [row for row in records(out) if row["role"] == "kernel" and row["status"] != "skipped"]
    return done, {f"{row['op']}/{row['technique']}": row for row in rows}
