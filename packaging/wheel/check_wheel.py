"""check_wheel.py WHEEL: installs the wheel offline in a fresh venv of each CPython found, uses it there, and removes
it. Prints a table: a row for each CPython, a column for each way to use it."""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

import wheel_uses
from wheel_uses import Absent, Installed, expect, output_of

HOME = pathlib.Path(__file__).resolve().parent
ROOT = HOME.parents[1]
AUDITWHEEL = ROOT / "build/wheel/venv/bin/auditwheel"
MOST_BYTES = 2_097_152
MACHINE = re.compile(r"_(x86_64|aarch64)\.whl$")
OLDEST = (3, 8)
LINKED_IN = ("elfutils", "glibc", "jansson", "libmicrohttpd", "llvm-libcxx", "ncurses",
             "node-d3", "protobuf-c", "tomlplusplus", "zlib")
COLUMNS = ("install", "run", "report", "view", "top", "look", "wake", "pytest", "uninstall", "places")
INSTALL = ("-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-deps")


def pythons():
    """One of each version that can make a venv, as (version, path)."""
    found = {}
    home = pathlib.Path.home()
    for folder, names in ((home / ".pyenv/versions", "*/bin/python3"), (ROOT / "build", "python-*/bin/python3"),
                          (home, "*conda*/bin/python3"), (pathlib.Path("/opt"), "*conda*/bin/python3"),
                          (pathlib.Path("/usr/local/bin"), "python3*"), (pathlib.Path("/usr/bin"), "python3*")):
        for path in sorted(folder.glob(names)):
            if re.fullmatch(r"python3(\.\d+)?", path.name):
                said = subprocess.run([path, "-c", "import sys, ensurepip; print(*sys.version_info[:3])"],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                version = tuple(map(int, said.stdout.split())) if said.returncode == 0 else (0,)
                if version[:2] >= OLDEST:
                    found.setdefault(version, path)
    return sorted(found.items())


def check_file(wheel):
    """What can be said of the wheel without installing it."""
    size = wheel.stat().st_size
    expect(size <= MOST_BYTES, "%s: %d bytes, above %d" % (wheel.name, size, MOST_BYTES))
    said = " ".join(output_of(AUDITWHEEL, "show", wheel).split())
    machine = MACHINE.search(wheel.name).group(1)
    tag = re.search(r'consistent with the following platform tag: "(manylinux_2_(\d+)_%s)"' % machine, said)
    expect(tag and int(tag.group(2)) <= 28, said)
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        metadata = content.read(next(n for n in names if n.endswith("/METADATA"))).decode()
    missing = [name for name in ("LICENSE", *LINKED_IN)
               if not any(re.search(r"/licenses/(.*/)?%s$" % name, n) for n in names)]
    expect(not missing, "no licence of %s" % ", ".join(missing))
    expect("\nRequires-Dist:" not in metadata, "it depends on other packages")
    print("%s: %d bytes, %s by auditwheel, %d files" % (wheel.name, size, tag.group(1), len(names)))


def version_ms(seep):
    """The median of 50 starts of `seep --version`, beside that of /bin/true, which any start costs here."""
    def median(*command):
        times = []
        for _ in range(50):
            begin = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            times.append(time.perf_counter() - begin)
        return statistics.median(times) * 1000
    return median(seep, "--version"), median("/bin/true")


class Row:
    """One CPython's: the checks, in their order. A check that fails does not keep the others from being made."""

    def __init__(self, version, python, wheel, scratch):
        self.version, self.wheel, self.problems, self.times = version, wheel, [], {}
        self.installed = Installed(python, scratch / "venv", scratch)

    def files(self):
        """What is in the venv, but what Python compiles of other packages."""
        venv = self.installed.venv
        names = (str(path.relative_to(venv)) for path in venv.rglob("*"))
        return {name for name in names if "__pycache__" not in name or "seep" in name}

    def check_install(self, it):
        output_of(it.base, "-m", "venv", it.venv)
        # The one thing that is not in the wheel: where it cannot be had, the column says so.
        subprocess.run([it.python, "-m", "pip", "install", "-q", "--retries", "0", "pytest"], env=FULL_ENVIRONMENT,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.before = self.files()
        self.begin = time.perf_counter()
        output_of(it.python, *INSTALL, self.wheel)
        self.times["install"] = time.perf_counter() - self.begin

    def check_run(self, it):
        wheel_uses.check_run(it)
        self.times["found"] = time.perf_counter() - self.begin
        self.times["version"], self.times["bare"] = version_ms(it.seep)

    def check_uninstall(self, it):
        output_of(it.python, "-m", "pip", "uninstall", "-y", "seep-profiler")
        left = self.files() - self.before
        expect(not left, "uninstall leaves " + ", ".join(sorted(left)))

    def check_places(self, it):
        wheel_uses.check_places(it, (*INSTALL, self.wheel))

    def cell(self, column):
        name = "check_" + column
        try:
            (getattr(self, name, None) or getattr(wheel_uses, name))(self.installed)
            return "ok"
        except Absent as absent:
            self.problems.append("%s: %s" % (column, absent))
            return "—"
        except (AssertionError, OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
            self.problems.append("FAIL %s: %s" % (column, error))
            return "FAIL"

    def cells(self):
        """The install column first: nothing else can be tried without it."""
        first = self.cell(COLUMNS[0])
        made = [first] + [self.cell(column) if first == "ok" else "FAIL" for column in COLUMNS[1:]]
        form = ("%(install).1f", "%(found).1f", "%(version).1f (%(bare).1f)")
        return ["%d.%d.%d" % self.version, *made, *(text % self.times if "bare" in self.times else "" for text in form)]


def print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


FULL_ENVIRONMENT = dict(os.environ)


def main():
    wheel = pathlib.Path(sys.argv[1]).resolve()
    for name in [name for name in os.environ if name.startswith(("PIP_", "PYTHON", "SEEP", "LD_PRELOAD"))]:
        del os.environ[name]
    try:
        check_file(wheel)
        found = pythons()
        expect(found, "no CPython from 3.8 on was found")
    except AssertionError as error:
        sys.exit("wheel-check: %s" % error)
    print()
    print_row(["CPython", *COLUMNS, "installed after s", "found after s", "--version ms (/bin/true)"])
    print_row(["---"] * (len(COLUMNS) + 4))
    problems = []
    for version, python in found:
        with tempfile.TemporaryDirectory() as scratch:
            row = Row(version, python, wheel, pathlib.Path(scratch))
            print_row(row.cells())
            problems += ["CPython %d.%d.%d: %s" % (*version, problem) for problem in row.problems]
    print("\n".join(["", *problems]))
    sys.exit(1 if any(": FAIL " in problem for problem in problems) else 0)


if __name__ == "__main__":
    main()
