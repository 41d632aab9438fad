#!/usr/bin/env bash
# Judges a machine by its own past: scripts/baseline.sh promote|check|drift; --help lists the options.
exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" -m ridgebench baseline "$@"
