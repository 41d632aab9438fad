#!/usr/bin/env bash
# Makes what a release has, in dist/, and checks it: the source archive with the libraries' sources, the binary archive, the
# Debian package, the wheel and SHA256SUMS. CUDA is in where nvcc is. Releases are built on Debian 12.
#   scripts/release.sh [CMAKE OPTION...]      e.g. -DRIDGEBENCH_CUDA=OFF
# RIDGEBENCH_PYTHON names the Python that has pip and pytest; default: python3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${RIDGEBENCH_PYTHON:-python3}
build=build/wheel # pyproject.toml names it

fail() {
  echo "release: $*" >&2
  exit 1
}

# CMakeLists.txt has the version; the other files repeat it for their readers.
check_version() {
  grep -q "^## $version\b" CHANGELOG.md || fail "CHANGELOG.md has no section $version"
  grep -q "^version: \"\?$version\"\?$" CITATION.cff || fail "CITATION.cff does not have version $version"
  [[ -z $(git status --porcelain) ]] || fail "there are changes that are not committed"
}

make_sources() {
  local archive
  local -a extra=("--prefix=ridgebench-$version/third_party/")
  cmake -P cmake/third_party.cmake
  for archive in third_party/*; do
    extra+=("--add-file=$archive")
  done
  git archive "${extra[@]}" "--prefix=ridgebench-$version/" HEAD | gzip -9n >"dist/ridgebench-$version-source.tar.gz"
}

# One build serves the wheel, the archive and the package.
make_binaries() {
  CMAKE_ARGS="$*" "$python" -m pip wheel --no-deps --wheel-dir dist .
  cmake --build "$build" --parallel
  cpack --config "$build/CPackConfig.cmake" -G "TGZ;DEB" -B "$build/cpack"
  cp "$build"/cpack/ridgebench-*.{tar.gz,deb} dist/
}

# Symbols, run path, size: the tests of an installed tree know what a release must have.
check_binaries() {
  local file size
  env RIDGEBENCH="$PWD/$build/ridgebench" RIDGEBENCH_BUILD="$PWD/$build" PYTHONPATH=tests/support:roofline \
    "$python" -m pytest -q -c tests/pytest.ini --rootdir tests tests/packaging
  for file in "dist/ridgebench-$version"{-source.tar.gz,-linux-*.tar.gz,-linux-*.deb,-py3-none-manylinux_*.whl}; do
    [[ -s $file ]] || fail "$file is missing"
    size=$(stat -c %s "$file")
    [[ $size -lt 40000000 ]] || fail "$file has $size bytes; a release has less than 40 MB a file"
  done
}

# Checks that the unpacked and installed programs start, and that the sources need no network.
check_files() {
  local program
  unpacked=$(mktemp -d)
  trap 'rm -rf "$unpacked"' EXIT
  tar -C "$unpacked" -xf "dist/ridgebench-$version-source.tar.gz"
  cmake -S "$unpacked/ridgebench-$version" -B "$unpacked/build" --log-level=WARNING -DRIDGEBENCH_RELEASE=ON -DRIDGEBENCH_FETCH=OFF \
    -DRIDGEBENCH_CUDA=OFF -DRIDGEBENCH_TESTS=OFF
  tar -C "$unpacked" -xf "dist/ridgebench-$version"-linux-*.tar.gz
  dpkg-deb -x "dist/ridgebench-$version"-linux-*.deb "$unpacked/deb"
  [[ -s $unpacked/deb/usr/share/zsh/site-functions/_ridgebench ]] || fail "the Debian package has no completion of zsh"
  "$python" -m pip install -q --no-deps --target "$unpacked/wheel" "dist/ridgebench-$version"-*.whl
  for program in "$unpacked"/{ridgebench-*-linux-*/bin,deb/usr/bin,wheel/ridgebench/tree/bin}/ridgebench; do
    [[ $("$program" --version) == "ridgebench $version" ]] || fail "$program does not start"
    "$program" predict matmul n:4096 --format bf16 --on h100 >/dev/null
  done
}

version=$(sed -n 's/^project(ridgebench VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
check_version
rm -rf dist
mkdir dist
make_sources
make_binaries "$@"
check_binaries
check_files
(cd dist && sha256sum ridgebench-* >SHA256SUMS && cat SHA256SUMS)
