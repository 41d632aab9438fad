"""The slide on energy has the joules of each format, and claims nothing of a run that did not end."""

import re
from dataclasses import replace

import pytest
from golden import ROOT
from judged_view import judged_again

from ridgebench.data.records import load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.page import language
from ridgebench.figures.slides import deck, energy_slide

H200 = ROOT / "results" / "nvidia-h200" / "partial" / "2026-11-27-6abf65e-quick"


@pytest.fixture(scope="module", name="cut")
def cut_fixture() -> View:
    return make_view(load_run(H200), None)


@pytest.fixture(scope="module", name="whole")
def whole_fixture(cut) -> View:
    """The same run, as if it had ended and no ceiling had moved."""
    ended = {"interrupted": False, "ended": "2026-11-27T00:00:00Z", "controls": [], "doubted": {}}
    return judged_again(replace(cut, environment=cut.environment | ended))


def slides_of(view: View) -> list[deck.Slide]:
    return energy_slide.slides(deck.make(view, [], "bf16", "RUN", "ridgebench slides RUN"))


def test_the_slide_has_the_joules_of_each_format(whole):
    (slide,) = slides_of(whole)
    assert slide.title == "A FLOP takes 0.823 pJ in bf16" and slide.command == "ridgebench slides RUN"
    assert slide.numbers[0] == "fp8_e5m2: 0.444 pJ a FLOP, 2.25 TFLOP a joule" and len(slide.numbers) == 6
    assert slide.numbers[-1] == "idle before the run: 125 W"


def with_byte(view: View) -> View:
    copy = next(row for row in view.ceilings if row.saturates == "memory")
    known = replace(copy, telemetry={"window": {"energy_per_launch_j": 1.6e-10 * copy.bytes}})
    return replace(view, rows=[known if row is copy else row for row in view.rows])


def test_a_byte_is_worth_flops(whole):
    (slide,) = slides_of(with_byte(whole))
    assert slide.title == "A byte of memory takes the joules of 194 FLOPs in bf16"
    assert slide.numbers[-2] == "a byte of main memory: 160 pJ"


def test_a_byte_of_a_cache_is_a_number_and_no_claim(whole):
    read = next(row for row in whole.ceilings if row.level == 2)
    known = replace(read, telemetry={"window": {"energy_per_launch_j": 1.6e-11 * read.bytes}})
    (slide,) = slides_of(replace(whole, rows=[known if row is read else row for row in whole.rows], environment=whole.environment | {"state": None}))
    assert slide.title == "A FLOP takes 0.823 pJ in bf16"
    assert slide.numbers[-2:] == ["a byte of L2: 16 pJ", "idle power not recorded"]


def test_a_run_that_did_not_end_claims_nothing(cut):
    (slide,) = slides_of(cut)
    assert slide.title == "Joules of a FLOP in each format"


def test_without_recorded_energy_there_is_no_slide(whole):
    rows = [replace(row, telemetry={}) for row in whole.rows]
    assert slides_of(replace(whole, rows=rows)) == []
    assert energy_slide.slides(deck.make(None, ["h100-sxm"], None, "h100-sxm", "ridgebench slides")) == []


@pytest.mark.skipif(not language.has_chinese_font(), reason="no font with Chinese characters; fonts-noto-cjk has one")
def test_every_word_of_the_slide_has_its_chinese(cut, whole):
    for view in (cut, whole, with_byte(whole)):
        (slide,) = slides_of(view)
        with language.speaking("zh"):
            for text in map(language.said, (slide.title, slide.say, *slide.numbers)):
                assert not set(re.findall("[A-Za-z]{3,}", text)) - {"FLOP", "TFLOP"}, text
