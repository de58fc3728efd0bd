"""check_oldest.py FOLDER WHEEL: uses the wheel where libc is Debian 11's (glibc 2.31) and Python is Debian 11's, in a root
of its own below FOLDER. Needs the machine's apt and its keys, for Debian's packages; nothing is installed into the
machine."""
import os
import pathlib
import shutil
import subprocess
import sys

from wheel_uses import JOB, LINE, expect, output_of

RELEASE, LIBC = "bullseye", "glibc 2.31"
# What a Python without its package manager needs, and what an `import ctypes` needs.
PACKAGES = ("libc6", "libgcc-s1", "libcrypt1", "zlib1g", "libexpat1", "libffi7", "libpython3.9-minimal",
            "libpython3.9-stdlib", "python3.9-minimal")
PYTHON = "/usr/bin/python3.9"
WHERE = "/opt/seep"
# /proc and /dev are the machine's, and seen in there only.
ENTER = 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"'


def own_apt(at, *arguments, **options):
    """apt with lists and settings of its own."""
    settings = {"Dir::Etc::SourceList": at / "sources.list", "Dir::Etc::SourceParts": "-",
                "Dir::State::Lists": at / "lists", "Dir::State::status": "/dev/null", "Dir::Cache": at,
                "Acquire::Retries": 3, "Acquire::Languages": "none", "APT::Sandbox::User": ""}
    return output_of("apt-get", "-q", *("-o%s=%s" % setting for setting in settings.items()), *arguments, **options)


def unpack(at, root):
    """Debian's packages, from where the machine's own are from."""
    for folder in ("lists/partial", "archives/partial", "debs"):
        (at / folder).mkdir(parents=True, exist_ok=True)
    places = output_of("apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages")
    places = sorted({line.split()[1] for line in places.splitlines() if line.startswith("Debian ")})
    expect(places, "apt has no lists of Debian's packages: run apt-get update, on Debian")
    (at / "sources.list").write_text("deb %s %s main\n" % (places[0], RELEASE))
    own_apt(at, "update")
    own_apt(at, "download", *PACKAGES, cwd=at / "debs")
    fresh = at / "root.new"
    shutil.rmtree(fresh, ignore_errors=True)
    for deb in (at / "debs").glob("*.deb"):
        output_of("dpkg-deb", "-x", deb, fresh)
    for folder in ("proc", "dev", "tmp", "opt"):
        (fresh / folder).mkdir(exist_ok=True)
    fresh.rename(root)


def in_root(root, *command):
    """Runs a command in there; not as root, in a user namespace of its own."""
    own = () if os.geteuid() == 0 else ("--map-root-user",)
    env = {"PATH": "%s/bin:/usr/bin:/bin:/usr/sbin:/sbin" % WHERE, "PYTHONPATH": WHERE, "HOME": "/tmp", "LC_ALL": "C.UTF-8"}
    return output_of("unshare", *own, "--mount", "/bin/sh", "-c", ENTER, root, *command, env=dict(os.environ, **env))


def main():
    at, wheel = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    root = at / "root"
    try:
        if not root.exists():
            unpack(at, root)
        shutil.rmtree(root / WHERE[1:], ignore_errors=True)
        output_of(sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", root / WHERE[1:],
                  wheel)
        (root / "tmp/train.py").write_text(JOB)
        shutil.rmtree(root / "tmp/run.d", ignore_errors=True)
        said = in_root(root, PYTHON, "-c", "import os; print(os.confstr('CS_GNU_LIBC_VERSION'))").strip()
        expect(said == LIBC, "it is not %s there but %s" % (LIBC, said))
        versions = [in_root(root, program, "--version").strip() for program in (PYTHON, "seep")]
        print(", ".join([said, *versions]))
        said = in_root(root, "seep", "run", "-o", "/tmp/run.d", "--", PYTHON, "/tmp/train.py")
        expect("recorded 300" in said and "unbounded-growth  train.py:%d" % LINE in said.replace("/tmp/", ""), said)
        print("ok    seep run finds the line")
        said = in_root(root, "seep", "top", "--once", "/tmp/run.d")
        expect("train.py:%d" % LINE in said, "seep top does not show the line:\n" + said)
        print("ok    seep top shows it")
        in_root(root, "seep", "view", "/tmp/run.d", "-o", "/tmp/page.html")
        expect("unbounded-growth" in (root / "tmp/page.html").read_text(), "the page does not have the finding")
        print("ok    seep view shows it")
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        sys.exit("wheel-oldest: %s" % error)


if __name__ == "__main__":
    main()
