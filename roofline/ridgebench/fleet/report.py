"""`ridgebench fleet report`: judges a fleet and writes its report."""

import argparse
import sys
from pathlib import Path


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `fleet report`."""
    parser.add_argument("fleet", type=Path, metavar="FLEET", help="folder of `fleet plan`, or any tree with results")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the report; default: FLEET/report")
    parser.add_argument("--baseline", type=Path, metavar="FILE.jsonl", help="also judge each GPU by this baseline of its model")
    parser.add_argument("--rules", type=Path, metavar="FILE", help="rules of each model: power limit, driver, ECC, links, least rates")
    parser.add_argument("--json", action="store_true", help="print the report as JSON, and nothing else")


def main(options: argparse.Namespace) -> int:
    """Returns the exit code of the gravest state; docs/operate/fleet.md lists them."""
    from .collect import collect
    from .judge import assess
    from .past import read_past
    from .render import files
    from .rules import idle_rates, judge_rates, read_rules

    past = read_past(options.baseline) if options.baseline else None
    rules = read_rules(options.rules) if options.rules else {}
    fleet = collect(options.fleet, rules=options.rules)
    for line in idle_rates(fleet, rules, options.rules):
        print(f"fleet: note: {line}", file=sys.stderr)
    assessment = assess(judge_rates(fleet, rules, options.rules), past=past)
    folder, text = files.write_all(assessment, options.out)
    sys.stdout.write(text if options.json else files.summary(assessment, folder))
    return assessment.code
