#!/usr/bin/env bash
# Checks this tree on a machine with a GPU, by four commands of less than ten minutes each, without network. Each is
# complete in itself, and decides another question:
#   scripts/gpu_check.sh right     is what the kernels compute right?
#   scripts/gpu_check.sh picture   how fast is each of them? the runs behind figures and tables
#   scripts/gpu_check.sh ratios    hand-written or library? the duels
#   scripts/gpu_check.sh node      can this GPU be trusted? worn parts, bits before and after three minutes of load
# Nothing is compiled there: `--pack` does that beforehand, on any machine with nvcc. A stage that hangs is stopped at its
# limit, and what it measured so far stays. A second call of a command skips the stages that the first one finished. After
# each stage all results so far are in one tar file, and a command's last output is the table of its stages.
#   scripts/gpu_check.sh COMMAND [--build] [--stages NAMES] [--rehearse]
#   scripts/gpu_check.sh [COMMAND] --rehearse | --plan
#   scripts/gpu_check.sh --pack [FOLDER]
#   --build           compiles here, for the GPU found, instead of taking the packed program
#   --stages NAMES    only these stages of the command, separated by commas, in the order of the plan
#   --rehearse        runs the stages on the simulated device of the tests; says what a stage lacks without a GPU
#   --plan            prints stages, limits and what each decides; runs nothing
#   --pack [FOLDER]   compiles for compute capability 9.0 and 9.0a, as for a release but without line numbers, and packs
#                     program, device tests and their libraries into PREBUILT.tar.gz, which needs glibc 2.34; with FOLDER
#                     takes them from there instead of compiling, and says which glibc these need. cuBLAS is not packed:
#                     half a gigabyte that LD_LIBRARY_PATH names on the machine of the GPU.
#   PREBUILT  folder of the packed program (default build/gpu_check/prebuilt); a newer PREBUILT.tar.gz is unpacked there
#   WORK      folder of the stages' results, kept between calls (default build/gpu_check/work)
#   OUT       folder of the tar file (default build/gpu_check)
#   LIMIT     seconds of the whole call (default 570)
#   DEVICE    device to check (default cuda:0; with --rehearse sim)
# Exit codes: 0 fine, 2 usage, 3 interrupted, 6 a stage failed, 7 no GPU.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
export PATH=$PATH:/usr/local/cuda/bin

source scripts/tools.sh
source scripts/gpu_check/plan.sh

exec {stderr}>&2  # which a trap has not, where it comes in a command whose errors go elsewhere
trap 'echo "gpu_check.sh: interrupted" >&"$stderr"; exit 3' INT TERM HUP

usage() {
  echo "gpu_check.sh: $1" >&2
  exit 2
}

# compile FOLDER ARCHITECTURE [OPTION]...
compile() {
  local launcher=()
  command -v nvcc >/dev/null || usage "nvcc is not on the PATH"
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  cmake --preset cuda -B "$1" -DRIDGEBENCH_TESTS=ON "${launcher[@]}" \
    -DCMAKE_CUDA_ARCHITECTURES="$2" "${@:3}" >&2 &&
    cmake --build "$1" --target ridgebench ridgebench_device_tests ridgebench_own_kernels >&2
}

# newest_glibc FOLDER: the version of glibc that the programs and libraries of the folder need.
newest_glibc() {
  find "$1" -type f -exec readelf -VW {} + 2>/dev/null | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1 | cut -d_ -f2
}

# pack FOLDER: packs the programs, and the libraries that they load at their start, but not those of glibc, which belong
# to a machine's loader, nor libgcc_s, which every system has. Kernels compress to a sixth of their size.
pack() {
  local from=$1 tests=$1/tests/device/ridgebench_device_tests own=$1/tests/device/ridgebench_own_kernels.so programs
  [[ -x $from/ridgebench ]] || usage "$from has no ridgebench"
  rm -rf "$prebuilt" && mkdir -p "$prebuilt/lib"
  programs=("$from/ridgebench")
  [[ -x $tests ]] && programs+=("$tests")
  [[ -x $own ]] && programs+=("$own")
  cp -L "${programs[@]}" "$prebuilt/"
  ! command -v strip >/dev/null || strip "$prebuilt"/ridgebench*  # symbols are a tenth of what is left
  ldd "${programs[@]}" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libgcc_s|libc|libm|libdl|librt|libpthread|libresolv|ld-linux[^/]*)\.so' | xargs -r cp -L -t "$prebuilt/lib"
  git rev-parse HEAD >"$prebuilt/commit" 2>/dev/null
  tar -C "$prebuilt" -c . | gzip -9 >"$prebuilt.tar.gz.new" && mv "$prebuilt.tar.gz.new" "$prebuilt.tar.gz" || exit
  echo "$prebuilt.tar.gz: $(stat -c %s "$prebuilt.tar.gz") bytes, needs glibc $(newest_glibc "$prebuilt")"
  rm -r "$prebuilt"
}

unpack() {
  [[ $prebuilt.tar.gz -nt $prebuilt/commit ]] || return 0
  rm -rf "$prebuilt" && mkdir -p "$prebuilt" && tar -C "$prebuilt" -xmzf "$prebuilt.tar.gz"
}

# note_state WHEN: clocks, power, temperature and reasons of the driver, at the end of a file of the command: a later call
# keeps the states of an earlier one, whose results are in the same tar file.
note_state() {
  { date -u +%Y-%m-%dT%H:%M:%SZ && nvidia-smi && nvidia-smi -q; } >>"$work/state_${command}_$1.txt" 2>&1
}

# Writes the tar file of all results so far, or leaves the last one.
write_tar() {
  tar -C "$work/.." --transform "s,^$(basename "$work"),gpu_check," -czf "$out/gpu_check.tar.gz.new" "$(basename "$work")" &&
    mv "$out/gpu_check.tar.gz.new" "$out/gpu_check.tar.gz"
}

tie INT  # the stage that runs ends with this script

# SIGINT lets the program keep what it has.
interrupted() {
  trap '' INT TERM HUP
  [[ -z ${running:-} ]] || { kill -INT "$running" && wait "$running"; } 2>/dev/null
  echo "gpu_check.sh: interrupted; the same command goes on" >&"$stderr"
  write_tar
  exit 3
}

# run_stage NAME LIMIT: its output goes to NAME.log, its line to the table.
run_stage() {
  local name=$1 limit=$2 left=$((deadline - SECONDS)) started=$SECONDS status result note watcher=
  if [[ -f $work/$name.done && $name != machine ]]; then
    line "$name" 0 "$limit" "done before: $(<"$work/$name.done")"
    return
  fi
  limit=$((limit < left ? limit : left))
  if ((limit <= 0)); then
    line "$name" 0 "$2" "skipped: no time is left"
    return
  fi
  # The longest stage of each command shows the machine under load.
  if [[ $name =~ ^(deep|quick|long|soak)$ && -z $rehearse ]]; then
    (sleep 30 && note_state under_load) &
    watcher=$!
  fi
  # A program that a kernel blocks is killed.
  stage_end=$((EPOCHSECONDS + limit)) "${tied[@]}" timeout --signal=INT --kill-after=4 "$limit" \
    bash scripts/gpu_check/stages.sh "$name" >"$work/$name.log" 2>&1 </dev/null &
  running=$!
  wait "$running"
  status=$?
  running=
  [[ -z $watcher ]] || kill "$watcher" 2>/dev/null
  note=$(sed -n 's/^gpu_check: //p' "$work/$name.log" | tail -n 1)
  case $status in
    0) result="ok${note:+: $note}" ;;
    75) result="unfinished: $note" ;;
    77) result="skipped: $note" ;;
    124 | 137) result="stopped after $limit s" ;;
    *) result="FAILED ($status): $(grep -v '^$' "$work/$name.log" | tail -n 1 | cut -c1-120)" ;;
  esac
  ((status == 0)) && echo "$result" >"$work/$name.done"
  line "$name" $((SECONDS - started)) "$2" "$result"
  write_tar
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

build="" rehearse="" chosen="" command="" action=run
prebuilt=${PREBUILT:-build/gpu_check/prebuilt}
allowed="${commands// /, }, --build, --stages, --rehearse, --plan, --pack"
while (($#)); do
  case $1 in
    right | picture | ratios | node)
      [[ -z $command ]] || usage "two commands, $command and $1; allowed: one a call"
      command=$1
      ;;
    --build) build=yes ;;
    --rehearse) rehearse=yes ;;
    --stages)
      chosen=" ${2-} "
      chosen=${chosen//,/ }
      shift
      [[ -n ${chosen// /} ]] || usage "--stages names none; allowed: stages of the command, which --plan prints"
      ;;
    --plan) action=plan ;;
    --pack)
      if [[ -z ${2-} ]]; then compile build/gpu_check/cuda 90-real -DRIDGEBENCH_RELEASE=ON -DRIDGEBENCH_LINES=OFF -DRIDGEBENCH_FETCH=ON || exit 6; fi
      pack "${2:-build/gpu_check/cuda}"
      exit
      ;;
    *) usage "unknown argument '$1'; allowed: $allowed" ;;
  esac
  shift
done
read -ra called <<<"${command:-$commands}"
if [[ $action == plan ]]; then
  print_plan "${called[@]}"
  exit
fi
[[ -n $command || -n $rehearse ]] || usage "a command is missing; allowed: ${commands// /, }; --plan prints what each decides"
[[ -n $command || -z $chosen ]] || usage "--stages needs a command; allowed: ${commands// /, }"
for name in $chosen; do
  [[ " $(stages_of "$command")" == *" $name "* ]] || usage "unknown stage '$name'; allowed: $(stages_of "$command")"
done

if [[ -n $build ]]; then
  compile build/gpu_check/cuda native -DRIDGEBENCH_FETCH=OFF || exit 6
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
own_kernels=$(dirname "$device_tests")/ridgebench_own_kernels.so
[[ -d $prebuilt/lib ]] && export LD_LIBRARY_PATH=$prebuilt/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if [[ -z $rehearse ]] && ! nvidia-smi -L >/dev/null 2>&1; then
  echo "gpu_check.sh: nvidia-smi finds no GPU; --rehearse runs the stages on a simulated device" >&2
  exit 7
fi
device=${DEVICE:-$([[ -n $rehearse ]] && echo sim || echo cuda:0)}
mkdir -p "${WORK:=build/gpu_check/work}" "${OUT:=build/gpu_check}" || exit 2
work=${WORK%/} out=$(cd "$OUT" && pwd)
export binary device_tests own_kernels device rehearse work
require_same_program
trap interrupted INT TERM HUP

# check COMMAND: runs its stages.
check() {
  command=$1 table=$work/table_$1.txt
  deadline=$((SECONDS + ${LIMIT:-570}))
  local began=$SECONDS of name limit entry
  note_state before
  printf '%-10s %7s  %7s  %s\n' stage took limit result | tee "$table" >&2
  for entry in "${plan[@]}"; do
    read -r of name limit _ <<<"$entry"
    [[ $of == "$command" ]] || continue
    [[ -z $chosen || $chosen == *" $name "* ]] && run_stage "$name" "$limit"
  done
  note_state after
  printf '%-10s %5d s\n' total $((SECONDS - began)) | tee -a "$table" >&2
}

for name in "${called[@]}"; do check "$name"; done
write_tar || exit 6
echo
failed=
for name in "${called[@]}"; do
  cat "$work/table_$name.txt"
  ! grep -q 'FAILED' "$work/table_$name.txt" || failed=yes
done
echo "$out/gpu_check.tar.gz"
[[ -z $failed ]] || exit 6
