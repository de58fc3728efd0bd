"""check_sid.py [FOLDER]: builds seep and runs a part of its tests in a root of its own with Debian's next release (sid):
its libc, its compiler, its CPythons. Needs root, debootstrap, and the machine's apt, for Debian's packages; nothing is
installed into the machine. The root stays in FOLDER (build/sid), and is used again; remove it for newer packages.

  SUITES="tests.e2e.test_look_owners"   other suites from outside
  ZOO="kept_batches small_arrays"          other jobs of the zoo"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for what the tests share, also when this runs as a script

from tests import own_root  # noqa: E402

NEWER = "python3.15 python3.15-dev"  # where it is packaged
SUITES = "tests.e2e.test_look_owners tests.e2e.test_look_holders tests.e2e.test_holders " \
    "tests.e2e.test_python_stacks tests.cli.test_look_mallocs tests.e2e.test_counts tests.e2e.test_transparent"
ZOO = "annotation_cache leaked_references small_records kept_batches healthy_lru_decode"
UNIT = ("who/blocks/test_glibc_versions", "who/ways/test_answer", "runtime/store/test_os")


def run(*command, **options):
    subprocess.run([str(part) for part in command], check=True, **options)


def make_root(folder):
    if not shutil.which("debootstrap"):
        sys.exit("debootstrap is missing: apt-get install debootstrap")
    root, fresh = folder / "root", folder / "root.new"
    if root.exists():
        return root
    shutil.rmtree(fresh, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    run("debootstrap", "--variant=minbase", "sid", fresh, own_root.mirror())
    install = ["chroot", fresh, "apt-get", "-q", "-o", "Acquire::Retries=3", "install", "-y", "--no-install-recommends"]
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    run(*install, *own_root.BUILD.split(), *own_root.PYTHONS.split(), env=environment)
    if subprocess.run(list(map(str, install)) + NEWER.split(), env=environment).returncode:
        print("its newest CPython is that of python3: %s cannot be had" % NEWER, flush=True)
    fresh.rename(root)
    return root


def copy_sources(root):
    """What git knows or does not ignore; what was built in there before stays."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            stdout=subprocess.PIPE, check=True).stdout
    (root / "src").mkdir(exist_ok=True)
    for old in (root / "src").iterdir():  # with files that are no more
        if old.name != "build":
            shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
    names = b"\0".join(name for name in listed.split(b"\0") if name and (ROOT / os.fsdecode(name)).is_file())
    packed = subprocess.run(["tar", "-c", "--null", "-T", "-"], cwd=ROOT, input=names, stdout=subprocess.PIPE, check=True)
    run("tar", "-x", "-C", root / "src", input=packed.stdout)


def went_well(root, command, log):
    with open(log, "wb") as out:
        return own_root.inside(root, command, out) == 0


def steps():
    jobs = "-j%d" % (os.cpu_count() or 1)
    units = " ".join("build/tests/" + unit for unit in UNIT)
    subjects = " ".join("build/subjects/" + path.stem for path in sorted((ROOT / "tests/subjects").glob("*.c")))
    yield "build", "make %s all %s %s" % (jobs, units, subjects)
    yield "unit tests", " && ".join(units.split())
    yield "layouts and stacks", "sh tests/pyframe/run.sh /usr/bin/python3.[0-9] /usr/bin/python3.[0-9][0-9]"
    for suite in os.environ.get("SUITES", SUITES).split():
        yield suite, "python3 -m unittest -b %s" % suite
    for job in os.environ.get("ZOO", ZOO).split():
        yield "zoo " + job, "python3 tests/zoo/zoo.py %s" % job


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/sid").resolve()
    if os.geteuid() != 0:
        sys.exit("only root may enter a root of its own: sudo make check-sid")
    root = make_root(folder)
    copy_sources(root)
    failed = 0
    for i, (name, command) in enumerate(steps()):
        log, began = folder / ("%02d.log" % i), time.monotonic()
        good = went_well(root, command, log)
        failed += not good
        print("%-5s %s, %.0f s%s" % ("ok" if good else "FAIL", name, time.monotonic() - began,
                                     "" if good else ": " + str(log)), flush=True)
        if i == 0 and not good:
            break
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
