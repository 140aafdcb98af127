"""`python -m bench`: run the cases, print the table, write JSON and plots.

Exit status 1 when a case did not run, or when the check has missed a bound.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from bench.cases import CASES, check
from bench.plots import plots
from bench.process import ChildFailedError
from bench.report import document, environment, table
from bench.root import leave_root
from bench.rows import CaseResult, Row
from bench.settings import Settings


def main() -> int:
    leave_root()
    arguments = _parse()
    settings = Settings(
        entries=arguments.entries or (20_000 if arguments.quick else 100_000),
        repeat=arguments.repeat or (3 if arguments.check else 2 if arguments.quick else 5),
        quick=arguments.quick,
    )
    if arguments.check:
        results = [_run("check", check.run, settings)]
    else:
        results = [_run(name, CASES[name], settings) for name in arguments.only or CASES]
    print(" · ".join(f"{key} {value}" for key, value in environment().items()))
    print(f"{settings.entries:,} entries, best and median of {settings.repeat}\n")
    print(table(results))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(document(results, settings), ensure_ascii=False, indent=1) + "\n")
    if arguments.plots is not None:
        arguments.plots.mkdir(parents=True, exist_ok=True)
        for name, svg in plots(results).items():
            (arguments.plots / name).write_text(svg, encoding="utf-8")
    missed = arguments.check and any(row.ok is False for result in results for row in result.rows)
    return int(missed or any(result.failure is not None for result in results))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure sessiontree on seeded sessions.")
    parser.add_argument("--entries", type=_positive, help="entries of the main session (100000; quick: 20000)")
    parser.add_argument(
        "--repeat", type=_positive, help="fresh processes for each measurement (5; quick: 2; check: 3)"
    )
    parser.add_argument("--quick", action="store_true", help="a small run, in less than a minute")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write all samples there")
    parser.add_argument("--plots", type=Path, metavar="DIRECTORY", help="write SVG files there, one for each kind")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--only", nargs="+", metavar="NAME", choices=CASES, help=f"of: {', '.join(CASES)}")
    which.add_argument("--check", action="store_true", help="only ratios that must not get worse, in a few seconds")
    return parser.parse_args()


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def _run(name: str, run: Callable[[Settings], list[Row]], settings: Settings) -> CaseResult:
    print(f"{name} …", file=sys.stderr, flush=True)
    try:
        return CaseResult(name, run(settings))
    except ChildFailedError as error:
        print(error.stderr, file=sys.stderr)
        return CaseResult(name, failure=str(error))


if __name__ == "__main__":
    sys.exit(main())
