#!/usr/bin/env bash
# Draws the figures of a results directory: scripts/plot.sh DIR; --help lists the options.
exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" -m ridgebench plot "$@"
