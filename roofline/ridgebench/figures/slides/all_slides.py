"""The slides of a deck in their order."""

from dataclasses import replace

from . import (
    bits_slide, build_up, comparison, counting, deck, energy_slide, ladder, limits_slide, machine_slide, operations_table, phases_slide,
    step_slides, tokens_slide, training, zones_slide,
)  # fmt: skip


def all_slides(of: deck.Deck) -> list[deck.Slide]:
    """The build-up: what bytes cost, the operations, the roofline step by step, comparisons, memory."""
    first = [counting.costs(of), operations_table.table(of), operations_table.formulas(of)]
    built = [replace(make(of), follows=index > 0) for index, make in enumerate(build_up.SLIDES)]
    plane = [make(of) for make in (operations_table.answers, tokens_slide.tokens, limits_slide.limits, bits_slide.bits, *comparison.SLIDES)]
    memory = [make(of) for make in (training.passes, training.state, counting.memory, counting.activations, phases_slide.peak)]
    return [*first, *built, *plane, *zones_slide.slides(of), *machine_slide.slides(of), *ladder.slides(of), *energy_slide.slides(of),
            *memory, *step_slides.slides(of)]
