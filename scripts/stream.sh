#!/usr/bin/env bash
# Puts the DRAM ceilings of a host's run next to a STREAM-like program: scripts/stream.sh DIR.
exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" -m ridgebench stream "$@"
