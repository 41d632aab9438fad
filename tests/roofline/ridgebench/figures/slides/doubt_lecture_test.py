"""The last line of a slide or figure says what puts a run in doubt if it shows a measurement of that run, and only then."""

from dataclasses import replace

import pytest
from golden import GOLDEN, ROOT
from judged_view import judged_again
from made_up_lecture import made_up, predict

from ridgebench.data.records import Row, load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.page.doubt import DOUBT, doubt
from ridgebench.figures.page.drawable import drawable
from ridgebench.figures.page.drawing import drawing
from ridgebench.figures.page.style import THEMES
from ridgebench.figures.slides import all_slides, deck, figure, html_deck, model, scene

LIGHT = THEMES["light"]
PUBLISHED = sorted(path.parent for path in ROOT.glob("results/*/20*/records.jsonl"))
PARTIAL = sorted(path.parent for path in ROOT.glob("results/*/partial/*-quick/records.jsonl"))  # its rows have energies
FASTER = 1.1
# Its words depend on the ratio of the roofs only, which two runs may share.
RATIO_ONLY = {"answers"}


def rates(of: dict) -> dict:
    return {key: value * FASTER for key, value in of.items() if key.endswith("_per_s") and isinstance(value, float)}


def faster(row: Row) -> Row:
    """The row of a faster run of the same sizes, under its roof."""
    times = {key: value / FASTER for key, value in vars(row).items() if key.startswith("time_") and value}
    telemetry = dict(row.telemetry)
    if window := telemetry.get("window"):
        telemetry["window"] = {key: value / FASTER if "energy" in key and value else value for key, value in window.items()}
    roof = row.roof and {**row.roof, **rates(row.roof)}
    return replace(row, **rates(vars(row)), **times, roof=roof, telemetry=telemetry)


def without_end(view: View) -> View:
    return judged_again(replace(view, environment=view.environment | {"ended": None, "interrupted": False}))


def shown(drawn) -> list[str]:
    """All that a figure has but the line in question."""
    texts = [f"{text.get_text()} {text.get_position()}" for axes in drawn.axes for text in axes.texts if text.get_gid() != DOUBT]
    lines = [f"{line.get_gid()} {line.get_xydata().round(4).tolist()}" for axes in drawn.axes for line in axes.lines]
    return texts + lines + [f"{patch.get_path().vertices.round(4).tolist()} {patch.get_transform()}" for axes in drawn.axes for patch in axes.patches]


def last_line(drawn) -> list[str]:
    lines = [text.get_text() for axes in drawn.axes for text in axes.texts if text.get_gid() == DOUBT]
    return [" ".join(lines)] if lines else []


def check(view: View) -> set[str]:
    """Draws all slides of a run without an end and of a faster one; returns the slides that have the line."""
    first = without_end(view)
    second = without_end(replace(first, rows=list(map(faster, first.rows))))
    both = [deck.make(view, [], None, "RUN", "ridgebench slides RUN") for view in (first, second)]
    both[1] = replace(both[1], limits=both[0].limits)
    other = {slide.slug: slide for slide in all_slides.all_slides(both[1])}
    found = set()
    for slide in all_slides.all_slides(both[0]):
        with drawing(LIGHT):
            drawn = deck.draw(slide, both[0], LIGHT)
            same = slide.slug in other and shown(drawn) == shown(deck.draw(other[slide.slug], both[1], LIGHT))
        line = last_line(drawn)
        assert line in ([], [both[0].scene.every_doubt if slide.every_format else both[0].scene.doubt]), slide.slug
        assert slide.slug in RATIO_ONLY or bool(line) != same, slide.slug
        found |= {slide.slug} if line else set()
    return found


def test_on_slides_of_made_up_runs(monkeypatch):
    monkeypatch.setattr(model, "predict", predict)
    drawn = [made_up(seed) for seed in range(12)]
    found = [check(view) for view in drawn if view.points]
    assert len(found) > 6 and {"costs", "limits", "matmul", "ladder"} <= set().union(*found)
    assert not {"operations", "formulas", "axes", "tokens", "bits", "passes", "state", "memory"} & set().union(*found)
    assert not set.intersection(*found) - {"limits", "matmul", "batching", "gelu", "relu"}, "a run on a data sheet draws no measured roof"


@pytest.mark.parametrize("folder", PUBLISHED + PARTIAL, ids=lambda folder: folder.parent.name)
def test_on_slides_of_published_runs(folder):
    found = check(make_view(drawable(load_run(folder)), None))
    assert {"limits", "matmul"} <= found
    assert ("costs" in found) == ("machine" in found), "a host has no data sheet: its slides draw the measured roof"


def test_a_lecture_figure_of_the_model_has_no_such_line():
    view = without_end(make_view(load_run(next(ROOT.glob("results/nvidia-h100*/2026-11-22-7f6e7b5"))), None))
    bare = judged_again(replace(view, rows=[row for row in view.rows if row.op == "relu" and row.format == "fp32"]))
    with drawing(LIGHT):
        measured, by_model = (figure.draw(scene.make(one, [], "bf16", ops), LIGHT) for one, ops in ((view, None), (bare, ("gelu",))))
    assert "No claim: the run has no end" in last_line(measured)[0] and last_line(by_model) == []


def test_a_slide_of_all_formats_says_which_of_their_roofs_drifted():
    folder = ROOT / "results" / "intel-r-xeon-r-processor-2-threads" / "2026-11-26-ac38e7c"
    of = deck.make(make_view(drawable(load_run(folder)), None), [], None, "RUN", "ridgebench slides RUN")
    slides = {slide.slug: slide for slide in all_slides.all_slides(of)}
    assert of.scene.format == "fp32" and of.doubt(slides["matmul"]) == "" == of.doubt(slides["bits"])
    assert "bf16 tensor roofs drifted" in of.doubt(slides["formats"]) and "about 13.5 times" in slides["formats"].title


def test_a_long_doubt_has_several_lines(monkeypatch):
    monkeypatch.setattr(model, "predict", predict)
    long = "No claim: the run has no end; " + " and ".join(f"the {name} roof drifted" for name in ("memory", "FMA", "bf16 tensor"))
    for paper in (False, True):
        monkeypatch.setattr(scene.Scene, "doubt", property(lambda self: long))
        with drawing(LIGHT):
            drawn = figure.draw(scene.make(made_up(1), [], None), LIGHT, paper)
        assert last_line(drawn) == [long]


def test_a_page_of_slides_has_the_line_where_the_picture_has_it(monkeypatch):
    monkeypatch.setattr(model, "predict", predict)
    of = deck.make(without_end(made_up(1)), [], None, "RUN", "ridgebench slides RUN")
    slides = [slide for slide in all_slides.all_slides(of) if slide.slug in ("bits", "matmul")]
    page = html_deck.document(of, slides, ["light"])
    page = page.decode("utf-8") if isinstance(page, bytes) else page
    assert page.count('<p class="doubt">') == 1


def test_a_figure_of_ceilings_names_the_roofs_that_it_draws_only():
    view = make_view(load_run(GOLDEN), None)
    copy = next(row for row in view.ceilings if row.saturates == "memory")
    moved = judged_again(replace(view, rows=[*view.rows, replace(copy, role="control", id=f"{copy.id}:control", bytes_per_s=0.5 * copy.bytes_per_s)]))
    assert "drifted" in doubt(moved) and doubt(moved, []) == "" and "The memory roof drifted" in doubt(moved, [copy])
