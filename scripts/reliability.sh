#!/usr/bin/env bash
# Fills the table of docs/reliability.md from what the tests of faults wrote: scripts/reliability.sh build/release/faults
exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" -m ridgebench reliability "$@"
