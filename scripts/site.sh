#!/usr/bin/env bash
# Builds the pages as a site with search, without network: build/site/index.html, which a browser opens without a server.
# scripts/setup.sh --dev installs mkdocs-material.   scripts/site.sh [-o DIR]
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" -m ridgebench site "$@"
