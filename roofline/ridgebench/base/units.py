"""Numbers as text: three digits, SI prefixes."""

from math import floor, log10

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_WIDEST = 1e5  # from here on a number in one unit with others is too wide
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def digits(value: float) -> str:
    """Three significant digits, no exponent: 0.0512, 7.5, 39.6, 490, 7,620."""
    if value >= 100:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    return text if "e" not in text else f"{value:.1e}"


def rate(value: float, unit: str) -> str:
    """A rate with its prefix: 39.6 GB/s, 7.62 TFLOP/s."""
    scale, prefix = next((p for p in _PREFIXES if value >= p[0]), _PREFIXES[-1])
    return f"{digits(value / scale)} {prefix}{unit}"


def rate_in(value: float, scale: float, unit: str) -> str:
    """A rate with the prefix of a figure's axis: 6,100 GFLOP/s; one that is too wide has its own."""
    return rate(value, unit) if value >= _WIDEST * scale else f"{digits(value / scale)} {dict(_PREFIXES)[scale]}{unit}"


def in_one_unit(values: list[float], unit: str) -> list[str]:
    """Values with the largest prefix that leaves none of them below a tenth: 0.537 GFLOP, 1,100 GFLOP.

    Values of too many powers of ten for a column have each its own prefix.
    """
    scale, prefix = next((p for p in _PREFIXES if min(values) >= 0.1 * p[0]), _PREFIXES[-1])
    if max(values) >= _WIDEST * scale:
        return [rate(value, unit) for value in values]
    return [f"{digits(value / scale)} {prefix}{unit}" for value in values]


def seconds(value: float) -> str:
    """A time with its unit: 373 us, 1.25 ms."""
    scale, unit = next((t for t in _TIMES if value >= t[0]), _TIMES[-1])
    return f"{digits(value / scale)} {unit}"


def percent(share: float) -> str:
    """Whole per cent; less than 0.5 % is '<1', and only zero is 0."""
    return f"{100 * share:.0f}" if share == 0 or share >= 0.005 else "<1"


def superscript(number: int) -> str:
    """An exponent: ⁻⁶."""
    return str(number).translate(_SUPERSCRIPTS)


def tick(value: float) -> str:
    """A power of ten, or a digit of one, as a plain number, 0.001 to 1,000; smaller ones as 10⁻⁶ or 2·10⁻⁶."""
    if value >= 1:
        return f"{value:,.0f}"
    power = floor(log10(value) + 1e-9)
    digit = round(value / 10.0**power)
    return f"{value:.3g}" if power >= -3 else f"{f'{digit}·' if digit > 1 else ''}10{superscript(power)}"


def enumerate_words(words: list[str]) -> str:
    """'a, b and c'."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def and_more(number: int, before: str = "") -> str:
    """' and 3 more' after the things that a text names, ' and in 3 more' with 'in '; empty if the text names all."""
    return f" and {before}{number:,} more" if number > 0 else ""


def counted(number: int, what: str) -> str:
    """'1 row', '2 rows', '1,000 rows'."""
    return f"{number:,} {what}{'s' * (number != 1)}"
