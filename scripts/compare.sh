#!/usr/bin/env bash
# Compares two binaries or two stored runs; --help lists the ways and the exit codes.
exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" -m ridgebench compare "$@"
