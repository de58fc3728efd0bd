"""check_debians.py FOLDER WHEEL: uses the wheel with the libc and the Python of other releases of Debian, the oldest and
the newest to be had, each in a root of its own below FOLDER. Needs the machine's apt and its keys, for Debian's
packages; nothing is installed into the machine."""
import os
import pathlib
import shutil
import subprocess
import sys

from wheel_uses import JOB, LINE, expect, output_of

# What a Python without its package manager needs, and what an `import ctypes` needs.
PACKAGES = ("libc6 libgcc-s1 libcrypt1 zlib1g libexpat1 libffi%d libpython3.%d-minimal libpython3.%d-stdlib "
            "python3.%d-minimal")
RELEASES = (("bullseye", 9, 7), ("sid", 14, 8))  # with the versions of Python and of libffi
WHERE = "/opt/seep"
# /proc and /dev are the machine's, and seen in there only.
ENTER = 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"'
LOOK = """
import subprocess, sys
job = subprocess.Popen([sys.executable, "/tmp/train.py", "wait"], stdout=subprocess.PIPE)
job.stdout.readline()
try:
    sys.exit(subprocess.run(["seep", "look", str(job.pid)]).returncode)
finally:
    job.kill()
"""


def own_apt(at, *arguments, **options):
    """apt with lists and settings of its own."""
    settings = {"Dir::Etc::SourceList": at / "sources.list", "Dir::Etc::SourceParts": "-",
                "Dir::State::Lists": at / "lists", "Dir::State::status": "/dev/null", "Dir::Cache": at,
                "Acquire::Retries": 3, "Acquire::Languages": "none", "APT::Sandbox::User": ""}
    return output_of("apt-get", "-q", *("-o%s=%s" % setting for setting in settings.items()), *arguments, **options)


def unpack(at, release, packages, root):
    """Debian's packages, from where the machine's own are from."""
    shutil.rmtree(at / "debs", ignore_errors=True)
    for folder in ("lists/partial", "archives/partial", "debs"):
        (at / folder).mkdir(parents=True, exist_ok=True)
    places = output_of("apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages")
    places = sorted({line.split()[1] for line in places.splitlines() if line.startswith("Debian ")})
    expect(places, "apt has no lists of Debian's packages: run apt-get update, on Debian")
    (at / "sources.list").write_text("deb %s %s main\n" % (places[0], release))
    own_apt(at, "update")
    own_apt(at, "download", *packages.split(), cwd=at / "debs")
    fresh = at / "root.new"
    shutil.rmtree(fresh, ignore_errors=True)
    for folder in ("lib", "lib64"):  # links, as they are in releases of today
        (fresh / "usr" / folder).mkdir(parents=True)
        (fresh / folder).symlink_to("usr/" + folder)
    for deb in (at / "debs").glob("*.deb"):
        content = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
        output_of("tar", "-x", "--keep-directory-symlink", "-C", fresh, stdin=content.stdout)
    for folder in ("proc", "dev", "tmp", "opt"):
        (fresh / folder).mkdir(exist_ok=True)
    fresh.rename(root)


def in_root(root, *command):
    """Runs a command in there; not as root, in a user namespace of its own."""
    own = () if os.geteuid() == 0 else ("--map-root-user",)
    env = {"PATH": "%s/bin:/usr/bin:/bin:/usr/sbin:/sbin" % WHERE, "PYTHONPATH": WHERE, "HOME": "/tmp",
           "LC_ALL": "C.UTF-8"}
    return output_of("unshare", *own, "--mount", "/bin/sh", "-c", ENTER, root, *command, env=dict(os.environ, **env))


def check_uses(root, python):
    """The command, the library in the job, and the reader of the interpreter's memory."""
    (root / "tmp/train.py").write_text(JOB)
    shutil.rmtree(root / "tmp/run.d", ignore_errors=True)
    said = in_root(root, "seep", "run", "-o", "/tmp/run.d", "--", python, "/tmp/train.py")
    expect("recorded 300" in said and "unbounded-growth  /tmp/train.py:%d" % LINE in said, "seep run:\n" + said)
    said = in_root(root, "seep", "top", "--once", "/tmp/run.d")
    expect("train.py:%d" % LINE in said, "seep top does not show the line:\n" + said)
    in_root(root, "seep", "view", "/tmp/run.d", "-o", "/tmp/page.html")
    expect("unbounded-growth" in (root / "tmp/page.html").read_text(), "the page does not have the finding")
    said = in_root(root, python, "-c", LOOK)
    expect("kept" in said, "seep look does not name the list `kept`:\n" + said)


def check_release(at, release, minor, ffi, wheel):
    root, python = at / "root", "/usr/bin/python3.%d" % minor
    if not root.exists():
        unpack(at, release, PACKAGES % (ffi, minor, minor, minor), root)
    shutil.rmtree(root / WHERE[1:], ignore_errors=True)
    output_of(sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", root / WHERE[1:],
              wheel)
    libc = in_root(root, python, "-c", "import os; print(os.confstr('CS_GNU_LIBC_VERSION'))").strip()
    version = in_root(root, python, "--version").strip()
    check_uses(root, python)
    print("ok    Debian %s, %s, %s: run, top, view, look" % (release, libc, version), flush=True)


def main():
    at, wheel = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    for name in [name for name in os.environ if name.startswith(("PYTHON", "SEEP", "LD_PRELOAD"))]:
        del os.environ[name]
    failed = 0
    for release, minor, ffi in RELEASES:
        try:
            check_release(at / release, release, minor, ffi, wheel)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            print("FAIL  Debian %s: %s" % (release, error), flush=True)
            failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
