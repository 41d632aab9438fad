#!/usr/bin/env bash
# Tries the wheel, from its build to the two main jobs: scripts/try/wheel.sh [CASE...]. CUDA is in where nvcc is, if not
# CMAKE_ARGS=-DRIDGEBENCH_CUDA=OFF. The case debian-12 needs root and network.
set -euo pipefail
# shellcheck source=scripts/try/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cases=(build tag environment python-3.9 python-3.10 python-3.12 python-3.13 editable debian-12)
wheels=$try/wheel

wheel() {
  find "$wheels" -name 'ridgebench-*.whl'
}

# The two main jobs, in bash, from a folder that has no ridgebench: measure and draw; compare two kernels and predict.
# shellcheck disable=SC2016
jobs_of_a_user='
ridgebench info
ridgebench run --device cpu --budget 10 --out run
ridgebench verify run
ridgebench plot run
ridgebench report run -o report.html
[[ -s run/figures/lecture.svg && -s report.html ]]
ridgebench duel naive packed --op matmul --format fp32 --shape n:256 --device cpu --processes 2 --seconds 4 || [[ $? -eq 3 ]]
ridgebench predict matmul n:4096 --format bf16 --on h100
python -m ridgebench predict matmul n:4096 --format fp32 --on run
python -c "import ridgebench.data.records"
python -c "from ridgebench.kernels import library; print(library.find())"
[[ -s $(python -m ridgebench --cmake-prefix)/lib/cmake/ridgebench/ridgebenchConfig.cmake ]]
code=0
ridgebench nonsense || code=$?
[[ $code -eq 2 ]]
'

case_build() {
  rm -rf "$wheels"
  python3 -m pip wheel --no-deps --wheel-dir "$wheels" "$checkout"
  try_says "$(basename "$(wheel)"), $(($(stat -c %s "$(wheel)") / 1000)) kB"
}

case_tag() {
  python3 -m venv "$wheels/auditwheel"
  "$wheels/auditwheel/bin/pip" install -q auditwheel
  "$wheels/auditwheel/bin/auditwheel" show "$(wheel)"
  try_says "$("$wheels/auditwheel/bin/auditwheel" show "$(wheel)" | tr '\n' ' ' | grep -o 'following platform tag: *"[^"]*"')"
}

# Does the jobs with the wheel in an empty environment of a Python of this machine: in_environment PYTHON
in_environment() {
  local folder=$wheels/environment-$1
  rm -rf "$folder"
  "$1" -m venv "$folder"
  "$folder/bin/pip" install -q "$(wheel)[plot,gate]"
  mkdir "$folder/elsewhere"
  (cd "$folder/elsewhere" && env -i HOME="$folder" PATH="$folder/bin:/usr/bin:/bin" bash -euo pipefail -c "$jobs_of_a_user")
  try_says "measured, drew, compared and predicted by $("$folder/bin/python" --version)"
}

case_environment() { in_environment python3; }
case_python_3.9() { in_environment python3.9; }
case_python_3.10() { in_environment python3.10; }
case_python_3.12() { in_environment python3.12; }
case_python_3.13() { in_environment python3.13; }

# A checkout's package, which runs what scripts/build.sh built.
case_editable() {
  local folder=$wheels/editable
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/pip" install -q -e "$checkout[plot]"
  (cd "$folder" && bin/ridgebench plot --help && bin/python -c 'import ridgebench.data.records')
  try_says "the package is the checkout's"
}

case_debian_12() {
  try_system bookworm
  try_install python3-venv
  cp "$(wheel)" "$system/home/tester"
  try_run --user --in /home/tester 'python3 -m venv v && v/bin/pip install -q "$(echo ./ridgebench-*.whl)[plot,gate]" && mkdir elsewhere'
  try_run --user --offline --in /home/tester/elsewhere "PATH=/home/tester/v/bin:\$PATH; $jobs_of_a_user"
  try_run '! command -v gcc'
  try_says "installed, measured, drew, compared and predicted without a compiler"
}

try_main "$@"
