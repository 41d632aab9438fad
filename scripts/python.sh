#!/usr/bin/env bash
# Runs Python with the package ridgebench on its path: the Python that RIDGEBENCH_PYTHON or PYTHON names, else
# .venv/bin/python, else python3.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=$root/.venv/bin/python
[[ -x $python ]] || python=python3
export PYTHONPATH=$root/roofline${PYTHONPATH:+:$PYTHONPATH}
exec "${RIDGEBENCH_PYTHON:-${PYTHON:-$python}}" "$@"
