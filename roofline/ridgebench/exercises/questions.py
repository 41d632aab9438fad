"""The kinds of questions. A kind draws its numbers, takes the answer from the program, and keeps the command that shows it."""

from dataclasses import dataclass
from random import Random
from typing import Callable, NamedTuple, Union

from ridgebench.base.units import counted, rate, seconds
from ridgebench.data import program
from ridgebench.data.data_sheets import find_sheet
from ridgebench.peaks.rates import peak

LEVELS = {1: "count", 2: "compare with the roofline", 3: "plan"}


@dataclass(frozen=True)
class Question:
    """A question. The answer is a number in `unit`, or one of `choices`."""

    level: int
    text: str
    answer: Union[float, str]
    unit: str  # empty for a plain number, a share or a choice
    command: tuple[str, ...]  # after `ridgebench`
    choices: tuple[str, ...]
    how: str  # what follows the command's answer; empty if it prints the answer itself

    @property
    def points(self) -> int:
        return self.level



class _Made(NamedTuple):
    """A question without its level."""

    text: str
    answer: Union[float, str]
    unit: str
    command: tuple[str, ...]
    choices: tuple[str, ...] = ()
    how: str = ""


class _Device(NamedTuple):
    """A device and the formats that a question may draw. `main` is the format of its matrix products, `peak` their FLOP/s."""

    name: str
    formats: list[str]
    main: str
    peak: float


class _Kind(NamedTuple):
    level: int
    make: Callable[[Random, _Device], _Made]


def _tensor(draw: Random, _: _Device) -> _Made:
    rows, columns = draw.choice((768, 4096, 8192, 12288)), draw.choice((3072, 16384, 28672, 49152))
    format_ = draw.choice(("fp32", "bf16", "fp8_e4m3"))
    words = ("plan", "tensor", "--shape", f"{rows}x{columns}", "--format", format_)
    text = f"How many bytes does a matrix of {rows:,} x {columns:,} take in {format_}?"
    return _Made(text, program.ask(*words)["bytes"], "B", words)


def _flops(draw: Random, device: _Device) -> _Made:
    m, n, k = draw.choice((512, 1024, 2048)), draw.choice((3072, 4096, 6144)), draw.choice((1024, 4096, 5120))
    words = ("predict", "matmul", f"m:{m}/n:{n}/k:{k}", "--format", device.main, "--on", device.name)
    text = f"How many FLOPs does the product of a matrix of {m:,} x {k:,} and one of {k:,} x {n:,} take?"
    return _Made(text, program.ask(*words)["flops"], "FLOP", words)


def _intensity(draw: Random, device: _Device) -> _Made:
    operation, format_ = draw.choice(("relu", "gelu", "dot")), draw.choice(device.formats)
    words = ("predict", operation, f"n:{draw.choice((16, 64, 256))}M", "--format", format_, "--on", device.name)
    text = f"How many FLOPs per byte does {operation} have in {format_}? (relu: 1 FLOP per element, gelu: 20, dot: 2)"
    return _Made(text, program.ask(*words)["intensity_flop_per_byte"], "FLOP/B", words)


def _underflow(draw: Random, _: _Device) -> _Made:
    number, format_ = f"{draw.randint(1, 9)}e-{draw.randint(6, 10)}", draw.choice(("fp16", "bf16"))
    words = ("number", number)
    [decoded] = [each["decoded"] for each in program.ask(*words)["formats"] if each["format"] == format_]
    return _Made(f"Is {number} zero in {format_}?", "yes" if decoded == 0 else "no", "", words, ("yes", "no"))


def _lower_bound(draw: Random, device: _Device) -> _Made:
    operation, n = draw.choice(("relu", "dot")), draw.choice((128, 256, 512, 768))
    words = ("predict", operation, f"n:{n}M", "--format", device.main, "--on", device.name)
    text = f"How long does {operation} of {n} million elements in {device.main} take on {device.name} at best?"
    return _Made(text, program.ask(*words)["time_lower_bound_s"], "s", words)


def _bound(draw: Random, device: _Device) -> _Made:
    m, format_ = draw.choice((1, 16, 64, 512, 4096)), draw.choice(device.formats)
    words = ("predict", "matmul", f"m:{m}/n:4096/k:4096", "--format", format_, "--on", device.name)
    text = f"A layer of 4,096 x 4,096 multiplies {counted(m, 'token')} in {format_} on {device.name}. What limits the product?"
    return _Made(text, program.ask(*words)["bound"], "", words, ("memory", "compute"))


def _crossing(draw: Random, device: _Device) -> _Made:
    width, format_ = draw.choice((2048, 4096, 5120, 8192)), draw.choice(device.formats)
    words = ("predict", "matmul", f"n:{width}/k:{width}", "--solve", "m", "--format", format_, "--on", device.name)
    text = f"From how many tokens on is a layer of {width:,} x {width:,} compute-bound in {format_} on {device.name}?"
    return _Made(text, program.ask(*words)["smallest_compute_bound"], "", words)


def _utilisation(draw: Random, device: _Device) -> _Made:
    n, share = draw.choice((4096, 8192, 16384)), draw.uniform(0.3, 0.8)
    flops = 2.0 * n**3
    time_s = float(f"{flops / (share * device.peak):.3g}")
    words = ("plan", "mfu", "--flops", f"{flops:.0f}", "--time", f"{time_s:g}", "--format", device.main, "--on", device.name)
    text = f"A product of {n:,} cubed in {device.main} took {seconds(time_s)} on {device.name}. What is its MFU?"
    return _Made(text, program.ask(*words)["mfu"], "", words)


def _cache(draw: Random, _: _Device) -> _Made:
    model = draw.choice(("llama-3-8b", "llama-3-70b", "llama-2-7b", "qwen3-32b"))
    batch, context = draw.choice((1, 8, 64)), draw.choice((2048, 4096, 8192))
    words = ("predict", "model", model, "--context", str(context), "--on", "h100-sxm")
    text = f"How many bytes does the KV cache of {model} take for {batch} sequences of {context:,} tokens in bf16?"
    answer = program.ask(*words)["kv_cache_bytes_per_token"] * batch * context
    return _Made(text, answer, "B", words, how=f"the KV cache per token x {batch} x {context:,}")


def _days(draw: Random, device: _Device) -> _Made:
    billions, trillions = draw.choice((1, 7, 13, 70)), draw.choice((1, 2, 15))
    gpus, mfu = draw.choice((64, 512, 4096)), draw.choice((30, 40, 50))
    words = ("plan", "train", "--params", f"{billions}B", "--tokens", f"{trillions}T", "--gpus", str(gpus), "--mfu", f"{mfu}%",
             "--format", device.main, "--on", device.name)  # fmt: skip
    text = f"How many days do {gpus:,} {device.name} need for {billions}B parameters and {trillions}T tokens at an MFU of {mfu} %?"
    return _Made(text, program.ask(*words)["days"], "days", words)


def _state(draw: Random, _: _Device) -> _Made:
    billions, precision = draw.choice((1, 3, 7, 13)), draw.choice(("bf16", "fp32", "bf16-master"))
    words = ("plan", "memory", "--params", f"{billions}B", "--precision", precision, "--optimizer", "adamw")
    text = (f"A model has {billions}B parameters. How many bytes do its parameters, a master copy if there is one, its gradients and "
            f"AdamW's states take together with --precision {precision}?")  # fmt: skip
    return _Made(text, program.ask(*words)["bytes"], "B", words)


def _slip_of_a_day(draw: Random, device: _Device) -> _Made:
    mfu = draw.choice((30, 40, 50))
    words = ("plan", "train", "--flops", "1e22", "--gpus", "1", "--mfu", f"{mfu}%", "--format", device.main, "--on", device.name)
    answer = program.ask(*words)["flops_per_day"]
    wrong = answer / draw.choice((1e3, 24.0, 60.0))
    text = (f"Find the error: one {device.name} computes {wrong:.4g} FLOP a day in {device.main} at an MFU of {mfu} %. "
            "How many FLOPs are right?")  # fmt: skip
    return _Made(text, answer, "FLOP", words)


def _slip_of_a_peak(draw: Random, device: _Device) -> _Made:
    achieved = float(f"{draw.uniform(0.3, 0.9) * device.peak:.3g}")
    words = ("plan", "mfu", "--flops", f"{achieved:.0f}", "--time", "1", "--format", device.main, "--on", device.name)
    sparse = peak(device.name, device.main, sparse=True)
    if sparse:
        text = (f"Find the error: a product in {device.main} reached {rate(achieved, 'FLOP/s')} on {device.name}. Over "
                f"{rate(float(sparse), 'FLOP/s')}, the rate with 2:4 sparsity, that is an MFU of {achieved / float(sparse):.1%}. "
                "Which MFU is right?")  # fmt: skip
    else:  # the other way to half the MFU
        text = (f"Find the error: a product in {device.main} did {achieved / 2e12:.4g}e12 multiply-adds a second on {device.name}. "
                f"Over {rate(device.peak, 'FLOP/s')}, its peak, that is an MFU of {achieved / 2 / device.peak:.1%}. "
                "Which MFU is right?")  # fmt: skip
    return _Made(text, program.ask(*words)["mfu"], "", words)


_FORMATS = ("fp32", "fp16", "bf16", "fp8_e4m3")
_MAIN = ("bf16", "fp16")
_KINDS = (
    _Kind(1, _tensor),
    _Kind(1, _flops),
    _Kind(1, _intensity),
    _Kind(1, _underflow),
    _Kind(2, _lower_bound),
    _Kind(2, _bound),
    _Kind(2, _crossing),
    _Kind(2, _utilisation),
    _Kind(2, _slip_of_a_peak),
    _Kind(3, _cache),
    _Kind(3, _days),
    _Kind(3, _state),
    _Kind(3, _slip_of_a_day),
)


def _device(name: str) -> _Device:
    """Raises ResultsError for an unknown data sheet."""
    peaks = find_sheet(name).peaks
    main = next(each for each in (*_MAIN, *peaks) if each in peaks)
    return _Device(name, [each for each in _FORMATS if each in peaks], main, peaks[main][1])


def draw_questions(seed: str, device: str, levels: tuple[int, ...]) -> list[Question]:
    """A question of each kind of these levels. A seed draws the same numbers on every machine. Raises ResultsError."""
    on = _device(device)
    return [
        Question(kind.level, *kind.make(Random(f"{seed} {number}"), on))
        for number, kind in enumerate(_KINDS)
        if kind.level in levels
    ]
