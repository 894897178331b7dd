"""Measure what the tests catch: make one fault at a time in a copy and run the tests.

    python -m tools.faults                          the list in faults.toml
    python -m tools.faults --only tree              faults whose family or name has "tree" in it
    python -m tools.faults --mutants 120 --seed 0   a random sample that nobody chose

Run again, it goes on where it stopped, as long as sources and tests are the same. faults.json
remembers which test caught a fault, and that test is run first; `--forget` forgets both. What the
quick tier catches, the full one need not try. A test that fails without the fault too catches
nothing. The table is written into faults.md.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from tools.fault_places import ROOT, Change, Fault, PlaceError, change_of, read_faults
from tools.fault_reach import FIRST, Reach
from tools.fault_table import write_table
from tools.mutants import sample

from tools import fault_scratch as scratch

MEMORY: Final = ROOT / "tools" / "faults.json"
RESULTS: Final = scratch.HERE / "results.json"
TIERS: Final = {
    "full": ["-m", "not evidence", "--hypothesis-profile=full"],
    "quick": ["-m", "not full and not evidence"],
}
# What is next to a compiled loop first; coverage sees no C++.
COMPILED: Final = [
    ["tests/native", "tests/contract/test_refusals.py"],
    ["tests/summaries", "tests/bayes", "tests/discriminants", "tests/kernels"],
    ["tests/neighbors", "tests/trees", "tests/decision", "tests/evaluation", "tests/records"],
    ["tests/base", "tests/modelfile", "tests/contract", "tests/parity"],
]


@dataclass
class Run:
    """What is known so far, and how tests are run."""

    tier: str
    results: dict[str, Any]
    memory: dict[str, str]

    @cached_property
    def reach(self) -> Reach:
        """Made when a fault comes that no known test catches."""
        return Reach(self.tier, TIERS[self.tier], self.results["of"])

    def save(self) -> None:
        """Write down both files; what is written is never lost by an interruption."""
        RESULTS.write_text(json.dumps(self.results, indent=1), encoding="utf-8")
        text = json.dumps(self.memory, indent=1, sort_keys=True, ensure_ascii=False)
        MEMORY.write_text(text + "\n", encoding="utf-8")

    def fails(self, tests: list[str]) -> str | None:
        """The first test that fails in the tier, of those that do not fail anyhow."""
        unsound = [
            f"--deselect={test}" if "::" in test else f"--ignore={test}"
            for test in self.results["unsound"]
        ]
        return scratch.failing_test(tests, [*TIERS[self.tier], *unsound])

    def is_sound(self, test: str) -> bool:
        """Whether a test passes without the fault, which is looked at once."""
        if test in self.results["sound"] or test == scratch.CONFTEST:
            return True
        options = [] if "::" in test else ["--collect-only"]  # it could not be imported
        sound = scratch.failing_test([test], options) is None
        self.results["sound" if sound else "unsound"].append(test)
        return sound


def stages(change: Change, run: Run) -> list[list[str]]:
    """Tests that might catch a change, the likeliest and quickest first."""
    if change.path.parts[0] == "cpp":
        return COMPILED
    tests = run.reach.tests(change)
    return [part for part in (tests[:FIRST], tests[FIRST:]) if part]


def catcher(change: Change, run: Run, known: str | None) -> str | None:
    """The test that catches a change, the one that is known first."""
    with scratch.Applied(change):
        failing = run.fails([known]) if known else None
        if not known or failing != known:  # it passes, or there is no such test any more
            tries = (run.fails(tests) for tests in stages(change, run))
            failing = next(filter(None, tries), None)
    if failing is None or run.is_sound(failing):
        return failing
    return catcher(change, run, None)


def measure(changes: list[tuple[Fault, Change]], run: Run, done: dict[str, Any]) -> None:
    """Make each fault that has no outcome yet; print and remember what comes of it."""
    for fault, change in changes:
        what = [fault.symbol, fault.text, fault.instead]
        last = done.get(fault.name, {})
        if last.get("what") != what:
            began = time.monotonic()
            test = catcher(change, run, run.memory.get(fault.name))
            outcome = "caught" if test else "missed"
            seconds = round(time.monotonic() - began, 1)
            done[fault.name] = {"what": what, "outcome": outcome, "test": test, "seconds": seconds}
            if test and done is run.results[run.tier]:
                run.memory[fault.name] = test
            run.save()
        result = done[fault.name]
        said = f"caught by {result['test']}" if result["test"] else result["outcome"]
        print(f"{fault.name}: {said} ({result['seconds']} s)", flush=True)


def started(arguments: argparse.Namespace) -> Run:
    """What an earlier run left, if it was of the same sources and tests."""
    of = scratch.fingerprint()
    fresh = {"of": of, "full": {}, "quick": {}, "sound": [], "unsound": []}
    memory: dict[str, str] = {}
    scratch.HERE.mkdir(parents=True, exist_ok=True)
    results = fresh
    if not arguments.forget:
        if MEMORY.exists():
            memory |= json.loads(MEMORY.read_text(encoding="utf-8"))
        old = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else fresh
        results = old if old["of"] == of else fresh
    return Run(arguments.tier, results, memory)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tier", choices=TIERS, default="full", help="which tests are run")
    parser.add_argument("--only", default="", help="faults whose family or name has this in it")
    parser.add_argument("--forget", action="store_true", help="forget results and catching tests")
    parser.add_argument("--mutants", type=int, default=0, help="that many random changes instead")
    parser.add_argument("--seed", type=int, default=0, help="of the random changes")
    return parser.parse_args()


def main() -> None:
    arguments = parsed()
    try:
        faults = [(fault, change_of(fault)) for fault in read_faults()]
    except PlaceError as error:
        raise SystemExit(str(error)) from None
    mutants = sample(arguments.mutants, arguments.seed) if arguments.mutants else []
    chosen = mutants or [
        one for one in faults if arguments.only in f"{one[0].family} {one[0].name}"
    ]
    if not chosen:
        raise SystemExit(f"No fault has {arguments.only!r} in its family or name.")
    run = started(arguments)
    scratch.make_scratch()
    if any(change.path.parts[0] == "cpp" for _, change in chosen):
        scratch.build_without_faults()
    name = f" mutants {arguments.mutants} of seed {arguments.seed}" if mutants else ""
    done = run.results.setdefault(f"{run.tier}{name}", {})
    quick = run.results.get(f"quick{name}", {})
    done |= {one: result for one, result in quick.items() if result["outcome"] == "caught"}
    chosen.sort(key=lambda one: (one[1].path.parts[0] == "cpp", one[0].name not in run.memory))
    try:
        measure(chosen, run, done)
    finally:  # what was measured before an interruption is in the table, too
        write_table([fault for fault, _ in faults], run.results)
    caught = sum(done[fault.name]["outcome"] == "caught" for fault, _ in chosen)
    print(f"{caught} of {len(chosen)} caught ({caught / len(chosen):.0%})")


if __name__ == "__main__":
    main()
