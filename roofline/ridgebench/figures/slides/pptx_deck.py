"""The slides as a PowerPoint file: real titles, pictures, and the notes as those of the speaker."""

import io
from functools import partial
from types import ModuleType
from typing import Any, Sequence

from matplotlib.colors import to_hex

from ridgebench.base.errors import CommandError
from ridgebench.base.workers import in_parallel
from ridgebench.figures.page.drawing import drawing, drawn
from ridgebench.figures.page.language import said
from ridgebench.figures.page.style import Theme

from . import deck
from .deck import Deck, Slide
from .layout import SLIDE, title_size

_TITLE_ONLY = 5  # of python-pptx's own template
_BEHIND = 2  # the first place of a picture among the shapes of a slide
_FONT = "Verdana"  # as wide as the DejaVu Sans of the pictures


def library() -> ModuleType:
    """python-pptx. Raises CommandError without it."""
    try:
        import pptx
    except ModuleNotFoundError:
        raise CommandError("a .pptx file needs python-pptx; `pip install 'ridgebench[pptx]'` installs it") from None
    return pptx


def _picture(of: Deck, theme: Theme, slide: Slide) -> bytes:
    """The PNG of a slide without its title."""
    with drawing(theme):
        return drawn(deck.draw(slide, of, theme, titled=False), "png")


def _write_title(shape: Any, slide: Slide, theme: Theme) -> None:
    """Writes the title at the place that it has in the pictures of other files."""
    from pptx.dml.color import RGBColor
    from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
    from pptx.util import Inches, Pt

    margin = SLIDE.margin
    shape.left, shape.top = Inches(margin), Inches(margin)
    shape.width, shape.height = Inches(SLIDE.width - 2 * margin), Inches(SLIDE.height - SLIDE.top - margin)
    frame = shape.text_frame
    frame.text, frame.word_wrap, frame.vertical_anchor = said(slide.title), True, MSO_ANCHOR.TOP
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
    frame.paragraphs[0].alignment = PP_ALIGN.LEFT
    font = frame.paragraphs[0].runs[0].font
    font.name, font.size, font.bold = _FONT, Pt(title_size(SLIDE, slide.title)), True
    font.color.rgb = RGBColor.from_string(to_hex(theme.ink)[1:])


def _add(show: Any, slide: Slide, picture: bytes, theme: Theme) -> None:
    """Adds a slide: its picture over all of it, its title, its notes."""
    page = show.slides.add_slide(show.slide_layouts[_TITLE_ONLY])
    shape = page.shapes.add_picture(io.BytesIO(picture), 0, 0, show.slide_width, show.slide_height)
    page.shapes._spTree.remove(shape._element)
    page.shapes._spTree.insert(_BEHIND, shape._element)
    shape._element.nvPicPr.cNvPr.set("descr", said(f"{slide.title}. {slide.say}"))
    _write_title(page.shapes.title, slide, theme)
    page.notes_slide.notes_text_frame.text = "\n".join([said(slide.say), "", *map(said, slide.numbers), "", slide.command])


def document(of: Deck, slides: Sequence[Slide], theme: Theme) -> bytes:
    """The file of the slides. Raises CommandError without python-pptx."""
    show = library().Presentation()
    from pptx.util import Inches

    show.slide_width, show.slide_height = Inches(SLIDE.width), Inches(SLIDE.height)
    show.core_properties.title, show.core_properties.author = f"{of.device.name}, {of.scene.format}", "ridgebench"
    for slide, picture in zip(slides, in_parallel(partial(_picture, of, theme), slides)):
        _add(show, slide, picture, theme)
    file = io.BytesIO()
    show.save(file)
    return file.getvalue()
