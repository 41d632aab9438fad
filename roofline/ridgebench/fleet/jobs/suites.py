"""The rows that a fleet measures: named selections with a budget, each arguments of `ridgebench run --concurrent`.

To find a bad GPU among good ones, a row must differ little between good ones. Rows that main memory, a cache or a link
limits, and rows whose clock stays at its maximum, differ by less than 1 %. Products that reach the power limit differ with
the cooling and the leakage of each chip (Sinha et al., "Not all GPUs are created equal", SC22: 8 % on average); they also
take two seconds each until the clock has settled. `quick` leaves them out.
"""

from typing import NamedTuple


class _Suite(NamedTuple):
    """`budget_s` is for the whole node: half for each GPU alone, one after the other, half for all at once."""

    about: str
    filter: str  # of `ridgebench run`, over the rows of the profile `standard`
    budget_s: int
    limit_s: int  # after which the job kills the command: a run that is late takes longer than its budget
    hang_limit_s: int  # without a new row, after which a GPU counts as hung and the others go on

    @property
    def command(self) -> list[str]:
        return ["--profile", "standard", "--filter", self.filter, "--budget", str(self.budget_s),
                "--hang-limit", str(self.hang_limit_s)]  # fmt: skip


# Main memory and level 2: bandwidth. fma_peak and mma_sync: every SM and its tensor cores, below the power limit; every GPU
# from compute capability 8.0 on has both. Copies of 256 MiB: the link to the host, which a bad riser or a lane that is
# lost slows down. All rows are verified. The profile `standard` is the smallest one with copies.
_QUICK = _Suite(
    "bandwidths, fixed-clock ceilings and copies to the host: for a prolog or a health check",
    "^(dram_read|dram_copy|cache_l2_read|fma_peak)/|^tensor_peak/[a-z_]+/bf16/|^copy_to_(device|host)/[a-z]+/fp32/n:67108864/",
    budget_s=40,
    limit_s=120,  # two GPUs may hang
    hang_limit_s=30,  # a row takes a second; a node without persistence mode needs longer to open its GPUs
)
# Every kind of roof, and the library's product in each format: the tensor cores' paths of all formats, at the power limit.
_DEEP = _Suite(
    "every kind of ceiling, latencies, copies, and a verified product in each format: for acceptance, or a suspect node",
    "^(dram_read|dram_copy|dram_triad|dram_write|cache_[a-z0-9_]+|shared_read|fma_peak|fma_half_peak|fma_double_peak|tensor_peak|tensor_double_peak"
    "|wgmma_peak|sfu_[a-z0-9]+|copy_[a-z_]+|pointer_chase)/"
    "|^matmul/cublas/(fp32|tf32|fp16|bf16|fp8_e4m3)/m:8192/.*layout:nt/steady",
    budget_s=900,
    limit_s=2400,
    hang_limit_s=120,
)
SUITES = {"quick": _QUICK, "deep": _DEEP}
OWN = "own"  # in a manifest: the user gave the arguments
