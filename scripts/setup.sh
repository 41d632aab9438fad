#!/usr/bin/env bash
# Installs what ridgebench needs and does not find: Debian packages where there are apt and root (or sudo), and a Python
# environment in .venv for the rest. Running it again changes nothing.
#   scripts/setup.sh          to build, measure and draw
#   scripts/setup.sh --dev    also what the tests and checks need
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  g++ cmake ninja-build git ca-certificates
  libfmt-dev nlohmann-json3-dev libcli11-dev libbenchmark-dev libssl-dev libre2-dev
  libopenblas-openmp-dev libdnnl-dev
  python3 python3-venv python3-numpy python3-scipy python3-matplotlib python3-fastjsonschema
  fonts-dejavu-core
)
python_packages=(numpy scipy matplotlib fastjsonschema)  # where Debian's are missing
if [[ ${1:-} == --dev ]]; then
  packages+=(libgtest-dev libgmock-dev libbenchmark-tools python3-pytest python3-jsonschema python3-yaml binutils
             clang-tidy-19 clang-format-19 libomp-19-dev chromium)
  python_packages+=(pytest jsonschema "ml_dtypes==0.5.1")
fi

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
  done
}

as_root=()
if [[ $EUID -ne 0 ]]; then
  as_root=(sudo -n)
fi

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $EUID -ne 0 ]] && ! sudo -n true 2>/dev/null; then
    echo "setup: not installed and no root to install them: ${missing[*]}" >&2
    echo "setup: going on with what exists; CMake fetches pinned versions of fmt, nlohmann-json, CLI11, RE2," \
      "Google Benchmark and GoogleTest" >&2
    return 0
  fi
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# Makes .venv on top of the system's Python, so that Debian's numpy and matplotlib are used.
make_python_environment() {
  local python=/usr/bin/python3 requirement
  [[ -x $python ]] || python=python3
  if [[ ! -x .venv/bin/python ]]; then
    "$python" -m venv --system-site-packages .venv ||  # says that python3-venv is missing
      "$python" -m venv --system-site-packages --without-pip .venv
  fi
  .venv/bin/python -c "import tomllib" 2>/dev/null || python_packages+=(tomli)  # Python before 3.11
  for requirement in "${python_packages[@]}"; do
    .venv/bin/python -c "from importlib.util import find_spec; exit(not find_spec('${requirement%%==*}'))" ||
      .venv/bin/python -m pip install --quiet --disable-pip-version-check "$requirement"
  done
}

if command -v apt-get >/dev/null; then
  install_packages
else
  echo "setup: no apt here; needed are: ${packages[*]} (or their equivalents)" >&2
fi
make_python_environment
