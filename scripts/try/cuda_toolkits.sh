# shellcheck shell=bash
# Toolkits in a folder, for scripts/try/cuda.sh.

# toolkit_of_debian FOLDER: nvcc 12.4 and its headers and libraries, of Debian 13's packages, as NVIDIA lays them out.
toolkit_of_debian() {
  local packages=$1.packages tree=$1.packages/tree
  if [[ -x $1/bin/nvcc ]]; then
    return
  fi
  mkdir -p "$tree" "$packages/lists/partial" "$packages/cache" "$1/bin" "$1/nvvm"
  echo 'deb http://deb.debian.org/debian trixie main contrib non-free' >"$packages/sources.list"
  local apt=(apt-get -q -o "Dir::Etc::SourceList=$packages/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$packages/lists" -o "Dir::Cache=$packages/cache" -o APT::Sandbox::User=root)
  (
    cd "$packages" || exit
    "${apt[@]}" update
    "${apt[@]}" download nvidia-cuda-toolkit nvidia-cuda-dev libcudart12 libcub-dev libthrust-dev libcu++-dev
    for package in *.deb; do dpkg -x "$package" tree; done
    rm -- *.deb
  ) >"$packages/log" 2>&1
  cp -a "$tree"/usr/bin/{bin2c,cudafe++,fatbinary,nvlink,ptxas} "$tree"/usr/lib/nvidia-cuda-toolkit/bin/{nvcc,cicc,crt} "$1/bin"
  cp -a "$tree/usr/lib/nvidia-cuda-toolkit/libdevice" "$1/nvvm"
  cp -a "$tree/usr/include" "$1/include"
  mkdir -p "$1/lib64"
  cp -a "$tree"/usr/lib/x86_64-linux-gnu/libcuda{rt_static,devrt}.a "$tree"/usr/lib/x86_64-linux-gnu/libcudart.so* "$1/lib64"
  rm -r "$packages"
  cat >"$1/bin/nvcc.profile" <<'PROFILE'
TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64"
PROFILE
}

# toolkit_of_wheels FOLDER VERSION: headers and ptxas of that CUDA 12.
toolkit_of_wheels() {
  local part
  if [[ -x $1/bin/ptxas ]]; then
    return
  fi
  mkdir -p "$1"
  for part in cuda-runtime cuda-nvcc nvtx cuda-cccl cublas; do
    python3 -m pip download --quiet --no-deps --dest "$1.wheels" "nvidia-$part-cu12==$2.*"
  done
  for part in "$1".wheels/*.whl; do
    python3 -m zipfile -e "$part" "$1.wheels"
    rm "$part"
  done
  for part in "$1".wheels/nvidia/*/; do
    cp -a "$part." "$1"
  done
  rm -r "$1.wheels"
  chmod +x "$1/bin/ptxas"
  echo "CUDA Version $2" >"$1/version.txt"
}

# ptx_version FOLDER: the newest version of PTX that its ptxas reads.
ptx_version() {
  printf '.version 99.9\n.target sm_90\n' >"$1/newest.ptx"
  { "$1/bin/ptxas" "$1/newest.ptx" -o /dev/null 2>&1 || true; } | sed -nE "s/.*current version is '([0-9.]+)'.*/\1/p"
}
