"""A copy of the project in which one fault at a time is made and tested."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tools.fault_places import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.fault_places import Change

HERE: Final = ROOT / ".build" / "faults"
FOLDER: Final = HERE / "scratch"
COUNTED: Final = {"src", "cpp", "tests", "docs", "CMakeLists.txt", "pyproject.toml"}
BUILD: Final = HERE / "cmake"
BUILT: Final = HERE / "cmake_without_faults"
SITES: Final = [Path(path) for path in sys.path if path.endswith("site-packages")]
PYTHON: Final = FOLDER / ".venv" / "bin" / "python"
NOTE: Final = HERE / "running"
SAID: Final = HERE / "said"
ANY_TEST: Final = "tests/native/test_terms.py"  # must pass without a fault
CONFTEST: Final = "conftest.py"  # what fails where no test is reached
NOTHING_SELECTED: Final = 5  # what pytest returns


def project_files() -> list[Path]:
    """What a commit of the folder as it is now would hold."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    return [Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def fingerprint() -> str:
    """A hash of everything that decides whether a fault is caught."""
    digest = hashlib.sha256()
    for path in project_files():
        own = path.parts[:2] == ("tests", "tools")  # of these tools, which no fault is in
        if path.parts[0] in COUNTED and not own:
            digest.update(str(path).encode() + b"\0" + (ROOT / path).read_bytes())
    return digest.hexdigest()


def copy_project() -> None:
    """Make the copy equal to the project; equal files keep their time, so that builds are quick."""
    files = project_files()
    for path in files:
        old, new = ROOT / path, FOLDER / path
        if not new.is_file() or new.read_bytes() != old.read_bytes():
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(old, new)
    kept = {FOLDER / path for path in files}
    for folder in ("src", "cpp", "tests"):
        for path in (FOLDER / folder).rglob("*"):
            if path.suffix in {".py", ".cpp", ".hpp"} and path not in kept:
                path.unlink()


def make_venv() -> None:
    """Packages are those of the Python that runs this; sortal is that of the copy."""
    if not PYTHON.exists():
        venv.create(FOLDER / ".venv", with_pip=False, symlinks=True)
    site = next((FOLDER / ".venv").glob("lib/python*/site-packages"))
    lines = [FOLDER / "src", *SITES]
    (site / "borrowed.pth").write_text("\n".join(map(str, lines)) + "\n", encoding="utf-8")


def installed_core() -> Path:
    """The compiled core without faults."""
    spec = find_spec("sortal.native._core")
    if spec is None or spec.origin is None:
        raise SystemExit("The compiled core is not installed. Run `make demo` first.")
    return Path(spec.origin)


def use_core(path: Path) -> None:
    """Put a compiled core into the copy."""
    for old in (FOLDER / "src" / "sortal" / "native").glob("_core*.so"):
        old.unlink()
    shutil.copy(path, FOLDER / "src" / "sortal" / "native" / path.name)


def make_scratch() -> None:
    """The copy, its Python and a core without faults."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    copy_project()
    make_venv()
    use_core(installed_core())
    if failing_test([ANY_TEST], []):
        raise SystemExit(f"Tests do not run in the copy:\n{SAID.read_text(encoding='utf-8')}")


def tool(name: str) -> str:
    """A program that was installed beside a package, or is on the path."""
    folders = [str(site.parents[2] / "bin") for site in SITES]
    found = shutil.which(name, path=os.pathsep.join([*folders, os.environ["PATH"]]))
    if found is None:
        raise SystemExit(f"{name} is not installed. Run `make demo` first.")
    return found


def compile_core() -> bool:
    """Build the copy's core; whether the compiler takes it."""
    if not (BUILD / "build.ninja").exists():
        settings = {
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_MAKE_PROGRAM": tool("ninja"),
            "Python_EXECUTABLE": str(PYTHON),
            "SKBUILD": "2",
        }
        options = [f"-D{name}={value}" for name, value in settings.items()]
        command = [tool("cmake"), "-S", str(FOLDER), "-B", str(BUILD), "-G", "Ninja", *options]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # noqa: S603
    command = [tool("ninja"), "-C", str(BUILD)]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0  # noqa: S603


def build_without_faults() -> None:
    """Build once and keep the folder: each fault then compiles no more than the files it is in."""
    if not compile_core():
        raise SystemExit("The core does not compile without a fault. Mend that first.")
    shutil.rmtree(BUILT, ignore_errors=True)
    shutil.copytree(BUILD, BUILT)


class Applied:
    """A change, for as long as the block runs."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._path = FOLDER / change.path

    def __enter__(self) -> None:
        self._before, self._times = self._path.read_bytes(), self._path.stat()
        self._path.write_text(self._change.text, encoding="utf-8")
        if self._change.path.parts[0] == "cpp":
            if not compile_core():
                raise SystemExit(f"A fault in {self._change.path} does not compile. Mend it.")
            use_core(next(BUILD.glob("_core*.so")))

    def __exit__(self, *_: object) -> None:
        self._path.write_bytes(self._before)
        os.utime(self._path, ns=(self._times.st_atime_ns, self._times.st_mtime_ns))
        if self._change.path.parts[0] == "cpp":
            use_core(installed_core())
            shutil.copytree(BUILT, BUILD, dirs_exist_ok=True)


def run_under_coverage(options: list[str], notes: Path, times: Path) -> None:
    """All tests of a tier, in two processes; which fail does not matter here."""
    environment = {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "COVERAGE_FILE": str(notes),
        "FAULT_TIMES": str(times),
    }
    command = [str(PYTHON), "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "--tb=no"]
    command += ["-p", "no:cacheprovider", "-p", "tools.fault_watch", *options]
    # lines, not branches: the notes are a third as large
    command += ["--cov=sortal", f"--cov-config={os.devnull}", "--cov-context=test", "--cov-report="]
    subprocess.run(command, cwd=FOLDER, env=environment, stdout=subprocess.DEVNULL, check=False)  # noqa: S603


@cache
def server() -> subprocess.Popen[str]:
    """A Python of the copy that runs tests; it ends with this process, whose pipe it reads."""
    environment = {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "MPLBACKEND": "agg",
        "SCIPY_ARRAY_API": "1",  # as tests/conftest.py sets it before scipy is imported
        "FAULT_NOTE": str(NOTE),
        "FAULT_SAID": str(SAID),
    }
    return subprocess.Popen(  # noqa: S603
        [str(PYTHON), "-m", "tools.fault_server"],
        cwd=FOLDER,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def failing_test(paths: Iterable[str], options: Iterable[str]) -> str | None:
    """The first test that fails, crashes or does not end; None if all pass."""
    shutil.rmtree(FOLDER / ".hypothesis", ignore_errors=True)  # examples that other faults left
    NOTE.write_text(CONFTEST, encoding="utf-8")
    arguments = ["-x", "-q", "--no-header", "--tb=no", "-n", "0", "-p", "tools.fault_watch"]
    arguments += ["-p", "no:cacheprovider", *options, *paths]
    running = server()
    assert running.stdin is not None  # noqa: S101
    assert running.stdout is not None  # noqa: S101
    running.stdin.write(json.dumps(arguments) + "\n")
    running.stdin.flush()
    code = int(running.stdout.readline())
    return None if code in {0, NOTHING_SELECTED} else NOTE.read_text(encoding="utf-8")
