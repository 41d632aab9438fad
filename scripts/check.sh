#!/usr/bin/env bash
# Checks formatting, runs clang-tidy, and runs the tests under the address and undefined-behaviour sanitizers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -t sources < <(git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh')
clang-format-19 --dry-run --Werror "${sources[@]}"

scripts/build.sh dev -DRIDGEBENCH_TESTS=ON -DRIDGEBENCH_WERROR=ON
# A file that is compiled for several instruction sets is checked for the oldest: its region pragmas are GCC's.
mkdir -p build/tidy
scripts/python.sh - <<'EOF'
import json
import re

commands = {}
for command in json.load(open("build/dev/compile_commands.json")):
    own = "/tests/" not in command["file"] and "/build/" not in command["file"]
    if own and command["file"].endswith(".cpp"):
        command["command"] = re.sub(r"(RIDGEBENCH_ISA(=v|_LEVEL=))[34]", r"\g<1>2", command["command"])
        commands.setdefault(command["file"], command)
json.dump(list(commands.values()), open("build/tidy/compile_commands.json", "w"))
print(*commands, sep="\n", file=open("build/tidy/files", "w"))
EOF
xargs -P "$(nproc)" -n 2 clang-tidy-19 -p build/tidy --extra-arg=-Wno-error --extra-arg=-Wno-unknown-warning-option --quiet --warnings-as-errors='*' <build/tidy/files
ctest --preset dev -j "$(($(nproc) + 1))"  # some tests wait
