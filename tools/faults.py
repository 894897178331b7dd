"""Measure what the tests catch: make one fault at a time in a copy and run the tests.

    python -m tools.faults                          the list in faults.toml
    python -m tools.faults --only tree              faults whose family or name has "tree" in it
    python -m tools.faults --mutants 120 --seed 0   a random sample that nobody chose

Run again, it goes on where it stopped, as long as sources and tests are the same. faults.json
remembers which test caught a fault, and that test is run first; `--forget` forgets both. A test
that fails without the fault too catches nothing. The table is written into faults.md.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from dataclasses import dataclass
from typing import Any, Final

from tools.fault_places import ROOT, Change, Fault, PlaceError, change_of, read_faults
from tools.fault_table import write_table
from tools.mutants import sample

from tools import fault_scratch as scratch

MEMORY: Final = ROOT / "tools" / "faults.json"
RESULTS: Final = scratch.HERE / "results.json"
TIERS: Final = {"full": [], "quick": ["-m", "quick"]}
DOORS: Final = ["tests/estimators", "tests/contract", "tests/parity"]
NATIVE: Final = ROOT / "tests" / "native"  # quick, and next to every compiled loop
# The tests of a package: its own, then those of what is built on it.
TESTS: Final = {
    "cpp": ["tests/native", "tests/learners", "tests/models", "tests/summaries", *DOORS],
    "native": ["tests/native", "tests/learners", "tests/models", "tests/summaries", *DOORS],
    "data": ["tests/data", "tests/hostile", "tests/tasks", *DOORS],
    "summaries": ["tests/summaries", *DOORS],
    "models": ["tests/models", "tests/learners", "tests/test_model_file_page.py", *DOORS],
    "engines": ["tests/engines", "tests/test_engine_only.py", *DOORS],
    "learners": ["tests/learners", *DOORS],
    "estimators": [*DOORS, "tests/test_public_names.py", "tests/tasks"],
    "views": ["tests/views", "tests/tasks/reporting"],
    "tasks": ["tests/tasks", "tests/cli", "tests/hostile"],
    "cli": ["tests/cli", "tests/hostile"],
    "errors": ["tests/contract", "tests/tasks", "tests/cli", *DOORS],
    "sortal": ["tests/test_public_names.py", "tests/cli", "tests/hostile"],
}


@dataclass
class Run:
    """What is known so far, and how tests are run."""

    tier: str
    near_only: bool
    results: dict[str, Any]
    memory: dict[str, dict[str, str]]

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


def words_of(text: str) -> set[str]:
    """The words of a dotted, underscored or written name."""
    return set(re.findall(r"[a-z]+", text.lower())) - {"test", "tests", "py", "cpp", *TESTS}


def stages(fault: Fault) -> tuple[list[str], list[str]]:
    """The package's test files that share words with the fault, most first, and the others.

    In the name of a file a word of the module or the family counts most, then one of the symbol or
    the fault, which may also be in its text. Of files that share as much, the shortest is first.
    """
    package = fault.package if fault.package in TESTS else "sortal"
    files = []
    for name in TESTS[package]:
        path = ROOT / name
        if not path.exists():
            raise SystemExit(
                f"{name} is gone. Say in tools/faults.py where the tests of {package} are."
            )
        files += [path] if path.is_file() else sorted(path.rglob("test_*.py"))
    module, _, symbol = fault.symbol.removeprefix("cpp.").rpartition(".")
    about, own = words_of(f"{fault.family} {module}"), words_of(f"{fault.name} {symbol}")
    alike = {}
    for path in files:
        words, text = words_of(path.stem), path.read_text(encoding="utf-8")
        shared = 3 * len(words & about) + 2 * len(words & own) + 9 * (path.parent == NATIVE)
        shared += 2 * sum(word in text for word in own) if shared else 0
        alike[str(path.relative_to(ROOT))] = -shared, path.stat().st_size
    order = sorted(alike, key=alike.__getitem__)
    return [name for name in order if alike[name][0]], [
        name for name in order if not alike[name][0]
    ]


def catcher(fault: Fault, change: Change, run: Run) -> tuple[str, str | None]:
    """`caught` and the test, `missed`, or `open` if only the nearest tests were to be run."""
    known = run.memory[run.tier].get(fault.name)
    near, rest = stages(fault)
    # file by file, since many take longer to be collected than one takes to fail
    tries = [*([name] for name in near), *([] if run.near_only else [rest])]
    with scratch.Applied(change) as applied:
        if not applied.compiles:
            return "does not compile", None
        failing = run.fails([known]) if known else None
        if not known or failing != known:  # it passes, or there is no such test any more
            failing = next((test for tests in tries if (test := run.fails(tests))), None)
    if failing is None:
        return ("open" if run.near_only else "missed"), None
    return ("caught", failing) if run.is_sound(failing) else catcher(fault, change, run)


def measure(changes: list[tuple[Fault, Change]], run: Run, done: dict[str, Any]) -> None:
    """Make each fault that has no outcome yet; print and remember what comes of it."""
    for fault, change in changes:
        what = [fault.symbol, fault.text, fault.instead]
        last = done.get(fault.name, {})
        settled = {"caught", "missed", "does not compile", *(["open"] if run.near_only else [])}
        if last.get("what") != what or last["outcome"] not in settled:
            began = time.monotonic()
            outcome, test = catcher(fault, change, run)
            seconds = round(time.monotonic() - began, 1)
            done[fault.name] = {"what": what, "outcome": outcome, "test": test, "seconds": seconds}
            if test and done is run.results[run.tier]:
                run.memory[run.tier][fault.name] = test
            run.save()
        result = done[fault.name]
        said = f"caught by {result['test']}" if result["test"] else result["outcome"]
        print(f"{fault.name}: {said} ({result['seconds']} s)", flush=True)


def started(arguments: argparse.Namespace) -> Run:
    """What an earlier run left, if it was of the same sources and tests."""
    of = scratch.fingerprint()
    fresh = {"of": of, "full": {}, "quick": {}, "sound": [], "unsound": []}
    memory: dict[str, dict[str, str]] = {"full": {}, "quick": {}}
    scratch.HERE.mkdir(parents=True, exist_ok=True)
    results = fresh
    if not arguments.forget:
        if MEMORY.exists():
            memory |= json.loads(MEMORY.read_text(encoding="utf-8"))
        old = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else fresh
        results = old if old["of"] == of else fresh
    return Run(arguments.tier, arguments.near, results, memory)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tier", choices=TIERS, default="full", help="which tests are run")
    parser.add_argument("--only", default="", help="faults whose family or name has this in it")
    parser.add_argument("--near", action="store_true", help="only test files named like the fault")
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
    run = started(arguments)
    scratch.make_scratch()
    if any(change.path.parts[0] == "cpp" for _, change in chosen):
        scratch.build_without_faults()
    key = f"{arguments.tier} mutants {arguments.mutants} of seed {arguments.seed}"
    done = run.results.setdefault(key, {}) if mutants else run.results[run.tier]
    measure(chosen, run, done)
    caught = sum(done[fault.name]["outcome"] == "caught" for fault, _ in chosen)
    print(f"{caught} of {len(chosen)} caught ({caught / len(chosen):.0%})")
    write_table([fault for fault, _ in faults], run.results)


if __name__ == "__main__":
    main()
