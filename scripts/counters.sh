#!/usr/bin/env bash
# Measures the rows of a GPU's run again under Nsight Compute; --help lists the options.
exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" -m ridgebench counters "$@"
