"""The slides as one HTML page: inline SVG in light and dark, the notes, and a font with the characters of the slides."""

import base64
import io
import re
from functools import partial
from html import escape
from pathlib import Path
from typing import Sequence

from matplotlib.font_manager import FontProperties, findfont

from ridgebench.base.html_page import POLICY, digest, filled, script_json
from ridgebench.base.workers import in_parallel
from ridgebench.figures.page.doubt import DOUBT
from ridgebench.figures.page.drawing import drawn, drawing
from ridgebench.figures.page.language import ENGLISH, LATIN, chinese_family, for_script, said, spoken_language
from ridgebench.figures.page.style import THEMES, Theme

from . import deck
from .deck import Deck, Slide
from .layout import SLIDE
from .notes import HOLLOW

_ASSETS = Path(__file__).parent / "assets"
_POINT = 72.0  # units of an SVG per inch
_BESIDE = 0.18  # inches between the plane and its panel
# The names and references of an SVG, which are made different for each picture of the page.
_NAME = re.compile(r'( id="|url\(#|xlink:href="#)')
_PROLOGUE = re.compile(r"^.*?(?=<svg )|<metadata>.*?</metadata>|<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL)
_FONT = re.compile(r"'DejaVu Sans'[^;\"]*")
_FAMILIES = {True: "'DejaVu Sans',Verdana,sans-serif", False: "'DejaVu Sans','Slides CJK',sans-serif"}  # by: the page is English
_CJK = "Slides CJK"  # the name of the Chinese font within the page
_SVG = re.compile(r"<svg [^>]*>")
_WEIGHTS = {"normal": "400", "bold": "700"}
_LABELS = ("Slides", "Previous step", "Next step", "Key n", "Notes")  # of deck.html
_WORDS = (  # of deck.js
    "{number:#} of {count:#}", "{number:#} of {count:#}, step {step:#} of {steps:#}", "{place} · minutes {from:#} to {to:#} of {all:#}",
    "Next: {title}", "The last slide", "Notes · {title}", "The browser blocked the window of the notes; allow it for this page.",
)  # fmt: skip


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


def _split() -> float:
    """The x at which a narrow window cuts a slide: the plane is left of it, its panel right of it."""
    return (SLIDE.right + _BESIDE) * _POINT


def _head() -> float:
    """The height of a slide's title, which a narrow window has as text."""
    return (SLIDE.height - SLIDE.top) * _POINT - 0.5 * SLIDE.text


def _steps_of(slides: Sequence[Slide]) -> list[list[Slide]]:
    """The slides of the page; those that build up one picture are the steps of one."""
    found: list[list[Slide]] = []
    for slide in slides:
        if slide.follows and found:
            found[-1].append(slide)
        else:
            found.append([slide])
    return found


def _picture(of: Deck, task: tuple[str, Slide, str]) -> str:
    """The SVG of a slide in a theme, without what an element of a page does not need."""
    name, slide, theme = task
    with drawing(THEMES[theme]):
        svg = drawn(deck.draw(slide, of, THEMES[theme]), "svg").decode("utf-8")
    svg = _FONT.sub(_FAMILIES[spoken_language() == ENGLISH], _NAME.sub(rf"\g<1>{name}-", _PROLOGUE.sub("", svg)))
    width, height = SLIDE.width * _POINT, SLIDE.height * _POINT
    label = escape(said(f"{slide.title}. {slide.say}"))
    opening = f'<svg class="whole" role="img" aria-label="{label}" viewBox="0 0 {width:g} {height:g}">'
    return _SVG.sub(lambda _: opening, svg, count=1)


def _beside(name: str) -> str:
    """The panel of a slide once more, for a narrow window."""
    left, top = _split(), _head()
    box = f"{left:.1f} {top:.1f} {SLIDE.width * _POINT - left:.1f} {SLIDE.floor * -_POINT + SLIDE.height * _POINT - top:.1f}"
    return f'<svg class="beside" aria-hidden="true" viewBox="{box}"><use href="#{name}-figure_1"/></svg>'


def _notes(slide: Slide) -> str:
    numbers = "".join(f"<li>{escape(said(one))}</li>" for one in slide.numbers)
    told = [f"<p>{escape(said(slide.say))}</p>", f"<ul>{numbers}</ul>" * bool(numbers), f"<p><code>{escape(slide.command)}</code></p>"]
    open_ = "" if slide.parted else " open"  # a narrow window shows a table or bars small
    return f'<details class="notes"{open_}><summary>{said("Notes")}</summary>{"".join(told)}</details>'


def _step(of: Deck, slide: Slide, name: str, drawn_as: dict[str, str]) -> str:
    """One step: its title, its picture in each theme, its notes."""
    pictures = [f'<div class="picture {theme}">{svg}{_beside(f"{theme}-{name}") if slide.parted else ""}</div>'
                for theme, svg in drawn_as.items()]
    doubt = f'<p class="doubt">{escape(said(of.doubt(slide)))}</p>' if of.doubt(slide) else ""
    kind = "step plane" if slide.parted else "step"
    return (f'<article class="{kind}" id="{name}" data-minutes="{slide.minutes}"><h2>{escape(said(slide.title))}</h2>'
            f'{"".join(pictures)}{doubt}{_notes(slide)}</article>')


def _sections(of: Deck, slides: Sequence[Slide], themes: Sequence[str]) -> str:
    """The slides with their pictures, each processor one at a time."""
    parts = _steps_of(slides)
    named = [(f"{number}.{index}" if len(part) > 1 else f"{number}", slide)
             for number, part in enumerate(parts, 1) for index, slide in enumerate(part, 1)]
    tasks = [(f"{theme}-{name}", slide, theme) for name, slide in named for theme in themes]
    pictures = iter(in_parallel(partial(_picture, of), tasks))
    steps = iter([_step(of, slide, name, {theme: next(pictures) for theme in themes}) for name, slide in named])
    sections = []
    for number, part in enumerate(parts, 1):
        inner = "\n".join(next(steps) for _ in part)
        label = said(f"Slide {number} of {len(parts)}")
        sections.append(f'<section class="slide" aria-label="{label}">{inner}</section>')
    return "\n".join(sections)


def _faces(text: str) -> str:
    """CSS with the fonts of the slides, cut down to the characters of a text: every machine then sets them alike."""
    families = [(LATIN, LATIN)] if spoken_language() == ENGLISH else [(LATIN, LATIN), (_CJK, chinese_family())]
    return "\n".join(_face(name, family, weight, text) for name, family in families for weight in _WEIGHTS)


def _face(name: str, family: str, weight: str, text: str) -> str:
    """The rule of one font, which the page calls `name`."""
    from fontTools import subset  # takes half a second to load

    options = subset.Options(flavor="woff", hinting=False, layout_features=[], name_IDs=[0, 1, 2, 13, 14],
                             drop_tables=[*subset.Options().drop_tables, "FFTM"], recalc_timestamp=False)
    path = findfont(FontProperties(family=family, weight=weight))
    options.font_number = 0 if path.endswith(".ttc") else -1  # of several faces the one that Matplotlib reads
    font, file = subset.load_font(path, options), io.BytesIO()
    cutter = subset.Subsetter(options)
    cutter.populate(text=text)
    cutter.subset(font)
    subset.save_font(font, file, options)
    data = base64.b64encode(file.getvalue()).decode()
    return f"@font-face{{font-family:'{name}';font-weight:{_WEIGHTS[weight]};src:url(data:font/woff;base64,{data}) format('woff')}}"


def _variables(theme: Theme) -> str:
    return f"--background:{theme.background};--ink:{theme.ink};--muted:{theme.muted};--faint:{theme.faint};"


def _style(themes: Sequence[str], text: str) -> str:
    """The style with the colours of the themes: one, or light, and dark if the reader's settings prefer it. Paper is light."""
    first, *dark = themes
    width = SLIDE.width * _POINT
    rules = [_faces(text), f":root{{{_variables(THEMES[first])}color-scheme:{'dark' if first == 'dark' else 'light'}}}"]
    if dark:
        rules += [f"@media screen and (prefers-color-scheme:dark){{:root{{{_variables(THEMES['dark'])}color-scheme:dark}}"
                  ".picture.light{display:none}.picture.dark{display:block!important}}"]
        rules.append(".picture.dark{display:none}")
    plane, head = _split(), _head()
    # A narrow window has the picture in two pieces, which would cut the lines on a doubt: they are text below it there.
    rules.append(f"@media screen and (max-width:640px){{[id$='-{DOUBT}']{{display:none}}.whole{{width:100%;margin-top:{-100 * head / width:.2f}%}}"
                 f".plane .whole{{width:{100 * width / plane:.2f}%;margin-top:{-100 * head / plane:.2f}%}}}}")
    return "\n".join([*rules, _asset("deck.css")])


def document(of: Deck, slides: Sequence[Slide], themes: Sequence[str]) -> str:
    """The page of the slides in one theme, or in light and dark."""
    title = said(f"{of.device.name}, {of.scene.format}: memory or arithmetic")
    sections, template, script = _sections(of, slides, themes), _asset("deck.html"), _asset("deck.js")
    words, hollow = dict(map(for_script, _WORDS)), said(HOLLOW)
    css = _style(themes, "".join(sorted(set(f"{sections}{template}{script}{title}{words}{hollow}"))))
    policy = POLICY.format(scripts=digest(script), style="'unsafe-inline'")  # an SVG of Matplotlib has its colours in attributes
    return filled(template, {"policy": f"{policy}; font-src data:", "title": escape(title), "style": css, "slides": sections,
                             "hollow": escape(hollow), "script": script, "words": script_json(words),
                             **{english: escape(said(english)) for english in _LABELS}}, spoken_language())
