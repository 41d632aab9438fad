#!/usr/bin/env bash
# Measures the error rates of the gate on this machine: identical code, and 2 % and 5 % of work added.
#   scripts/prove_gate.sh           one to two hours; writes results/<device>/gate/<date>.json and docs/error_rates.md
#   scripts/prove_gate.sh --trial   a few minutes, as a test of the script; writes to results/local only
# A proof that was ended goes on where it stopped. The machine should be idle otherwise.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
  "" | --trial) ;;
  *)
    echo "prove_gate.sh: unknown argument '$1'; allowed: --trial" >&2
    exit 2
    ;;
esac
scripts/setup.sh
scripts/build.sh release -DRIDGEBENCH_TESTS=ON
binary=$PWD/build/release/tests/ridgebench_with_simulation  # only the tests' binary can add work
prove() { scripts/python.sh tests/gate/prove_gate.py "$binary" --device injected "$@"; }

if [[ ${1:-} == --trial ]]; then
  prove --out results/local/proof-trial --trial
else
  prove --out results/local/proof --publish results
  scripts/python.sh -m ridgebench tables
fi
