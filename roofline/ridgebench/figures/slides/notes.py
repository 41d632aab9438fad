"""The speaker's notes: one part a slide, as Markdown."""

from ridgebench.base.text import markdown

from ridgebench.figures.page.language import said

from .deck import Deck, Slide

HOLLOW = "Hollow points are by the model, filled ones were measured."

def _part(number: int, slide: Slide) -> str:
    lines = [f"## {number}. {markdown(said(slide.title))} ({said(f'{slide.minutes} min')})", "", markdown(said(slide.say)), ""]
    lines += [f"- {markdown(said(one))}" for one in slide.numbers]
    lines += [""] * bool(slide.numbers) + ["```", slide.command, "```", ""]
    return "\n".join(lines)


def notes(deck: Deck, slides: list[Slide]) -> str:
    """What to say on each slide, its numbers, and the command that gives them again."""
    total = sum(slide.minutes for slide in slides)
    what = said(f"{deck.device.name}, {deck.scene.format}: {len(slides)} slides for about {total} minutes.")
    head = f"# {said('Notes for the speaker')}\n\n{markdown(what)} {said(HOLLOW)}\n"
    return "\n".join([head, *(_part(number, slide) for number, slide in enumerate(slides, 1))])
