"""A ReFrame test that runs `ridgebench run` and reports a performance variable for each row and GPU.

    cd scripts/contrib/reframe
    reframe -C settings.py -c ridgebench_test.py -r
    reframe -C settings.py -c ridgebench_test.py -r -S program=/opt/ridgebench/bin/ridgebench -S references=my.json

The test passes if every row is right, and fails if a row is wrong or beyond its reference. A variable is called
ROW@GPU, where GPU is the hash of its UUID (or the device where there is none): a GPU keeps its name when it moves, and
no GPU hides behind the slowest one of a node. A shape n:1024 appears as n=1024. Its value is GB/s, GFLOP/s or, of a latency, us of a launch.

References come from a JSON file: {SYSTEM:PARTITION: {REGULAR EXPRESSION: [VALUE, LOWER, UPPER, UNIT]}}, as ReFrame
writes its own (LOWER -0.05: at most 5 % less). The first expression that matches the whole variable counts. A variable
without a reference is reported and not judged. Written for ReFrame 4.
"""

import json
import os
import re

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import performance_function, run_after, run_before, sanity_function, variable

ROWS = "^(dram_copy|dram_read|fma_peak|tensor_peak)/"
HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT = os.environ.get("RIDGEBENCH", os.path.join(HERE, "..", "..", "..", "build", "ridgebench"))


def rate(record):
    """The value and unit of a row: what its roof limits."""
    if record["flops_per_s"] and record["bound"] != "memory":
        return record["flops_per_s"] / 1e9, "GFLOP/s"
    if record["bytes_per_s"] and record["saturates"] != "latency":
        return record["bytes_per_s"] / 1e9, "GB/s"
    return 1e6 * record["time_median_s"], "us"


@rfm.simple_test
class RidgebenchTest(rfm.RunOnlyRegressionTest):
    descr = "rates of the ceilings of each GPU, each result verified"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    program = variable(str, value=os.path.abspath(DEFAULT))
    options = variable(str, value="")  # more options of `ridgebench run`
    rows = variable(str, value=ROWS)
    budget = variable(str, value="50")
    references = variable(str, value=os.path.join(HERE, "references.json"))
    time_limit = "10m"
    num_tasks = 1

    @run_after("init")
    def set_command(self):
        self.executable = self.program
        more = self.options.split()
        self.executable_opts = ["run", "--no-plot", "--budget", self.budget, "--filter", f"'{self.rows}'", "--out", "out", *more]

    def records(self):
        with open(os.path.join(self.stagedir, "out", "records.jsonl"), encoding="utf-8") as file:
            found = [json.loads(line) for line in file]
        return [record for record in found if record["role"] != "control" and record["status"] != "skipped"]

    @sanity_function
    def rows_are_right(self):
        # Evaluated here: a run that wrote nothing fails by its exit code, not by a missing file.
        if self.job.exitcode != 0:
            return sn.assert_eq(self.job.exitcode, 0, msg="ridgebench ended with exit code {0}")
        wrong = [record["id"] for record in self.records() if record["status"] != "ok"]
        return sn.all([sn.assert_eq(wrong, [], msg="not right: {0}"), sn.assert_true(self.records(), msg="no row")])

    @run_before("performance")
    def set_variables(self):
        with open(os.path.join(self.stagedir, "out", "environment.json"), encoding="utf-8") as file:
            devices = json.load(file)["devices"]
        gpus = {device["name"]: device["uuid_hash"] or device["name"].replace(":", "") for device in devices}
        with open(self.references, encoding="utf-8") as file:
            known = json.load(file).get(self.current_partition.fullname, {})
        reference = {}
        for record in self.records():
            value, unit = rate(record)
            case = record["id"].rpartition("@")[0].replace(":", "=")  # a colon ends the name of a partition
            name = f"{case}@{gpus[record['device']]}"
            self.perf_variables[name] = sn.make_performance_function(sn.defer(value), unit)
            reference[name] = next((tuple(r) for key, r in known.items() if re.fullmatch(key, name)), (0, None, None, unit))
        self.reference = {self.current_partition.fullname: reference}
