#!/usr/bin/env bash
# Checks this tree on a machine with a GPU in less than nine minutes, without network, in the order of what each stage
# decides. Nothing is compiled there: `--pack` does that beforehand, on any machine with nvcc. A stage that hangs is
# stopped at its limit, and what it measured so far stays. A second call skips the stages that the first one finished.
# The results are one tar file, and the last output is a table of the stages.
#   scripts/gpu_check.sh [--build] [--stages NAMES] [--rehearse] [--plan] [--pack [FOLDER]]
#   --build           compiles here, for the GPU found, instead of taking the packed program
#   --stages NAMES    only these stages, separated by commas, in the order of the plan
#   --rehearse        runs the stages on the simulated device of the tests; says what a stage lacks without a GPU
#   --plan            prints stages, limits and what each decides; runs nothing
#   --pack [FOLDER]   compiles for compute capability 9.0 and 9.0a and packs program, device tests and their libraries
#                     into PREBUILT.tar.gz; with FOLDER takes them from there instead of compiling. cuBLAS is not packed:
#                     half a gigabyte that LD_LIBRARY_PATH names on the machine of the GPU.
#   PREBUILT  folder of the packed program (default build/gpu_check/prebuilt); a newer PREBUILT.tar.gz is unpacked there
#   WORK      folder of the stages' results, kept between calls (default build/gpu_check/work)
#   OUT       folder of the tar file (default build/gpu_check)
#   LIMIT     seconds of the whole call (default 530)
#   DEVICE    device to check (default cuda:0; with --rehearse sim)
# Exit codes: 0 fine, 2 usage, 6 a stage failed, 7 no GPU.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
export PATH=$PATH:/usr/local/cuda/bin

# name, limit in seconds, what it decides
plan=(
  "machine 5 which GPU, driver and clocks this is"
  "smoke 30 whether results are right: nothing else counts if not"
  "quick 155 the published picture: the quick profile"
  "counters 15 what moved and which pipes were busy, by Nsight Compute"
  "long 265 the published ratios, by the duels' profile: cycles, and time with the power limit"
  "sanitizer 55 memory errors and races in small shapes"
)

usage() {
  echo "gpu_check.sh: $1" >&2
  exit 2
}

print_plan() {
  local name limit decides total=0
  printf '%-10s %7s  %s\n' stage limit decides
  for entry in "${plan[@]}"; do
    read -r name limit decides <<<"$entry"
    printf '%-10s %5d s  %s\n' "$name" "$limit" "$decides"
    total=$((total + limit))
  done
  printf '%-10s %5d s\n' total "$total"
}

names_of_plan() {
  local entry
  for entry in "${plan[@]}"; do echo -n "${entry%% *} "; done
}

# compile FOLDER ARCHITECTURE
compile() {
  local launcher=()
  command -v nvcc >/dev/null || usage "nvcc is not on the PATH"
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  cmake --preset cuda -B "$1" -DRIDGEBENCH_TESTS=ON -DRIDGEBENCH_FETCH=OFF "${launcher[@]}" \
    -DCMAKE_CUDA_ARCHITECTURES="$2" >&2 &&
    cmake --build "$1" --target ridgebench ridgebench_device_tests >&2
}

# pack FOLDER: packs the programs, and the libraries that they load at their start, but not those of glibc, which belong
# to a machine's loader. Kernels compress to a sixth of their size.
pack() {
  local from=$1 tests=$1/tests/device/ridgebench_device_tests programs
  [[ -x $from/ridgebench ]] || usage "$from has no ridgebench"
  rm -rf "$prebuilt" && mkdir -p "$prebuilt/lib"
  programs=("$from/ridgebench")
  [[ -x $tests ]] && programs+=("$tests")
  cp -L "${programs[@]}" "$prebuilt/"
  ldd "${programs[@]}" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|ld-linux[^/]*)\.so' | xargs -r cp -L -t "$prebuilt/lib"
  git rev-parse HEAD >"$prebuilt/commit" 2>/dev/null
  tar -C "$prebuilt" -czf "$prebuilt.tar.gz" . && rm -r "$prebuilt" && du -h "$prebuilt.tar.gz"
}

unpack() {
  [[ $prebuilt.tar.gz -nt $prebuilt/commit ]] || return 0
  rm -rf "$prebuilt" && mkdir -p "$prebuilt" && tar -C "$prebuilt" -xmzf "$prebuilt.tar.gz"
}

# run_stage NAME LIMIT: its output goes to NAME.log, its line to the table.
run_stage() {
  local name=$1 limit=$2 left=$((deadline - SECONDS)) started=$SECONDS status result note
  if [[ -f $work/$name.done ]]; then
    line "$name" 0 "$limit" "done before: $(<"$work/$name.done")"
    return
  fi
  limit=$((limit < left ? limit : left))
  if ((limit <= 0)); then
    line "$name" 0 "$2" "skipped: no time is left"
    return
  fi
  # SIGINT lets the program keep what it has. One that a kernel blocks is killed.
  stage_end=$((EPOCHSECONDS + limit)) timeout --signal=INT --kill-after=4 "$limit" \
    bash scripts/gpu_check/stages.sh "$name" >"$work/$name.log" 2>&1 </dev/null
  status=$?
  note=$(sed -n 's/^gpu_check: //p' "$work/$name.log" | tail -1)
  case $status in
    0) result="ok${note:+: $note}" ;;
    77) result="skipped: $note" ;;
    124 | 137) result="stopped after $limit s" ;;
    *) result="FAILED ($status): $(grep -v '^$' "$work/$name.log" | tail -1 | cut -c1-120)" ;;
  esac
  ((status == 0)) && echo "$result" >"$work/$name.done"
  line "$name" $((SECONDS - started)) "$2" "$result"
}

line() { printf '%-10s %5d s  %5d s  %s\n' "$@" | tee -a "$table" >&2; }

# Results of another program must not end up in one tar file with these.
require_same_program() {
  local sum
  sum=$(sha256sum <"$binary")
  [[ ! -f $work/program.sha256 || $sum == "$(<"$work/program.sha256")" ]] ||
    usage "$work holds the stages of another program: remove it, or name another folder in WORK"
  echo "$sum" >"$work/program.sha256"
}

build="" rehearse="" chosen=$(names_of_plan)
prebuilt=${PREBUILT:-build/gpu_check/prebuilt}
while (($#)); do
  case $1 in
    --build) build=yes ;;
    --rehearse) rehearse=yes ;;
    --stages)
      chosen=" ${2-} "
      chosen=${chosen//,/ }
      for name in $chosen; do [[ " $(names_of_plan)" == *" $name "* ]] || usage "unknown stage '$name'; allowed: $(names_of_plan)"; done
      [[ -n ${chosen// /} ]] || usage "--stages names none; allowed: $(names_of_plan)"
      shift
      ;;
    --plan)
      print_plan
      exit
      ;;
    --pack)
      if [[ -z ${2-} ]]; then compile build/gpu_check/cuda 90-real || exit 6; fi
      pack "${2:-build/gpu_check/cuda}"
      exit
      ;;
    *) usage "unknown argument '$1'; allowed: --build, --stages, --rehearse, --plan, --pack" ;;
  esac
  shift
done

if [[ -n $build ]]; then
  compile build/gpu_check/cuda native || exit 6
  prebuilt=build/gpu_check/cuda
elif [[ -n $rehearse && -z ${PREBUILT:-} ]]; then
  prebuilt=build/release/tests
else
  unpack || usage "$prebuilt.tar.gz cannot be unpacked"
fi
binary=$prebuilt/ridgebench
[[ -n $rehearse && ! -x $binary ]] && binary=$prebuilt/ridgebench_with_simulation
[[ -x $binary ]] || usage "$prebuilt has no program: scripts/gpu_check.sh --pack makes it where nvcc is; or give --build"
device_tests=$prebuilt/ridgebench_device_tests
[[ -n $build ]] && device_tests=$prebuilt/tests/device/ridgebench_device_tests
[[ -d $prebuilt/lib ]] && export LD_LIBRARY_PATH=$prebuilt/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if [[ -z $rehearse ]] && ! nvidia-smi -L >/dev/null 2>&1; then
  echo "gpu_check.sh: nvidia-smi finds no GPU; --rehearse runs the stages on a simulated device" >&2
  exit 7
fi
device=${DEVICE:-$([[ -n $rehearse ]] && echo sim || echo cuda:0)}
mkdir -p "${WORK:=build/gpu_check/work}" "${OUT:=build/gpu_check}" || exit 2
work=${WORK%/} out=$(cd "$OUT" && pwd)
table=$work/table.txt
export binary device_tests device rehearse work
require_same_program
deadline=$((SECONDS + ${LIMIT:-530}))
printf '%-10s %7s  %7s  %s\n' stage took limit result | tee "$table" >&2
for entry in "${plan[@]}"; do
  read -r name limit _ <<<"$entry"
  [[ " $chosen" == *" $name "* ]] && run_stage "$name" "$limit"
done
printf '%-10s %5d s\n' total "$SECONDS" | tee -a "$table" >&2
tar -C "$work/.." --transform "s,^$(basename "$work"),gpu_check," -czf "$out/gpu_check.tar.gz" "$(basename "$work")" || exit 6
echo
cat "$table"
echo "$out/gpu_check.tar.gz"
! grep -q 'FAILED' "$table" || exit 6
