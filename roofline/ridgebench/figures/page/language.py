"""The language of figures and slides. The code has their words in English; the catalogue zh.po has the Chinese of each.

A msgid of the catalogue is an English text. A field such as {op} takes any words, and they are said in the same language. What other
fields take stays: {ridge:#} a number with its unit, {format:1} one word, {device:=} a name; {formats:f} is a list of formats, and {who:i} one
item of a list. A text that the catalogue lacks stays English: names of devices, techniques and files, and texts of a record.
"""

import argparse
import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Iterator, Optional

import matplotlib
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, Formatter, FuncFormatter

from ridgebench.base.files import ResultsError

from . import simplified

ENGLISH, _CHINESE = "en", "zh"
_LANGUAGES = (ENGLISH, _CHINESE)
LATIN = "DejaVu Sans"  # Matplotlib ships it, so the layout is the same everywhere
# Families with the characters, the first of which is used that Matplotlib finds; the forms of Noto Sans CJK JP are Japanese.
CHINESE_FAMILIES = (simplified.FAMILY, "Noto Sans CJK JP", "Source Han Sans SC", "Source Han Sans CN", "WenQuanYi Micro Hei",
                    "WenQuanYi Zen Hei", "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "SimHei")  # fmt: skip
_NEW_FILES = re.compile(r"NotoSansCJK-(Regular|Bold)\.ttc$")
_FALLBACK = (3, 6)  # the first Matplotlib that takes characters from a second font
CATALOGUE = Path(__file__).with_name("zh.po")
_ENTRY = re.compile(r'^msgid "((?:[^"\\]|\\.)*)"\nmsgstr "((?:[^"\\]|\\.)*)"$', re.MULTILINE)
_FIELD = re.compile(r"\{(\w+)(?::([#=1fi]))?\}")
_UNIT = r"(?:%|[kKMGTPnuµmpf]?(?:FLOP/s|FLOP|B/s|B|Hz|s|W|J)|[KMG]iB)"
_NUMBER = rf"[-<~≈]?\d[\d.,]*(?:e[-+]?\d+)?[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*(?: ?{_UNIT})?(?![\w.]*[\w])"
_HAN = "\u4e00-\u9fff"
_START = r"[A-Z0-9]|--|[a-z]+\d"  # of a sentence; an option or a format may begin one
_WORDS = rf"(?:(?![.!?] (?:{_START}))[^\n;])+?"  # of one sentence
_FORMATS = r"(?:(?:fp|bf|tf|int)\w+(?:, | and )?)+"
_ITEM = r"(?:(?! and |, )[^;:\n])+?"
_TAKES = {"#": _NUMBER, "1": r"[^\s,;]+", "f": _FORMATS, "i": _ITEM, "=": r"[^,;:\n]+?", None: _WORDS}
_SAID = ("f", "i", "")  # kinds of fields whose words are said
_LETTER = re.compile(r"[A-Za-z]")
_MARKS = "，。；：、（）"
_CHINESE_TEXT = re.compile(f"[{_HAN}{_MARKS}]")
_TIGHT = re.compile(rf"(?<=[{_HAN}{_MARKS}]) +(?=[{_HAN}{_MARKS}])|(?<=[，。；：、（]) +| +(?=[，。；：、）])")  # a space that Chinese lacks
_LOOSE = re.compile(rf"(?<=[{_HAN}])(?=[A-Za-z0-9<≈])|(?<=[A-Za-z0-9%²³])(?=[{_HAN}])")
# Separators of texts, with the same in Chinese; the first one that a text has splits it.
_JOINTS = (("\n", "\n"), (" · ", " · "), ("; ", "；"), (": ", "："), (" and ", "和"), (", ", "、"))
_LIST = re.compile(r",? and |, ")
_LISTED = rf"(?:{_NUMBER}(?: \(\w+\))?|[^\s,;:]+)"  # an item of a list of names or numbers, which no sentence is
_NAMES = re.compile(rf"{_LISTED}(?:(?:{_LIST.pattern}){_LISTED})+")
_SENTENCE = re.compile(rf"(?<=[.!?]) (?={_START})")
_speaking: ContextVar[str] = ContextVar("language", default=ENGLISH)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Figures that are made meanwhile are in this language. Raises ResultsError for an unknown one, or if no font has its characters."""
    if language not in _LANGUAGES:
        raise ResultsError(f"no words in {language!r}; allowed: {', '.join(_LANGUAGES)}")
    before = _speaking.set(language)
    try:
        families()
        yield
    finally:
        _speaking.reset(before)


def spoken_language() -> str:
    """The language that figures are made in."""
    return _speaking.get()


def add_language(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lang", choices=_LANGUAGES, default=ENGLISH, help="language of the words; default: en")


@cache
def chinese_family() -> str:
    """The font family with Chinese characters that Matplotlib finds. Raises ResultsError without one."""
    if tuple(map(int, matplotlib.__version__.split(".")[:2])) < _FALLBACK:
        least = ".".join(map(str, _FALLBACK))
        raise ResultsError(f"--lang zh needs Matplotlib {least} or newer, and this one is {matplotlib.__version__}; allowed here: --lang en")
    known = {font.name for font in font_manager.fontManager.ttflist}
    if known.isdisjoint(CHINESE_FAMILIES):  # Matplotlib's own list may be older than a font
        for path in filter(_NEW_FILES.search, font_manager.findSystemFonts()):
            font_manager.fontManager.addfont(path)
    simplified.add()
    known = {font.name for font in font_manager.fontManager.ttflist}
    found = next((name for name in CHINESE_FAMILIES if name in known), None)
    if found is None:
        raise ResultsError("--lang zh needs a font with Chinese characters, and Matplotlib finds none; "
                           "the Debian package fonts-noto-cjk has one, and without it --lang en is allowed")
    return found


def has_chinese_font() -> bool:
    """True if figures can be in Chinese."""
    try:
        return bool(chinese_family())
    except ResultsError:
        return False


def families() -> list[str]:
    """The font families of the layout: a character comes from the first one that has it."""
    return [LATIN] if spoken_language() == ENGLISH else [LATIN, chinese_family()]


def named_families() -> list[str]:
    """Those that a file for another machine names."""
    return [LATIN] if spoken_language() == ENGLISH else [LATIN, *dict.fromkeys((*CHINESE_FAMILIES, chinese_family()))]


@dataclass(frozen=True)
class _Entry:
    """A template of the catalogue."""

    pattern: re.Pattern
    names: frozenset[str]  # the fields that stay
    answer: str

    def of(self, text: str) -> Optional[str]:
        """The text in Chinese; None if the template does not fit."""
        found = self.pattern.fullmatch(text)
        if found is None:
            return None
        fields = {name: value if name in self.names else _part(value) for name, value in found.groupdict().items()}
        return _FIELD.sub(lambda field: fields[field.group(1)], self.answer)


def _unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


@cache
def catalogue(path: Path) -> dict[str, str]:
    """English and Chinese templates. Raises ResultsError if the file has one twice."""
    pairs = [(_unescaped(one), _unescaped(other)) for one, other in _ENTRY.findall(path.read_text("utf-8"))]
    if len(found := dict(pairs)) < len(pairs):
        raise ResultsError(f"{path}: an entry is there twice")
    return found


def _rank(template: str) -> tuple[int, int]:
    """Templates with the most characters that are no field come first; of equal ones those whose fields take the least."""
    return -len(_FIELD.sub("", template)), sum(kind in ("i", "") for _, kind in _FIELD.findall(template))


def _pattern(template: str) -> re.Pattern:
    """The fields of a template. Its first letter may be a capital one."""
    parts, end = [], 0
    for field in _FIELD.finditer(template):
        parts += [re.escape(template[end : field.start()]), f"(?P<{field.group(1)}>{_TAKES[field.group(2)]})"]
        end = field.end()
    parts.append(re.escape(template[end:]))
    if parts[0][:1].isalpha():
        parts[0] = f"[{parts[0][0].lower()}{parts[0][0].upper()}]{parts[0][1:]}"
    return re.compile("".join(parts))


@cache
def _entries(path: Path) -> list[_Entry]:
    """The templates with fields, the narrowest first."""
    fielded = sorted((one for one in catalogue(path) if _FIELD.search(one)), key=_rank)
    return [_Entry(_pattern(one), frozenset(name for name, kind in _FIELD.findall(one) if kind not in _SAID), catalogue(path)[one])
            for one in fielded]


@cache
def _whole(path: Path) -> dict[str, str]:
    """The texts without fields, also with a capital first letter."""
    plain = {one: answer for one, answer in catalogue(path).items() if not _FIELD.search(one)}
    return {one[:1].upper() + one[1:]: answer for one, answer in plain.items()} | plain


def _split(text: str) -> Optional[str]:
    """The text in Chinese by its parts; None if no part is known."""
    sentences = _SENTENCE.split(text)
    if len(sentences) > 1:
        return _joined(sentences, " ")
    if text.endswith("."):
        return _joined([text[:-1]], "", "。")
    for joint, answer in _JOINTS:
        parts = re.split(rf"{joint}(?![^()]*\))", text)  # not within brackets
        if len(parts) > 1:
            return _joined(parts, answer)
    return None


def _part(text: str) -> str:
    """A text within a Chinese sentence. Of a list of names only what joins them is Chinese."""
    told = said(text)
    return told if told != text else _listed(text)


def _listed(text: str) -> str:
    return _LIST.sub(lambda joint: "和" if "and" in joint.group() else "、", text)


def _joined(parts: list[str], joint: str, end: str = "") -> Optional[str]:
    """The parts in Chinese, and lists of names among them with Chinese marks; None if no part is known."""
    told = [said(part) for part in parts]
    if told == parts:
        return None
    return joint.join(_listed(one) if one == part and _NAMES.fullmatch(part) else one for one, part in zip(told, parts)) + end


@lru_cache(maxsize=65536)
def _chinese(path: Path, text: str) -> str:
    bare = text.strip()
    found = _whole(path).get(bare) or next(filter(None, (entry.of(bare) for entry in _entries(path))), None) or _split(bare)
    if found is None:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return before + _LOOSE.sub(" ", _TIGHT.sub("", found)) + after


def in_chinese(text: str) -> bool:
    return bool(_CHINESE_TEXT.search(text))


def said(text: str) -> str:
    """A text in the language that figures are made in. One that is in Chinese stays."""
    if spoken_language() == ENGLISH or not _LETTER.search(text) or in_chinese(text):
        return text
    plain = text.replace("\u00a0", " ")
    found = _chinese(CATALOGUE, plain)
    return text if found == plain else found


def for_script(template: str) -> tuple[str, str]:
    """A template for a page's script, which fills {fields}: in English, and in the language that figures are made in."""
    plain = template.replace(":#", "")
    return plain, plain if spoken_language() == ENGLISH else catalogue(CATALOGUE)[template]


class _SaidFormatter(FuncFormatter):
    """The texts of another formatter."""

    def __init__(self, formatter: Formatter) -> None:
        super().__init__(lambda value, place: said(formatter(value, place)))


class Page(Figure):
    """A figure whose texts are said in the language that it is made in."""

    def __init__(self, **style: object) -> None:
        super().__init__(**style)
        self._language = spoken_language()

    def draw(self, renderer: object) -> None:
        with speaking(self._language):
            if self._language != ENGLISH:
                self._say()
            super().draw(renderer)

    def _say(self) -> None:
        for axis in (axis for axes in self.axes for axis in (axes.xaxis, axes.yaxis)):
            formatter = axis.get_major_formatter()
            if isinstance(formatter, (FixedFormatter, FuncFormatter)) and not isinstance(formatter, _SaidFormatter):
                axis.set_major_formatter(_SaidFormatter(formatter))
        for text in self.findobj(Text):
            text.set_text(said(text.get_text()))
