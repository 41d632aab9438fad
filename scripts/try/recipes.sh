#!/usr/bin/env bash
# Tries the recipes of packaging/ as far as a machine without a GPU can: buildah builds the image of the Containerfile, and
# that of the Apptainer definition by the same commands, on Debian 12 without CUDA, and runs the program in both.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cases=(containerfile apptainer)
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot

engine() { buildah --root "$try/buildah/storage" --runroot "$try/buildah/run" "$@"; }

# Prints the name of an image with Debian's minimal system, which represents those of NVIDIA.
base_image() {
  local container
  suite=bookworm
  try_base >&2
  container=$(engine from scratch)
  engine add "$container" "$try/base/$suite.tar" / >&2
  engine commit --rm "$container" localhost/try-base >&2
  echo localhost/try-base
}

# Builds an image from HEAD's tarball and runs the program in it: build_and_run CONTAINERFILE
build_and_run() {
  local base version context container seconds=$SECONDS
  command -v buildah >/dev/null || try_fail "$try_case needs buildah"
  base=$(base_image)
  version=$(sed -n 's/^project(ridgebench VERSION \([0-9.]*\).*/\1/p' "$checkout/CMakeLists.txt")
  context=$(mktemp -d "$try/context.XXXXXX")
  git -C "$checkout" archive --prefix="ridgebench-$version/" -o "$context/ridgebench-$version.tar.gz" HEAD
  engine build --network host --layers=false --build-arg BUILD="$base" --build-arg RUNTIME="$base" \
    --tag "localhost/$try_case" --file "$1" "$context"
  rm -rf "$context"
  seconds=$((SECONDS - seconds))
  container=$(engine from "localhost/$try_case")
  engine run "$container" -- sh -euxc \
    'ridgebench --version; ridgebench info; ridgebench run --budget 20 --out /tmp/run; ridgebench plot /tmp/run; ls /tmp/run/figures'
  engine rm "$container"
  engine rmi "localhost/$try_case"
  try_says "image built in $seconds s; run and plot work in it"
}

case_containerfile() { build_and_run "$checkout/packaging/Containerfile"; }

case_apptainer() {
  python3 "$checkout/scripts/try/containerfile_of.py" "$checkout/packaging/ridgebench.def" >"$try/Containerfile"
  build_and_run "$try/Containerfile"
}

try_main "$@"
