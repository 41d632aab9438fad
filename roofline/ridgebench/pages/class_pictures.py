"""Slides as pictures of the class pages: docs/pictures/class/SLUG.svg, and docs/zh/pictures/class/SLUG.svg in Chinese."""

import re
from functools import cache
from pathlib import Path

from ridgebench.base.files import ResultsError
from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.page.drawable import drawable
from ridgebench.figures.page.drawing import drawing, drawn
from ridgebench.figures.page.language import ENGLISH, said, speaking
from ridgebench.figures.page.style import THEMES
from ridgebench.figures.slides import deck
from ridgebench.figures.slides.all_slides import all_slides

FOLDER = Path("pictures/class")  # beside the page
_TEXT = re.compile(r"<text[^>]*>([^<]*)")


@cache
def slides_of(sources: str) -> tuple[deck.Deck, dict[str, deck.Slide]]:
    """The deck over data sheets or over the folder of a run, and its slides by their slugs. Raises ResultsError.

    A slide chooses the longest title that fits. English decides, so that the order of the pages does not.
    """
    names = sources.split()
    with speaking(ENGLISH):
        if "/" in sources:
            made = deck.make(make_view(drawable(load_run(Path(sources))), None), [], None, sources, f"ridgebench slides {sources}")
        else:
            made = deck.make(None, names, None, names[0], " ".join(["ridgebench slides", *(f"--on {name}" for name in names)]))
        return made, {slide.slug: slide for slide in all_slides(made)}


def _slide(slug: str, sources: str) -> deck.Slide:
    found = slides_of(sources)[1]
    if slug not in found:
        raise ResultsError(f"no slide {slug!r} of {sources}; allowed: {', '.join(found)}")
    return found[slug]


def title(slug: str, sources: str, language: str) -> str:
    """The finding of the slide. Raises ResultsError, also without a font of the language."""
    with speaking(language):
        return said(_slide(slug, sources).title)


def svg(slug: str, sources: str, language: str) -> str:
    """The slide. Raises ResultsError, also without a font of the language."""
    theme = THEMES["light"]
    with speaking(language), drawing(theme):
        return drawn(deck.draw(_slide(slug, sources), slides_of(sources)[0], theme), "svg").decode()


def words(picture: str) -> list[str]:
    """The texts of a picture in their order. Another version of Matplotlib draws the same words by other paths."""
    return _TEXT.findall(picture)
