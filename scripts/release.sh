#!/usr/bin/env bash
# Makes what a release has, in dist/, and checks it: the source archive with the libraries' sources, the binary archive, the
# Debian package, the wheel, recipes of images, the site, notes of the changelog and SHA256SUMS. CUDA is in where nvcc is.
# Releases are built on Debian 12; docs/releasing.md has the steps around it.
#   scripts/release.sh [CMAKE OPTION...]      e.g. -DRIDGEBENCH_CUDA=OFF
# RIDGEBENCH_PYTHON names the Python that has pip and pytest; default: python3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build/wheel # pyproject.toml names it

fail() {
  echo "release: $*" >&2
  exit 1
}

python=$(command -v "${RIDGEBENCH_PYTHON:-python3}") || fail "${RIDGEBENCH_PYTHON:-python3} is not a program; allowed: RIDGEBENCH_PYTHON with a Python"
python=$(realpath -s "$python") # a relative path would not serve the program in other folders
[[ -z ${RIDGEBENCH_PYTHON:-} ]] || export RIDGEBENCH_PYTHON=$python

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
  git archive "${extra[@]}" "--prefix=ridgebench-$version/" HEAD | gzip -9n >"dist/ridgebench-$version.tar.gz"
}

# One build serves the wheel, the archive and the package.
make_binaries() {
  CMAKE_ARGS="$*" "$python" -m pip wheel --no-deps --wheel-dir dist .
  cmake --build "$build" --parallel
  cpack --config "$build/CPackConfig.cmake" -D "CPACK_DEBIAN_PACKAGE_HOMEPAGE=$address" -G "TGZ;DEB" -B "$build/cpack"
  cp "$build"/cpack/ridgebench-*.{tar.gz,deb} dist/
}

# The version's section of the changelog without its links, whose pages a release page does not have.
notes() {
  sed -n "/^## $version\b/,/^## /{/^## /d;s/\[\([^]]*\)\]([^)]*)/\1/g;p}" CHANGELOG.md
}

# The recipes take the source archive.
make_texts() {
  cp packaging/Containerfile packaging/ridgebench.def dist/
  scripts/site.sh -o "$PWD/dist/site"
  tar -C dist --transform "s,^site,ridgebench-$version-site," -czf "dist/ridgebench-$version-site.tar.gz" site
  rm -r dist/site
  notes >"dist/ridgebench-$version-notes.md"
  [[ -s dist/ridgebench-$version-notes.md ]] || fail "CHANGELOG.md has no text below $version"
}

# Symbols, run path, size: the tests of an installed tree check the contents of a release.
check_binaries() {
  local file size
  env RIDGEBENCH="$PWD/$build/ridgebench" RIDGEBENCH_BUILD="$PWD/$build" PYTHONPATH=tests/support:roofline \
    "$python" -m pytest -q -c tests/pytest.ini --rootdir tests tests/packaging
  for file in "dist/ridgebench-$version"{.tar.gz,-site.tar.gz,-notes.md,-linux-*.tar.gz,-linux-*.deb,-py3-none-manylinux_*.whl}; do
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
  tar -C "$unpacked" -xf "dist/ridgebench-$version.tar.gz"
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

# Names what a person has to fill in before these files are published.
name_missing() {
  [[ -n $address ]] || echo "release: not to be published yet: pyproject.toml has no Homepage" >&2
  ! grep -q "^## $version\b.*unreleased" CHANGELOG.md || echo "release: not to be published yet: CHANGELOG.md says that $version is unreleased" >&2
}

version=$(sed -n 's/^project(ridgebench VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
address=$(sed -n 's/^Homepage = "\(.*\)"$/\1/p' pyproject.toml)
check_version
rm -rf dist
mkdir dist
make_sources
make_binaries "$@"
make_texts
check_binaries
check_files
(cd dist && sha256sum ridgebench-* ridgebench.def Containerfile >SHA256SUMS && sha256sum --quiet -c SHA256SUMS && cat SHA256SUMS)
name_missing
