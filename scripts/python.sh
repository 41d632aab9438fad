#!/usr/bin/env bash
# Runs Python with the package ridgebench on its path: the Python that RIDGEBENCH_PYTHON or PYTHON names, else
# .venv/bin/python, else python3. `python.sh -m ridgebench COMMAND` never imports from the current folder.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=$root/.venv/bin/python
[[ -x $python ]] || python=python3
python=${RIDGEBENCH_PYTHON:-${PYTHON:-$python}}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
  echo "ridgebench: $python is not Python 3.9 or newer; scripts/setup.sh looks for one, and RIDGEBENCH_PYTHON names another" >&2
  exit 2
fi
if [[ "${1-} ${2-}" == "-m ridgebench" ]]; then
  exec "$python" "$root/roofline/ridgebench/launch.py" "" "${@:3}"
fi
export PYTHONPATH=$root/roofline${PYTHONPATH:+:$PYTHONPATH}
exec "$python" "$@"
