"""arm_root.py FOLDER: makes FOLDER/root, Debian's arm64 packages in a root of their own, if it is not there, and
FOLDER/libraries, what qemu needs of it for programs that see this machine's files. Needs root, mmdebstrap,
qemu-user-static, and the machine's apt, for where Debian's packages are; nothing is installed into the machine but, until
it is switched off, how its kernel starts programs for arm64 (binfmt_misc)."""
import os
import pathlib
import platform
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for what the tests share, also when this runs as a script

from tests import own_root  # noqa: E402

LAB = "libjpeg-dev libpng-dev libzip-dev"
ZOO = "python3-torchvision"
RELEASE = platform.freedesktop_os_release().get("VERSION_CODENAME")  # libc is then that of the cross compiler
BINFMT = pathlib.Path("/proc/sys/fs/binfmt_misc")
RULE = pathlib.Path("/usr/lib/binfmt.d/qemu-aarch64.conf")  # of qemu-user-static


def register():
    """Programs for arm64 start as any other, in other roots, too: the kernel has qemu open."""
    if os.uname().machine == "aarch64" or list(BINFMT.glob("qemu-aarch64*")):
        return
    if not (BINFMT / "register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", BINFMT], check=True)
    if list(BINFMT.glob("qemu-aarch64*")):
        return
    if not RULE.exists():
        sys.exit("%s is missing: apt-get install qemu-user-static" % RULE)
    rules = [line for line in RULE.read_text().splitlines() if line.startswith(":")]
    (BINFMT / "register").write_text(rules[0])


def make(folder):
    root, fresh = folder / "root", folder / "root.new"
    if root.exists():
        return
    if not shutil.which("mmdebstrap"):
        sys.exit("mmdebstrap is missing: apt-get install mmdebstrap")
    subprocess.run(["rm", "-rf", "--one-file-system", fresh], check=True)
    folder.mkdir(parents=True, exist_ok=True)
    packages = " ".join((own_root.BUILD, own_root.PYTHONS, LAB, ZOO))
    print("Debian's packages for arm64, in %s: 2.5 GB, ten minutes; its log is %s/root.log" % (root, folder), flush=True)
    with open(folder / "root.log", "wb") as log:
        made = subprocess.run(["mmdebstrap", "--mode=root", "--variant=minbase", "--architectures=arm64",
                               '--aptopt=Acquire::Retries "3"', '--aptopt=APT::Install-Recommends "false"',
                               "--include=" + packages, RELEASE, fresh, own_root.mirror()],
                              stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    if made.returncode:
        sys.exit("it could not be made: %s/root.log" % folder)
    (fresh / "src").mkdir()
    fresh.rename(root)


def link_libraries(folder):
    """qemu takes each path from here if it is here: so there is nothing that this machine has, too."""
    loader, libraries = "lib/ld-linux-aarch64.so.1", "lib/aarch64-linux-gnu"
    for path in (loader, libraries, "usr/" + libraries):
        link = folder / "libraries" / path
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(folder / "root" / path, link.parent))


def main():
    if os.geteuid() != 0:
        sys.exit("only root may make a root of its own: sudo make check-arm")
    register()
    folder = pathlib.Path(sys.argv[1]).resolve()
    make(folder)
    link_libraries(folder)


if __name__ == "__main__":
    main()
