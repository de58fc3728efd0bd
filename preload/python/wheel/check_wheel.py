"""check_wheel.py WHEEL: installs the wheel offline in a fresh venv of each CPython found, uses it there, and removes it."""
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

HOME = pathlib.Path(__file__).resolve().parent
AUDITWHEEL = HOME.parents[2] / "build/wheel/venv/bin/auditwheel"
MOST_BYTES = 2_000_000
OLDEST = (3, 8)
# A job that keeps 20 KiB a step, and, told so, waits to be looked at.
JOB = """
import sys, time, seep
kept = []
def train_step():
    kept.append(bytearray(20480))
for _ in range(300):
    train_step()
    seep.step()
print("recorded" if seep.active() else "alone", len(kept), flush=True)
if "wait" in sys.argv:
    time.sleep(600)
"""
LINKED_IN = ("elfutils", "glibc", "jansson", "libmicrohttpd", "llvm-libcxx", "ncurses",
             "node-d3", "protobuf-c", "tomlplusplus", "zlib")


def output_of(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, **options)
    if done.returncode:
        raise AssertionError("%s: exit %d\n%s" % (" ".join(map(str, command)), done.returncode, done.stdout))
    return done.stdout


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def pythons():
    """The newest of each version that can make a venv, as (version, path)."""
    folders = [pathlib.Path.home() / ".pyenv/versions", pathlib.Path("/usr")]
    found = {}
    for path in [*folders[0].glob("*/bin/python3"), folders[1] / "bin/python3"]:
        said = subprocess.run([path, "-c", "import sys, ensurepip; print(*sys.version_info[:3])"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        if said.returncode == 0:
            version = tuple(map(int, said.stdout.split()))
            if version[:2] >= OLDEST:
                found.setdefault(version, path)
    return sorted(found.items())


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts}


def check_file(wheel):
    """What can be said of the wheel without installing it."""
    size = wheel.stat().st_size
    expect(size <= MOST_BYTES, "%s: %d bytes, above %d" % (wheel.name, size, MOST_BYTES))
    said = " ".join(output_of(AUDITWHEEL, "show", wheel).split())
    tag = re.search(r'consistent with the following platform tag: "(manylinux_2_(\d+)_x86_64)"', said)
    expect(tag and int(tag.group(2)) <= 28, said)
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        metadata = content.read(next(n for n in names if n.endswith("/METADATA"))).decode()
    missing = [name for name in ("LICENSE", *LINKED_IN) if not any(re.search(r"/licenses/(.*/)?%s$" % name, n) for n in names)]
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


def check_look(seep, python, job):
    """`seep look` at a job that runs without seep."""
    running = subprocess.Popen([python, job, "wait"], stdout=subprocess.PIPE, text=True)
    try:
        expect(running.stdout.readline() == "alone 300\n", "the job alone does not say that it is alone")
        look = json.loads(output_of(seep, "look", running.pid, "--format", "json"))
        expect("kept" in json.dumps(look), "seep look does not name the list `kept`")
    finally:
        running.send_signal(signal.SIGKILL)
        running.communicate()


def check_uses(venv, scratch):
    """run, report, view and look from the venv's own command."""
    seep, python, job, folder, page = (venv / "bin/seep", venv / "bin/python", scratch / "train.py", scratch / "run.d",
                                       scratch / "page.html")
    job.write_text(JOB)
    expect(re.fullmatch(r"seep \d+\.\d+\.\d+\n", output_of(seep, "--version")), "seep --version")
    said = output_of(seep, "run", "-o", folder, "--", python, job)
    expect("recorded 300" in said, "the job was not recorded:\n" + said)
    findings = json.loads(output_of(seep, "report", folder, "--format", "json"))["findings"]
    expect(any(finding["pattern"] == "unbounded-growth" for finding in findings), "the leak was not found:\n" + said)
    output_of(seep, "view", folder, "-o", page)
    expect("unbounded-growth" in page.read_text(), "the page does not have the finding")
    check_look(seep, python, job)


def check_elsewhere(pip, seep_options, scratch, python):
    """The command finds its library wherever pip puts them."""
    for option in ("--target", "--prefix"):
        folder = scratch / option.strip("-")
        output_of(*pip, "install", *seep_options, option, folder)
        said = output_of(folder / "bin/seep", "run", "-o", folder / "run.d", "--", python, scratch / "train.py")
        expect("recorded 300" in said, "%s: the job was not recorded:\n%s" % (option, said))


def check_python(python, wheel):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        venv = scratch / "venv"
        output_of(python, "-m", "venv", venv)
        pip = (venv / "bin/python", "-m", "pip", "--disable-pip-version-check")
        before = files_below(venv)
        begin = time.perf_counter()
        output_of(*pip, "install", "--no-index", "--no-deps", wheel)
        installed = time.perf_counter() - begin
        check_uses(venv, scratch)
        found = time.perf_counter() - begin
        ours, bare = version_ms(venv / "bin/seep")
        output_of(*pip, "uninstall", "-y", "seep-profiler")
        left = files_below(venv) - before
        expect(not left, "uninstall leaves " + ", ".join(sorted(left)))
        check_elsewhere(pip, ("--no-index", "--no-deps", wheel), scratch, venv / "bin/python")
        return "install %.1f s, all of it %.1f s; --version %.2f ms (/bin/true %.2f ms)" % (installed, found, ours, bare)


def main():
    wheel = pathlib.Path(sys.argv[1]).resolve()
    environment = {name for name in os.environ if name.startswith(("PIP_", "PYTHON", "SEEP", "LD_PRELOAD"))}
    for name in environment:
        del os.environ[name]
    failed = 0
    try:
        check_file(wheel)
        found = pythons()
        expect(found, "no CPython from 3.8 on was found")
    except AssertionError as error:
        sys.exit("wheel-check: %s" % error)
    for version, python in found:
        name = "CPython %d.%d.%d" % version
        try:
            print("ok    %s: %s" % (name, check_python(python, wheel)), flush=True)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            failed += 1
            print("FAIL  %s: %s" % (name, error), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
