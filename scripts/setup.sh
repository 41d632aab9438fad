#!/usr/bin/env bash
# Installs what ridgebench needs and does not find: Debian packages where there are apt and root (or sudo), and in .venv
# Python's packages, CMake and Ninja. It goes on without what it cannot have, and names it. Running it again changes nothing.
#   scripts/setup.sh            to build, measure and draw
#   scripts/setup.sh --dev      also what the tests need
#   scripts/setup.sh --checks   also what scripts/check.sh needs
#   scripts/setup.sh --web      also what builds the playground
# Exit codes: 0 the sources can be built, 2 usage, 8 something is missing without which they cannot.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/tools.sh

packages=(
  g++ cmake ninja-build git ca-certificates
  libfmt-dev nlohmann-json3-dev libcli11-dev libbenchmark-dev libre2-dev
  libopenblas-openmp-dev libdnnl-dev
  python3 python3-venv python3-numpy python3-scipy python3-matplotlib python3-fastjsonschema
  python3-zstandard python3-lz4
  fonts-dejavu-core fonts-noto-cjk
)
python_packages=("${drawing_packages[@]}" fastjsonschema)
dev=
checks=
for argument in "$@"; do
  case $argument in
    --dev)
      dev=yes
      packages+=(libgtest-dev libgmock-dev libbenchmark-tools python3-pytest python3-jsonschema python3-yaml
                 python3-prometheus-client mypy binutils chromium shellcheck)
      python_packages+=(pytest jsonschema mypy prometheus_client "ml_dtypes==0.5.1" ruptures)
      ;;
    --checks)
      checks=yes
      packages+=(clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev libomp-19-dev llvm-19 valgrind)
      ;;
    --web) packages+=(emscripten librange-v3-dev) ;;
    *)
      echo "setup.sh: unknown argument '$argument'; allowed: --dev, --checks, --web" >&2
      exit 2
      ;;
  esac
done

say() { echo "setup: $*" >&2; }

# The resolver tries each name twice, for two seconds each (man resolv.conf): a network may drop its packets.
export RES_OPTIONS="timeout:2 attempts:2"

# apt_get SECONDS COMMAND...: prints nothing but, where it fails, its last line. 0 seconds are no limit.
apt_get() {
  local said status
  said=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RES_OPTIONS="$RES_OPTIONS" timeout "$1" apt-get -y -qq \
    -o APT::Update::Error-Mode=any -o Acquire::http::Timeout=10 -o DPkg::Lock::Timeout=60 --no-install-recommends \
    "${@:2}" 2>&1) && return
  status=$?
  if [[ $status -eq 124 ]]; then echo "no answer in $1 s"; else tail -n 1 <<<"$said"; fi
  return 1
}

# Asks for root only where it may be had: a job and a login node have no use for sudo.
may_install() {
  as_root=()
  command -v apt-get >/dev/null && ! in_job || return 1
  if [[ $EUID -ne 0 ]]; then
    as_root=(sudo -n)
    ! has_scheduler && sudo -n true 2>/dev/null
  fi
}

install_packages() {
  local package said missing=() known=() unknown=()
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if ! said=$(apt_get 120 update -o Acquire::Retries=0); then
    say "apt-get update failed, going on with its old lists: $said"
  fi
  for package in "${missing[@]}"; do
    if [[ -n $(apt-cache show "$package" 2>/dev/null) ]]; then known+=("$package"); else unknown+=("$package"); fi
  done
  [[ ${#unknown[@]} -eq 0 ]] || say "apt has no package ${unknown[*]}"
  [[ ${#known[@]} -gt 0 ]] || return 0
  # One package shows whether apt reaches its servers; it would wait for each of hundreds.
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  if ! said=$(cd "$scratch" && apt_get 30 download -o Acquire::Retries=0 "${known[0]}"); then
    say "apt-get cannot download ${known[*]}: $said"
    return
  fi
  echo "setup: apt-get installs ${known[*]}" >&2
  said=$(apt_get 0 install "${known[@]}") || say "apt-get install failed: $said"
}

# Prints a Python 3.9 or newer that can make an environment: one that has what drawing needs, else any.
base_python() {
  local python wanted
  for wanted in "${drawing_packages[*]}" ""; do
    for python in "${RIDGEBENCH_PYTHON:-}" "${PYTHON:-}" "$(PATH=${PATH#*:} type -P python3)" /usr/bin/python3 \
      python3.{14..9}; do
      # shellcheck disable=SC2086  # a list of words
      if [[ -n $python ]] && has_packages "$python" venv $wanted; then echo "$python" && return; fi
    done
  done
  return 1
}

# Makes .venv on top of a Python, so that the packages of this one are used. A Python that is itself an environment hands
# down only those of its own base; a .pth file adds its own. pip comes only when something is missing: it takes seconds.
make_environment() {
  local base
  ! has_packages .venv/bin/python "${drawing_packages[@]}" || return 0
  base=$(base_python) || return 0
  if has_packages .venv/bin/python && { [[ -e .venv/bin/cmake ]] || ! has_packages "$base" "${drawing_packages[@]}"; }; then
    return 0
  fi
  "$base" -m venv --clear --system-site-packages --without-pip .venv >/dev/null 2>&1 ||
    say "$base cannot make .venv"
  has_packages .venv/bin/python || return 0
  "$base" -c 'import site, sys
if sys.prefix != sys.base_prefix: print(*site.getsitepackages(), sep="\n")' \
    >"$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/base.pth"
}

# pip_install [OPTION]... PACKAGE...: lets the pip of .venv install packages, or says why it cannot. An option is one word.
pip_install() {
  local said word packages=()
  for word; do [[ $word == -* ]] || packages+=("$word"); done
  if ! has_packages .venv/bin/python pip && ! .venv/bin/python -m ensurepip >/dev/null 2>&1; then
    say "no pip here (Debian: python3-venv) to install ${packages[*]}"
    return
  fi
  said=$(.venv/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --timeout 10 --retries 1 "$@" 2>&1) ||
    say "pip cannot install ${packages[*]}: $(tail -n 1 <<<"$said")"
}

# Lets pip install into .venv what is missing there.
install_python_packages() {
  local package missing=()
  has_packages .venv/bin/python || return 0
  has_packages .venv/bin/python tomllib || python_packages+=(tomli)  # Python before 3.11
  for package in "${python_packages[@]}"; do
    has_packages .venv/bin/python "${package%%==*}" || missing+=("$package")
  done
  [[ -z $dev ]] || has_packages .venv/bin/python pptx || missing+=(python-pptx)
  [[ -z $dev ]] || has_packages .venv/bin/python material || missing+=("mkdocs-material>=9.5,<10")  # scripts/site.sh
  has_cmake || missing+=(cmake)
  command -v ninja >/dev/null || missing+=(ninja)
  [[ ${#missing[@]} -eq 0 ]] || pip_install "${missing[@]}"
}

# Python's fuzzer has a folder of its own, which only tests/fuzz/run.sh reads: it is larger than all other packages.
install_fuzzer() {
  [[ -n $checks ]] && has_packages .venv/bin/python && ! PYTHONPATH=$fuzzer_folder has_packages .venv/bin/python atheris || return 0
  pip_install --no-deps --target="$fuzzer_folder" atheris==3.0.0
}

# missing_headers COMPILER NAME=HEADER...: prints the names whose header the compiler does not find.
missing_headers() {
  local pair
  for pair in "${@:2}"; do
    $1 -I/usr/include/openblas -E -x c++ - <<<"#include <${pair#*=}>" >/dev/null 2>&1 || echo "${pair%%=*}"
  done
}

# Names in one line which checks of scripts/check.sh will be refused.
name_missing_checks() {
  local check missing
  [[ -n $checks ]] || return 0
  mapfile -t missing < <(for check in "${!check_tools[@]}"; do missing_for "$check"; done | sort -u)
  [[ ${#missing[@]} -eq 0 ]] || say "missing for scripts/check.sh: ${missing[*]}"
}

# Names in one line what is missing now. Fails where the sources cannot be built.
name_missing() {
  local compiler required=() libraries=() yardsticks=() python=() optional=
  if compiler=$(cxx_compiler); then
    mapfile -t libraries < <(missing_headers "$compiler" fmt=fmt/core.h nlohmann-json=nlohmann/json.hpp \
      CLI11=CLI/CLI.hpp google-benchmark=benchmark/benchmark.h RE2=re2/re2.h)
    mapfile -t yardsticks < <(missing_headers "$compiler" OpenBLAS=cblas.h oneDNN=oneapi/dnnl/dnnl.h)
  else
    required+=("GCC 11 or newer (or clang 16 or newer with OpenMP)")
  fi
  has_cmake || required+=("CMake 3.22 or newer")
  command -v ninja >/dev/null || command -v make >/dev/null || required+=("Ninja or make")
  can_draw || python=("Python 3.9 or newer with ${drawing_packages[*]}")
  [[ ${#libraries[@]} -eq 0 ]] || optional+=" ${libraries[*]} (fetched by CMake);"
  [[ ${#yardsticks[@]} -eq 0 ]] || optional+=" ${yardsticks[*]} (rows skipped);"
  [[ ${#python[@]} -eq 0 ]] || optional+=" ${python[*]} (no figures);"
  if [[ ${#required[@]} -gt 0 ]]; then
    say "missing and required: $(printf '%s; ' "${required[@]}")${optional:+missing and optional:$optional }docs/install.md helps"
    return 1
  elif [[ -n $optional ]]; then
    say "missing, all of it optional:${optional%;}"
  fi
}

# A Slurm for one test, which needs root. An sbatch in PATH would make scripts/run.sh submit jobs, so it is not installed.
unpack_slurm() {
  [[ -n $dev && $EUID -eq 0 && -x scripts/try/slurm.sh && ! -d .deps/slurm ]] || return 0
  scripts/try/slurm.sh unpack >/dev/null 2>&1 || say "scripts/try/slurm.sh unpack failed: the test of a fleet on Slurm will be skipped"
}

if may_install; then
  install_packages
  unpack_slurm
fi
make_environment
install_python_packages
install_fuzzer
name_missing_checks
name_missing || exit 8
