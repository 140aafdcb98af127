"""`make wheel`: builds the sdist and the wheel, compares them with the tree, and runs the wheel in a clean venv.

With real folders at the root and links in src/, several plausible configurations build an empty wheel, or one
without a folder, and report success: only the list of files tells.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("eventstore", "projections", "commands", "app")
FACADE = ROOT / "src" / "sessiontree"
SAMPLE = ROOT / "examples" / "sample-session.jsonl"


class WheelError(Exception):
    """Raised when what was built is not what the tree holds, or does not work."""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command that sees nothing of the tree but by its arguments; return what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode:
        line = " ".join(map(str, command))
        raise WheelError(f"{line}\nended with status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expected_files() -> set[str]:
    """The names that the wheel has to hold, from the tree. Links in src/ stand for the folders at the root."""
    files = {path.name: path for path in FACADE.iterdir() if not path.is_symlink()}
    files |= {str(path.relative_to(ROOT)): path for folder in FOLDERS for path in (ROOT / folder).rglob("*")}
    return {
        f"sessiontree/{name}" for name, path in files.items() if path.is_file() and "__pycache__" not in path.parts
    }


def contents(wheel: Path) -> dict[str, int]:
    """Name to checksum of the wheel's own files, without its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {item.filename: item.CRC for item in archive.infolist() if ".dist-info/" not in item.filename}


def build_wheel(source: Path, target: Path) -> Path:
    pip_wheel = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    run(*pip_wheel, "--wheel-dir", target, source, cwd=target.parent)
    [wheel] = target.glob("*.whl")
    return wheel


def check_built(work: Path) -> Path:
    """Build both ways, compare, and return the wheel that was made from the sdist, as a release is."""
    run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", work, cwd=ROOT)
    [sdist] = work.glob("*.tar.gz")
    direct = contents(build_wheel(ROOT, work / "from-tree"))
    expected = expected_files()
    if missing := sorted(expected - direct.keys()):
        raise WheelError(f"not in the wheel: {', '.join(missing)}")
    if surplus := sorted(direct.keys() - expected):
        raise WheelError(f"in the wheel, but not in the tree: {', '.join(surplus)}")
    released = build_wheel(sdist, work / "from-sdist")
    if differing := sorted(name for name, _ in contents(released).items() ^ direct.items()):
        raise WheelError(f"not the same in the wheel made from the sdist: {', '.join(differing)}")
    return released


def check_installed(wheel: Path, work: Path) -> None:
    """Install the wheel with its dependencies in a clean venv; import it and run its command from elsewhere."""
    venv.create(work / "venv", with_pip=True, symlinks=True)
    programs, elsewhere = work / "venv" / "bin", work / "elsewhere"
    elsewhere.mkdir()
    run(programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=elsewhere)
    where = run(programs / "python", "-c", "import sessiontree; print(sessiontree.__file__)", cwd=elsewhere)
    if not Path(where.strip()).is_relative_to(work / "venv"):
        raise WheelError(f"sessiontree was imported from {where}")
    command = programs / "sessiontree"
    version = wheel.name.split("-")[1]
    for arguments, expected in ((["--version"], version), (["--help"], "Usage"), (["tree", str(SAMPLE)], "[fixed]")):
        printed = run(command, *arguments, cwd=elsewhere)
        if expected not in printed:
            raise WheelError(f"sessiontree {' '.join(arguments)} printed no {expected!r}:\n{printed}")


def main() -> str:
    """Return the line that says what was found good. Raises `WheelError`."""
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory).resolve()
        for name in ("from-tree", "from-sdist"):
            (work / name).mkdir()
        wheel = check_built(work)
        check_installed(wheel, work)
        return (
            f"{wheel.name}: {len(contents(wheel))} files as in the tree, from the sdist too; installed, imported, run"
        )


if __name__ == "__main__":
    try:
        print(main())  # noqa: T201
    except WheelError as error:
        sys.exit(f"The wheel is wrong: {error}")
