"""What the suites of the structure share: the repository's sources and their #include lines."""
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
HALVES = ("libprof", "preload", "viewer", "kernels")
C_SOURCES = (".c", ".h", ".cc", ".cu", ".cuh")

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def files_below(*folders, endings):
    """Paths from the root, sorted; what is built or hidden is left out."""
    found = []
    for folder in folders:
        for path, folders_in, names in os.walk(ROOT / folder):
            folders_in[:] = [f for f in folders_in if not f.startswith((".", "__")) and f != "build"]
            found += [os.path.relpath(os.path.join(path, n), ROOT) for n in names if n.endswith(endings)]
    return sorted(found)


def lines_of(file):
    return (ROOT / file).read_text(encoding="utf-8").splitlines()


def includes():
    """(file, line number, included file) of every #include "…" in the four halves."""
    for file in files_below(*HALVES, endings=C_SOURCES + (".def",)):
        for number, line in enumerate(lines_of(file), 1):
            match = INCLUDE.match(line)
            if match:
                yield file, number, match.group(1)
