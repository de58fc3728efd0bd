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
BUILD = "gcc g++ make libc6-dev pkg-config libjansson-dev libdw-dev libelf-dev libtomlplusplus-dev libncurses-dev " \
    "libmicrohttpd-dev node-d3 protobuf-c-compiler libprotobuf-c-dev zlib1g-dev check libunwind-dev"
PYTHONS = "python3 python3-dev python3-numpy python3-torch python3-jsonschema python3-yaml python3-pil git procps"
NEWER = "python3.15 python3.15-dev"  # where it is packaged
# /proc, /dev and /sys are the machine's, and seen in there only.
ENTER = 'for i in proc dev sys; do mount --rbind /$i "$0/$i" || exit; done; cd "$0" && exec chroot "$0" sh -c "cd /src && $1"'
SUITES = "tests.e2e.test_look_owners tests.e2e.test_look_holders tests.e2e.test_holders " \
    "tests.e2e.test_python_stacks tests.cli.test_look_mallocs tests.e2e.test_counts tests.e2e.test_transparent"
ZOO = "annotation_cache leaked_references small_records kept_batches healthy_lru_decode"
UNIT = ("who/blocks/test_glibc_versions", "who/ways/test_answer", "runtime/store/test_os")


def run(*command, **options):
    subprocess.run([str(part) for part in command], check=True, **options)


def mirror():
    """Where the machine's own packages of Debian are from."""
    told = subprocess.run(["apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages"],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    places = sorted({line.split()[1] for line in told.splitlines() if line.startswith("Debian ")})
    if not places:
        sys.exit("apt has no lists of Debian's packages: run apt-get update, on Debian")
    return places[0]


def make_root(folder):
    if not shutil.which("debootstrap"):
        sys.exit("debootstrap is missing: apt-get install debootstrap")
    root, fresh = folder / "root", folder / "root.new"
    if root.exists():
        return root
    shutil.rmtree(fresh, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    run("debootstrap", "--variant=minbase", "sid", fresh, mirror())
    install = ["chroot", fresh, "apt-get", "-q", "-o", "Acquire::Retries=3", "install", "-y", "--no-install-recommends"]
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    run(*install, *BUILD.split(), *PYTHONS.split(), env=environment)
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


def inside(root, command, log):
    """Runs a shell command in there. True: it went well."""
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "HOME": "/tmp", "SEEP": "/src/build/seep",
                   "SEEP_TEST_TIMEOUT": os.environ.get("SEEP_TEST_TIMEOUT", "1800")}
    with open(log, "wb") as out:
        return subprocess.run(["unshare", "--mount", "/bin/sh", "-c", ENTER, str(root), command], env=environment,
                              stdout=out, stderr=subprocess.STDOUT).returncode == 0


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
        good = inside(root, command, log)
        failed += not good
        print("%-5s %s, %.0f s%s" % ("ok" if good else "FAIL", name, time.monotonic() - began,
                                     "" if good else ": " + str(log)), flush=True)
        if i == 0 and not good:
            break
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
