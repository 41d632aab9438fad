# shellcheck shell=bash disable=SC2034,SC2154  # variables of the files that source this one
# Stages of the command `node`: whether this GPU can be trusted. Equal bits in two runs, and in each launch of a soak.

# The readings of `doctor` on worn parts, links and power limits. A warning is an answer.
stage_worn() {
  "$binary" doctor --json >"$work/doctor.json.new" && mv "$work/doctor.json.new" "$work/doctor.json" || return
  echo "gpu_check: warnings of doctor: $(grep -c '"status": *"warning"' "$work/doctor.json")"
}

# Rows whose bits repeat, and the product of each multiprocessor.
fingerprint() {
  if [[ -n $rehearse ]]; then
    measure "$1" --fingerprint "${rehearsal[@]}"
  else
    measure "$1" --fingerprint --profile quick --budget 50
  fi
}

# bits_of FOLDER: id with choice, a tab, and fingerprint of each row. Another choice adds in another order.
bits_of() {
  sed -nE 's/^.*"id":"([^"]*)","op".*"choice":("[^"]*"|null).*"fingerprint":"([0-9a-f]{16})".*/\1 \2\t\3/p' "$work/$1/records.jsonl" |
    sort -t $'\t' -k 1,1
}

stage_bits() { fingerprint bits; }

# A GPU that computes other bits when it is hot than when it was cold is wrong. A run that was cut is begun anew, because a later call
# would go on with it on a cold GPU.
stage_bits_hot() {
  [[ ! -e $work/bits_hot || -f $work/bits_hot/SHA256SUMS ]] || mv "$work/bits_hot" "$work/bits_hot.cut.$EPOCHSECONDS"
  fingerprint bits_hot || return
  [[ -f $work/bits/SHA256SUMS ]] || skip "no stage bits to compare with"
  local both odd
  both=$(join -t $'\t' <(bits_of bits) <(bits_of bits_hot) | wc -l)
  odd=$(join -t $'\t' <(bits_of bits) <(bits_of bits_hot) | awk -F '\t' '$2 != $3 { print $1 }')
  if [[ -n $odd ]]; then
    echo "other bits after the soak than before in $(wc -l <<<"$odd") of $both rows, $(head -n 1 <<<"$odd") among them"
    return 6
  fi
  ((both > 0)) || { echo "no row of both runs has a fingerprint" && return 6; }
  echo "gpu_check: equal bits in $both rows"
}

# A soak that was cut is counted as far as it came; the next call begins a new one.
stage_soak() {
  local folder=$work/soak minutes=3
  [[ -z $rehearse ]] || minutes=0.02
  [[ ! -e $folder ]] || mv "$folder" "$folder.cut.$EPOCHSECONDS"
  "$binary" soak --device "$device" --minutes "$minutes" --out "$folder"
}
