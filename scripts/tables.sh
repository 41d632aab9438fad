#!/usr/bin/env bash
# Fills the tables and pictures of README.md and docs/*.md; --check writes nothing.
exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" -m ridgebench tables "$@"
