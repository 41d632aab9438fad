"""scripts/contrib: the ReFrame test under ReFrame, the SuperBench class on a stand-in of its base, the Kubernetes manifest."""

import importlib.util
import json
import shutil
import subprocess
import sys
import types
from argparse import ArgumentParser
from pathlib import Path

import pytest
from command_line import BINARY, ROOT, environment

CONTRIB = ROOT / "scripts" / "contrib"
REFRAME = shutil.which("reframe")
DEVICE = "sim:seed=1"


@pytest.mark.skipif(REFRAME is None, reason="reframe is not installed (pip install reframe-hpc)")
@pytest.mark.parametrize(("reference", "code"), [(1e-6, 0), (1e6, 1)])
def test_reframe_runs_the_test_and_compares_with_references(reference, code, tmp_path):
    name = r"dram_copy/.*@sim"
    (tmp_path / "references.json").write_text(json.dumps({"node:local": {name: [reference, -0.1, None, "GB/s"]}}))
    command = [REFRAME, "-C", "settings.py", "-c", "ridgebench_test.py", "-r", "--prefix", tmp_path, "-S", f"program={BINARY}",
               "-S", "budget=2", "-S", f"options=--device {DEVICE}", "-S", f"references={tmp_path}/references.json",
               "-S", "rows=^(dram_copy|fma_peak)/", "--report-file", tmp_path / "report.json"]
    done = subprocess.run(list(map(str, command)), cwd=CONTRIB / "reframe", env=environment(), capture_output=True, text=True,
                          check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "dram_copy/streaming/fp32/n=131072/steady@sim" in done.stdout
    assert ("1 failure(s)" in done.stdout) == bool(code)


class StandIn:
    """MicroBenchmarkWithInvoke, as far as SuperBench documents what its subclasses may use."""

    def __init__(self, name, parameters=""):
        self._name, self._parser, self._words = name, ArgumentParser(), parameters.split()
        self._result, self.log = types.SimpleNamespace(), {}
        self._result.add_raw_data = lambda metric, value, log: None
        self._result.add_result = self.log.__setitem__
        self._result.set_return_code = lambda code: self.log.__setitem__("code", code)

    def add_parser_arguments(self):
        self._parser.add_argument("--bin_dir")
        self._parser.add_argument("--log_raw_data", action="store_true")

    def run(self) -> bool:
        self.add_parser_arguments()
        self._args = self._parser.parse_args(self._words)
        return self._benchmark()

    def _benchmark(self) -> bool:
        for index, command in enumerate(self._commands):
            done = subprocess.run(command, shell=True, env=environment(), capture_output=True, text=True, check=False)
            if done.returncode != 0 or not self._process_raw_result(index, done.stdout):
                return False
        return True


@pytest.fixture(name="wrapper")
def wrapper_fixture(monkeypatch):
    """The module of the wrapper, whose imports of SuperBench are stand-ins."""
    registered = {}
    registry = types.SimpleNamespace(register_benchmark=registered.__setitem__)
    codes = types.SimpleNamespace(MICROBENCHMARK_RESULT_PARSING_FAILURE=33)
    modules = {
        "superbench": {},
        "superbench.benchmarks": {"BenchmarkRegistry": registry, "ReturnCode": codes},
        "superbench.benchmarks.micro_benchmarks": {"MicroBenchmarkWithInvoke": StandIn},
        "superbench.common": {},
        "superbench.common.utils": {"logger": types.SimpleNamespace(error=lambda text: None)},
    }
    for name, content in modules.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location("wrapper", CONTRIB / "superbench" / "ridgebench_benchmark.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert registered == {"ridgebench": module.RidgebenchBenchmark}
    return module


def run_benchmark(wrapper, folder: Path, device: str):
    (folder / "ridgebench").symlink_to(BINARY)
    benchmark = wrapper.RidgebenchBenchmark("ridgebench", f"--bin_dir {folder} --budget 2 --rows ^(dram_copy|fma_peak)/ --device {device}")
    return benchmark, benchmark.run()


def test_superbench_gets_a_metric_for_each_rate(wrapper, tmp_path):
    benchmark, passed = run_benchmark(wrapper, tmp_path, DEVICE)
    assert passed and set(benchmark.log) >= {"dram_copy_streaming_fp32_n:131072_steady_bw", "dram_copy_streaming_fp32_n:131072_steady_time"}
    assert all(isinstance(value, float) and value > 0 for value in benchmark.log.values())
    assert [name for name in benchmark.log if name.startswith("fma_peak") and name.endswith("_flops")]
    assert benchmark._benchmark(), "a second round"


def test_superbench_gets_a_failure_for_a_row_that_is_wrong(wrapper, tmp_path):
    assert not run_benchmark(wrapper, tmp_path, "sim:lose=1")[1]
    row = {"id": "relu/x@cuda:0", "status": "wrong", "role": "kernel"}
    with pytest.raises(ValueError, match="not right: relu/x@cuda:0"):
        wrapper.metrics([row])
    with pytest.raises(ValueError, match="no row"):
        wrapper.metrics([row | {"status": "skipped"}])


def test_the_kubernetes_job_is_one_pod_per_node_with_its_own_folder():
    yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed")
    [job] = yaml.safe_load_all((CONTRIB / "kubernetes" / "indexed_job.yaml").read_text("utf-8"))
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    assert (job["kind"], spec["completionMode"], spec["completions"]) == ("Job", "Indexed", spec["parallelism"])
    [rule] = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["labelSelector"]["matchLabels"] == job["spec"]["template"]["metadata"]["labels"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    [container], [doctor] = pod["containers"], pod["initContainers"]
    assert "ridgebench doctor --json" in doctor["args"][0] and "/fleet/nodes/$(NODE_NAME)/attempt-1.doctor.json" in doctor["args"][0]
    assert (doctor["image"], doctor["resources"]) == (container["image"], container["resources"])
    assert "--out=/fleet/nodes/$(NODE_NAME)/attempt-1" in container["args"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert container["env"][0]["name"] == "NODE_NAME", "a variable must come before those that use it"
