"""`doctor --rules FILE`: what the owner of a fleet wants of each model."""

import json
import re

import pytest
from command_line import OK, ROOT, refused, ridgebench, schema, strict_json

GPU = {"backend": "cuda", "name": "cuda:0", "model": "NVIDIA H200", "power_limit_w": 700.0, "driver": "580.65.06", "ecc": True, "mig": False,
       "persistence": True, "nvlinks": 18, "nvlinks_present": 18,
       "pcie": {"generation": 1, "max_generation": 5, "lanes": 16, "max_lanes": 16}}  # fmt: skip
RULES = {"power_limit_w": 700, "driver": ["570.", "580."], "ecc": True, "mig": False, "persistence": True, "nvlinks": 18, "pcie_generation": 5,
         "pcie_lanes": 16, "rates": {"^dram_copy/": {"bytes_per_s": 4e12}}}  # fmt: skip


@pytest.fixture(name="judged")
def judged_fixture(tmp_path):
    def judged(rules, **gpu) -> dict[str, tuple[str, str]]:
        (tmp_path / "environment.json").write_text(json.dumps({"devices": [GPU | gpu]}))
        (tmp_path / "rules.json").write_text(json.dumps(rules))
        done = ridgebench("doctor", "--recorded", tmp_path / "environment.json", "--rules", tmp_path / "rules.json", "--json")
        assert done.returncode == OK, done.stderr
        return {one["code"]: (one["status"], one["text"]) for one in strict_json(done.stdout)["findings"] if one["code"].startswith("rule")}

    return judged


def test_a_gpu_that_obeys_has_no_finding(judged):
    assert judged({"NVIDIA H200": RULES}) == {} == judged({"*": RULES}) == judged({"NVIDIA H200": {}, "*": {"ecc": False}})
    assert judged({"*": {"power_limit_w": [650, 700]}}) == {}


@pytest.mark.parametrize(("changed", "code", "text"), [
    ({"power_limit_w": 500.0}, "rule_power_limit_w", "power_limit_w is 500.0; the rules of NVIDIA H200 want 700"),
    ({"driver": "550.1"}, "rule_driver", 'driver is "550.1"; the rules of NVIDIA H200 want ["570.","580."] at its beginning'),
    ({"ecc": False}, "rule_ecc", "ecc is false; the rules of NVIDIA H200 want true"),
    ({"nvlinks": 17}, "rule_nvlinks", "nvlinks is 17; the rules of NVIDIA H200 want 18 or more"),
    ({"pcie": {"max_generation": 4, "lanes": 16}}, "rule_pcie_generation", "pcie_generation is 4; the rules of NVIDIA H200 want 5 or more"),
])  # fmt: skip
def test_what_breaks_a_rule_is_a_warning(changed, code, text, judged):
    assert judged({"NVIDIA H200": RULES}, **changed) == {code: ("warning", text)}


def test_what_cannot_be_checked_is_a_note(judged):
    found = judged({"*": {"ecc": True}}, ecc=None)
    assert found == {"rule_unknown": ("note", "ecc is unknown; the rules of * want true")}
    assert judged({"NVIDIA B200": {}}) == {"rule_none": ("note", "the rules name no model 'NVIDIA H200' and no '*'")}


# Expressions that RE2 accepts, and that Python's re refuses or reads in another way, with the part that the message names.
ONLY_RE2 = {r"^\pL": r"\pL", "-dot/[[:alpha:]]": "[:", "a{,5}": "{,", r"a\z": r"\z", "a(?i)b": "(?i)", r"\Q.\E": r"\Q", r"\x{41}": r"\x{", "(?U)a+": "(?U)"}
REFUSED = [
    ({"*": {"powr": 1}}, ("*: unknown key 'powr'; allowed: power_limit_w, driver, vbios, ecc, mig, persistence, nvlinks, pcie_generation, pcie_lanes, rates",)),
    ({"*": {"power_limit_w": "700"}}, ('power_limit_w is "700"; allowed: a number, or [low, high]',)),
    ({"*": {"power_limit_w": [700, 600]}}, ("allowed: a number, or [low, high]",)),
    ({"*": {"ecc": 1}}, ("ecc is 1; allowed: true or false",)),
    ({"*": {"driver": []}}, ("driver is []; allowed: a text, or a list of texts",)),
    ({"*": {"rates": {"^dot": {"rows": 1}}}}, ("rates of '^dot' is", "flops_per_s", "bytes_per_s")),
    ({"*": {"rates": {"(": {"flops_per_s": 1}}}}, ("(",)),
    *(({"*": {"rates": {text: {"flops_per_s": 1}}}}, ("rates of ", part, "`fleet report` does not read")) for text, part in ONLY_RE2.items()),
    ({"*": 5}, ("* is 5; allowed: an object with keys of: power_limit_w",)),
    ([], ()),
]  # fmt: skip
NOT_IN_A_SCHEMA = [{"*": {"power_limit_w": [700, 600]}}, *({"*": {"rates": {text: {"flops_per_s": 1}}}} for text in ("(", *ONLY_RE2))]


@pytest.mark.parametrize(("rules", "parts"), REFUSED)
def test_a_file_that_makes_no_sense_is_refused(rules, parts, tmp_path):
    (tmp_path / "rules.json").write_text(json.dumps(rules))
    refused(ridgebench("doctor", "--rules", tmp_path / "rules.json"), str(tmp_path / "rules.json"), *parts)


def test_a_file_that_is_absent_is_refused(tmp_path):
    refused(ridgebench("doctor", "--rules", tmp_path / "absent"), str(tmp_path / "absent"))


def test_the_schema_agrees_with_the_reader(tmp_path):
    checked = schema("rules")
    for rules, _ in REFUSED:
        assert checked.is_valid(rules) is (rules in NOT_IN_A_SCHEMA), rules
    (tmp_path / "rules.json").write_text('{"*": {"powr": 1}}')
    said = ridgebench("doctor", "--rules", tmp_path / "rules.json").stderr
    assert said.strip().split("allowed: ")[1].split(", ") == list(checked.schema["$defs"]["rules"]["properties"])
    page = (ROOT / "docs" / "operate" / "fleet.md").read_text("utf-8")
    for rules in ({"NVIDIA H200": RULES}, {"*": {"power_limit_w": [650, 700]}}, json.loads(re.search(r"```\n(\{.*?\n\})\n```", page, re.DOTALL)[1])):
        assert list(checked.iter_errors(rules)) == []


@pytest.mark.parametrize("text", [r"^dram_(read|copy)/.*\.5\b", r"(?i)^DOT", "(?i:x)y", "(?P<a>x)|(?:y)", r"[^\]:]\x41\\p", "a{1,3}", "a{2,}", r"\d\W\.", "[a:]"])
def test_both_readers_accept_an_expression_that_means_the_same(text, judged):
    assert judged({"*": {"rates": {text: {"flops_per_s": 1}}}}) == {}
    assert re.compile(text)
