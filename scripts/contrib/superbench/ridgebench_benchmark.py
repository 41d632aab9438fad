"""A micro-benchmark for SuperBench: runs `ridgebench run` and turns its records into metrics.

Copy it to superbench/benchmarks/micro_benchmarks/ridgebench_benchmark.py and import it in that folder's __init__.py:

    from superbench.benchmarks.micro_benchmarks.ridgebench_benchmark import RidgebenchBenchmark

The configuration of SuperBench then names it; `ridgebench` must be in PATH or in $SB_MICRO_PATH/bin:

    ridgebench:
      enable: true
      timeout: 240
      modes: [{name: local, proc_num: 8, prefix: CUDA_VISIBLE_DEVICES={proc_rank}, parallel: no}]
      parameters: {budget: 50, rows: '^(dram_copy|dram_read|fma_peak|tensor_peak)/'}

A metric is ROW_time (seconds, less is better), ROW_flops and ROW_bw (per second), where ROW is a record's id without its
device: SuperBench adds the rank, which is the GPU. Written for the class MicroBenchmarkWithInvoke of SuperBench 0.12.
"""

import json
import os
import re
import shlex
import tempfile

from superbench.benchmarks import BenchmarkRegistry, ReturnCode
from superbench.benchmarks.micro_benchmarks import MicroBenchmarkWithInvoke
from superbench.common.utils import logger

ROWS = "^(dram_copy|dram_read|fma_peak|tensor_peak)/"
METRICS = {"time": "time_median_s", "flops": "flops_per_s", "bw": "bytes_per_s"}


def metrics(records):
    """Metric and value of each row that is right. Raises ValueError if one is not, or if there is none."""
    wrong = [record["id"] for record in records if record["status"] not in ("ok", "skipped")]
    if wrong:
        raise ValueError(f"not right: {', '.join(wrong)}")
    rows = [record for record in records if record["status"] == "ok" and record["role"] != "control"]
    if not rows:
        raise ValueError("no row was measured")
    found = {}
    for row in rows:
        name = re.sub(r"[^A-Za-z0-9_:]+", "_", row["id"].rpartition("@")[0])
        found.update({f"{name}_{end}": row[key] for end, key in METRICS.items() if row[key]})
    return found


class RidgebenchBenchmark(MicroBenchmarkWithInvoke):
    """Rates of the ceilings, each result verified."""

    def __init__(self, name, parameters=""):
        super().__init__(name, parameters)
        self._bin_name = "ridgebench"

    def add_parser_arguments(self):
        super().add_parser_arguments()
        self._parser.add_argument("--budget", type=int, default=50, required=False, help="Seconds of the run.")
        self._parser.add_argument("--rows", type=str, default=ROWS, required=False, help="Regular expression on ids.")
        self._parser.add_argument("--device", type=str, default="", required=False, help="Device; default: every GPU.")

    def _benchmark(self):
        with tempfile.TemporaryDirectory() as folder:
            self._folder = os.path.join(folder, "run")
            words = [os.path.join(self._args.bin_dir, self._bin_name), "run", "--no-plot", "--out", self._folder]
            words += ["--budget", str(self._args.budget), "--filter", self._args.rows]
            words += ["--device", self._args.device] if self._args.device else []
            self._commands = [shlex.join(words)]
            return super()._benchmark()

    def _process_raw_result(self, cmd_idx, raw_output):
        self._result.add_raw_data(f"raw_output_{cmd_idx}", raw_output, self._args.log_raw_data)
        try:
            with open(os.path.join(self._folder, "records.jsonl"), encoding="utf-8") as file:
                found = metrics([json.loads(line) for line in file])
        except (OSError, KeyError, ValueError) as error:
            self._result.set_return_code(ReturnCode.MICROBENCHMARK_RESULT_PARSING_FAILURE)
            logger.error(f"The result is invalid - benchmark: {self._name}, message: {error}.")
            return False
        for metric, value in found.items():
            self._result.add_result(metric, float(value))
        return True


BenchmarkRegistry.register_benchmark("ridgebench", RidgebenchBenchmark)
