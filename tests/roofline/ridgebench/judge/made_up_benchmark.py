"""A program that prints what Google Benchmark, nvbench or a CSV writer prints, with times drawn by a seed.

A process draws from its seed and its number, so that a test meets the same times whenever it runs.
"""

import json
import sys
from pathlib import Path

SCRIPT = """#!{python} -IS
import json, os, random, re, sys, time
here = os.path.dirname(os.path.abspath(__file__))
told = json.load(open(os.path.join(here, "told.json")))
number = len(os.listdir(os.path.join(here, "count")))
open(os.path.join(here, "count", str(number)), "w").close()
options = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
mishap = told["mishaps"].get(str(number))
if mishap == "hang":
    time.sleep(600)
if mishap == "silence":
    sys.exit()
if isinstance(mishap, int):
    print("it broke\\x1b[31m", file=sys.stderr)
    sys.exit(mishap)
rows = []
for name, cost in told["rows"].items():
    draw = random.Random(f"{{told['seed']}} {{number}} {{name}}")
    value = cost * (1 + told["change"]) * 2.718281828459045 ** draw.gauss(0, told["noise"])
    if mishap != "lose" and re.search(options.get("benchmark_filter", ""), name):
        rows.append((name, value))
kind, out = told["kind"], sys.stdout
if "benchmark_out" in options:
    out = open(options["benchmark_out"], "w")
if kind == "csv":
    print("name,value", *(f'"{{name}}",{{value}}' for name, value in rows), sep="\\n", file=out)
elif kind == "nvbench":
    states = []
    for name, value in rows:
        data = [dict(name="value", value=str(value))]
        states.append(dict(name=name, summaries=[dict(tag="nv/cold/time/gpu/mean", data=data)]))
    json.dump(dict(devices=[dict(name=told["device"])], benchmarks=[dict(name="copy", states=states)]), out)
else:
    entries = []
    for name, value in rows:
        times = dict(real_time=value * 1e9, cpu_time=value * 1e9, time_unit="ns", items_per_second=1 / value)
        entries.append(dict(name=name, run_name=name, run_type="iteration", repetition_index=0, **times))
    for name, why in told["errors"].items():
        entries.append(dict(name=name, run_name=name, error_occurred=True, error_message=why))
    json.dump(dict(context=dict(library_build_type="release"), benchmarks=entries), out)
"""


def make_benchmark(folder: Path, rows: dict[str, float], *, kind="gbench", change=0.0, noise=0.002, seed=1,
                   mishaps=None, errors=None, device="A GPU") -> Path:
    """A program whose rows take these seconds, `change` more, with this deviation of the log time.

    mishaps: by the number of the process, from 0: hang, silence (no output), lose (no rows), or an exit code.
    errors: messages of rows that report a failure.
    """
    (folder / "count").mkdir(parents=True)
    told = {"rows": rows, "kind": kind, "change": change, "noise": noise, "seed": seed, "device": device}
    told |= {"mishaps": {str(number): what for number, what in (mishaps or {}).items()}, "errors": errors or {}}
    (folder / "told.json").write_text(json.dumps(told))
    script = folder / "benchmark"
    script.write_text(SCRIPT.format(python=sys.executable))
    script.chmod(0o755)
    return script


def processes(script: Path) -> int:
    """How many processes ran so far."""
    return len(list((script.parent / "count").iterdir()))
