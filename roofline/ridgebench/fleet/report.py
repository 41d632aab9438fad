"""`ridgebench fleet report`: judges a fleet and writes its report."""

import argparse
import sys
from pathlib import Path


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `fleet report`."""
    parser.add_argument("fleet", type=Path, metavar="FLEET", help="folder of `fleet plan`, or any tree with results")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the report; default: FLEET/report")
    parser.add_argument("--baseline", type=Path, metavar="FILE.jsonl|DIR",
                        help="also judge each GPU by this baseline of its model, or by that of its model in a folder")
    parser.add_argument("--rules", type=Path, metavar="FILE", help="rules of each model: power limit, driver, ECC, links, least rates")
    parser.add_argument("--json", action="store_true", help="print the report as JSON, and nothing else")


def main(options: argparse.Namespace) -> int:
    """Returns the exit code of the gravest state; docs/operate/fleet.md lists them."""
    from .collect import collect
    from .judge import assess
    from .model_baselines import read_baselines
    from .render import files
    from .rules import absent_models, idle_rates, judge_rates, read_rules
    from .soaks import read_soaks

    baselines = read_baselines(options.baseline) if options.baseline else None
    rules = read_rules(options.rules) if options.rules else {}
    soaks = read_soaks(options.fleet) if options.fleet.is_dir() else []  # collect() says what is allowed
    fleet = collect(options.fleet, rules=options.rules, may_be_empty=bool(soaks))
    for line in (*absent_models(fleet, rules, options.rules), *idle_rates(fleet, rules, options.rules)):
        print(f"fleet: note: {line}", file=sys.stderr)
    assessment = assess(judge_rates(fleet, rules, options.rules), baselines=baselines, soaks=soaks)
    folder, text = files.write_all(assessment, options.out)
    sys.stdout.write(text if options.json else files.summary(assessment, folder))
    return assessment.code
