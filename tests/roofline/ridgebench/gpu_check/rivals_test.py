"""The ratios of hand-written to library products: who is compared with whom, and what is made of it."""

from dataclasses import replace

from golden import GOLDEN
from ridgebench.data.records import Row, load_run
from ridgebench.gpu_check.rivals import finished, lines, rivals, steps

SAMPLE = load_run(GOLDEN).rows[0]


def row(technique: str, flops_per_s: float, form: str = "bf16", n: int = 4096, **changes) -> Row:
    origin = "library" if technique.startswith("cublas") else "hand"
    return replace(SAMPLE, **{
        "op": "matmul", "technique": technique, "format": form, "origin": origin, "status": "ok", "role": "kernel",
        "regime": "steady", "shape": {"m": n, "n": n, "k": n, "layout": "nt"}, "clock_hz": 1.6e9,
        "flops_per_s": flops_per_s, "telemetry": {"power_w": {"median": 700.0}},
    } | changes)  # fmt: skip


def test_the_fastest_of_each_side_are_compared():
    rows = [row("wgmma_tuned", 8e14), row("wgmma_tma", 6e14), row("cublas", 7e14), row("cublas_tuned", 7.5e14)]
    (group,) = rivals(rows).values()
    assert (group["hand"].technique, group["library"].technique) == ("wgmma_tuned", "cublas_tuned")


def test_fp8_sums_compare_with_their_like_only():
    fp8 = "fp8_e4m3"
    rows = [row("wgmma_tuned_fast_accum", 15e14, fp8), row("wgmma_tuned_promoted", 14e14, fp8), row("wgmma", 11e14, fp8),
            row("cublas_tuned", 13e14, fp8), row("cublas_tuned_fast_accum", 15.5e14, fp8)]  # fmt: skip
    found = {key[2]: (g["hand"].technique, g["library"].technique) for key, g in rivals(rows).items()}
    assert found == {
        "fast": ("wgmma_tuned_fast_accum", "cublas_tuned_fast_accum"),
        "promoted": ("wgmma_tuned_promoted", "cublas_tuned"),
    }


def test_every_product_is_compared_and_nothing_else():
    scaled = {"op": "matmul_block_scaled", "form": "fp8_e4m3"}
    rows = [row("wgmma_block_scaled", 14e14, **scaled), row("cublas", 13e14, **scaled),
            row("streaming", 1e12, op="relu", shape={"n": 4096}), row("cublas", 1e12, op="relu", shape={"n": 4096})]  # fmt: skip
    assert [key[:3] for key in rivals(rows)] == [("matmul_block_scaled", "fp8_e4m3", "promoted")]


def test_rows_that_are_wrong_or_alone_or_cold_are_not_compared():
    rows = [row("wgmma_tuned", 8e14, status="wrong"), row("cublas_tuned", 7e14), row("cublas_tuned", 7e14, n=64),
            row("wgmma_tuned", 9e14, regime="cold")]  # fmt: skip
    assert rivals(rows) == {}


def test_mean_and_worst_of_a_format():
    rows = [row("wgmma_tuned", 8e14), row("cublas_tuned", 4e14), row("wgmma_tuned", 1e14, n=64), row("cublas_tuned", 2e14, n=64)]
    text = "\n".join(lines(rows))
    assert "2 shapes, geometric mean 1.000, worst 0.500" in text
    assert "0.88/1.75" in text  # 700 W over the rate, in picojoules


def test_the_ratio_in_cycles_does_not_follow_the_clocks():
    slow_clock = row("wgmma_tuned", 7e14, cycles_median=1.00e6, clock_hz=1.3e9)
    fast_clock = row("cublas_tuned", 8e14, cycles_median=1.01e6, clock_hz=1.6e9)
    text = "\n".join(lines([slow_clock, fast_clock]))
    assert " 0.875   1.010 " in text
    assert " 0.875       - " in "\n".join(lines([slow_clock, replace(fast_clock, cycles_median=None)]))


def test_energy_is_that_of_the_samples_where_it_is_known():
    telemetry = {"power_w": {"median": 300.0}, "window": {"energy_per_flop_j": 0.9e-12}}
    measured = row("wgmma_tuned", 8e14, telemetry=telemetry)
    assert "0.90/1.75" in "\n".join(lines([measured, row("cublas_tuned", 4e14)]))


def test_a_training_step_is_three_products_of_one_layer():
    flops = 2 * 4096**3
    products = [
        row("wgmma_tuned", flops / seconds, shape={"m": 4096, "n": 4096, "k": 4096, "layout": layout}, mfu=mfu,
            time_median_s=seconds, flops=flops)
        for layout, seconds, mfu in (("nt", 1e-3, 0.8), ("nn", 1e-3, 0.8), ("tn", 2e-3, 0.4))
    ]  # fmt: skip
    (line,) = steps(products)
    assert "4.000 ms" in line and f"{3 * flops / 4e-3 / 1e12:.1f} TFLOP/s" in line and "MFU 60.0 %" in line
    assert list(steps(products[:2])) == []


def test_two_power_states_are_named_in_ratios_means_and_sums():
    hand, library = row("wgmma_tuned", 8e14, power_state="full_clock"), row("cublas_tuned", 7e14, power_state="capped")
    alike = [row("wgmma_tuned", 8e14, n=64, power_state="capped"), row("cublas_tuned", 7e14, n=64, power_state="capped")]
    text = "\n".join(lines([hand, library, *alike]))
    assert text.count("power states differ: capped 1, full_clock 1") == 1
    assert "2 shapes, geometric mean 1.143, worst 1.143; power states differ in 1" in text
    layers = [row("wgmma_tuned", 8e14, shape={"m": 8, "n": 8, "k": 8, "layout": layout}, power_state=state)
              for layout, state in (("nt", "capped"), ("nn", "capped"), ("tn", "full_clock"))]  # fmt: skip
    (line,) = steps(layers)
    assert line.endswith(", power states differ: capped 2, full_clock 1")
    (line,) = steps([replace(one, power_state="capped") for one in layers])
    assert "power" not in line


def test_rows_that_a_run_could_not_finish_are_left_out():
    run = load_run(GOLDEN)
    cut = replace(run, rows=[replace(run.rows[0], flags=["few_samples"]), *run.rows[1:]], environment=run.environment | {"budget_s": 60.0})
    assert list(finished(run)) == run.rows
    assert list(finished(cut)) == run.rows[1:]
    assert not list(finished(replace(run, environment=run.environment | {"interrupted": True})))
