#!/usr/bin/env bash
# Counts the parameters and the cache of every causal language model of transformers, by its classes on torch's meta device,
# and compares them with the committed tables: scripts/try/models.sh [CASE...]. It installs torch and transformers of PyPI
# into a folder of its own (5 GB) and needs network, but no GPU. The case `classes` writes tests/data/models/classes.jsonl
# anew, `kinds` the counts of tests/data/models/kinds.jsonl, and `defaults` the sizes in roofline/families/defaults.json; a
# case fails when its table differs from the committed one.
set -euo pipefail
# shellcheck source=scripts/try/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cases=(install classes kinds defaults)
tables=tests/data/models

case_install() { try_torch transformers==5.24.0; }  # the version of the committed tables

# Writes one table with transformers and compares it with the committed one: count_models TABLE
count_models() {
  local table=$tables/$1.jsonl
  "$models/bin/python" "$checkout/scripts/try/models.py" "$1" "$checkout/$table"
  git -C "$checkout" diff --exit-code --stat -- "$table"
  try_says "$(wc -l <"$checkout/$table") models, as committed"
}

case_classes() { count_models classes; }
case_kinds() { count_models kinds; }

case_defaults() {
  local table=roofline/families/defaults.json
  "$models/bin/python" "$checkout/scripts/try/models.py" defaults "$checkout/$table"
  git -C "$checkout" diff --exit-code --stat -- "$table"
  try_says "the defaults of $(grep -c '": {' "$checkout/$table") classes, as committed"
}

try_main "$@"
