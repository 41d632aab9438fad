#!/usr/bin/env bash
# Runs a command as if this machine were another one, as root:
#   scripts/try/machine.sh [--l3 MIB] [--processors N] [--load N] COMMAND...
#   --l3 MIB        /sys shows last-level caches of this size; the caches themselves stay as they are
#   --processors N  the first N processors
#   --load N        N processes keep the processors busy meanwhile
# The quick tests on a small machine: scripts/try/machine.sh --l3 8 --processors 1 ctest --preset cuda --label-exclude "thorough|slow"
set -euo pipefail
usage='usage: scripts/try/machine.sh [--l3 MIB] [--processors N] [--load N] COMMAND...'
l3=
processors=
load=0
while [[ ${1:-} == --* ]]; do
  case $1 in
    --l3) l3=${2:-} ;;
    --processors) processors=${2:-} ;;
    --load) load=${2:-} ;;
    *)
      echo "machine.sh: unknown option '$1'; $usage" >&2
      exit 2
      ;;
  esac
  if [[ ! ${2:-} =~ ^[1-9][0-9]{0,5}$ ]]; then
    echo "machine.sh: $1 is '${2:-}'; allowed: a whole number from 1 to 999999" >&2
    exit 2
  fi
  shift 2
done
if [[ $# == 0 ]]; then
  echo "$usage" >&2
  exit 2
fi
if [[ -n $processors ]] && ((processors > $(nproc))); then
  echo "machine.sh: --processors $processors; allowed: 1 to $(nproc), the processors of this machine" >&2
  exit 2
fi

# In a mount namespace of its own, each processor's caches are a copy with another size of the last level.
show_caches() {
  local cpu copy level index
  for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
    copy=$folder/${cpu##*/}
    cp -r --no-preserve=all "$cpu/cache" "$copy"
    level=$(cat "$copy"/index*/level | sort -n | tail -n 1)
    for index in "$copy"/index*; do
      [[ $(cat "$index/level") == "$level" ]] && echo "$((l3 * 1024))K" >"$index/size"
    done
    mount --bind "$copy" "$cpu/cache"
  done
}

# The command runs in a second call of this script, inside the namespace.
if [[ -n $l3 && -z ${RIDGEBENCH_IN_MACHINE:-} ]]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  words=("$0" --l3 "$l3" --load "$load")
  [[ $load == 0 ]] && words=("$0" --l3 "$l3")
  [[ -n $processors ]] && words+=(--processors "$processors")
  RIDGEBENCH_IN_MACHINE=$folder unshare --mount "${words[@]}" "$@"
  exit
fi
if [[ -n $l3 ]]; then
  folder=$RIDGEBENCH_IN_MACHINE
  show_caches
fi
busy=()
trap 'kill "${busy[@]}" 2>/dev/null || true' EXIT
for ((i = 0; i < load; ++i)); do
  yes >/dev/null &
  busy+=($!)
done
unset RIDGEBENCH_IN_MACHINE
if [[ -n $processors ]]; then
  taskset --cpu-list "0-$((processors - 1))" "$@"
else
  "$@"
fi
