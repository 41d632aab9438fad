#!/usr/bin/env bash
# Runs an nvcc command line. What ptxas reports goes to OBJECT.ptxas, everything else to stderr.
output=
arguments=("$@")
for ((i = 0; i < ${#arguments[@]}; i++)); do
  if [[ ${arguments[i]} == -o ]]; then
    output=${arguments[i + 1]}
  fi
done
messages=$("$@" 2>&1)
status=$?
if [[ -n $output ]]; then
  grep -E "^ptxas|^    [0-9]+ bytes" <<<"$messages" >"$output.ptxas"
  grep -vE "^ptxas info|^    [0-9]+ bytes|^$" <<<"$messages" >&2
else
  printf '%s' "$messages" >&2
fi
exit "$status"
