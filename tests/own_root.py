"""Roots of other systems, below build/: where Debian's packages are from, and commands that run in such a root."""
import os
import shutil
import subprocess
import sys

# What seep is built of, and what its tests run.
BUILD = "gcc g++ make libc6-dev pkg-config libjansson-dev libdw-dev libelf-dev libtomlplusplus-dev libncurses-dev " \
    "libmicrohttpd-dev node-d3 protobuf-c-compiler libprotobuf-c-dev zlib1g-dev check libunwind-dev"
PYTHONS = "python3 python3-dev python3-numpy python3-torch python3-jsonschema python3-yaml python3-pil git procps"
# /proc, /dev and /sys are the machine's, and seen in there only. So is what is put at a place in there: $2, FROM=TO lines.
ENTER = '''
for i in proc dev sys; do mount --rbind /$i "$0/$i" || exit; done
echo "$2" | while IFS== read -r from to; do [ -z "$from" ] || mount --bind "$from" "$0/$to" || exit; done || exit
cd "$0" && exec chroot "$0" sh -c "cd /src && $1"
'''


def mirror():
    """Where the machine's own packages of Debian are from."""
    told = subprocess.run(["apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages"],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    places = sorted({line.split()[1] for line in told.splitlines() if line.startswith("Debian ")})
    if not places:
        sys.exit("apt has no lists of Debian's packages: run apt-get update, on Debian")
    return places[0]


def make(folder, what, release, architectures, packages):
    """Makes FOLDER/root of Debian's packages, if it is not there; `what`: for people, with its size and time."""
    root, fresh = folder / "root", folder / "root.new"
    if root.exists():
        return
    if not shutil.which("mmdebstrap"):
        sys.exit("mmdebstrap is missing: apt-get install mmdebstrap")
    subprocess.run(["rm", "-rf", "--one-file-system", fresh], check=True)
    folder.mkdir(parents=True, exist_ok=True)
    print("%s; its log is %s/root.log" % (what, folder), flush=True)
    with open(folder / "root.log", "wb") as log:
        made = subprocess.run(["mmdebstrap", "--mode=root", "--variant=minbase", "--architectures=" + architectures,
                               '--aptopt=Acquire::Retries "3"', '--aptopt=APT::Install-Recommends "false"',
                               "--include=" + " ".join(packages), release, fresh, mirror()],
                              stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    if made.returncode:
        sys.exit("it could not be made: %s/root.log" % folder)
    (fresh / "src").mkdir()
    fresh.rename(root)


def inside(root, command, out, put=(), **variables):
    """Runs a shell command in there, in /src; `put`: (from, to) of folders that are seen in there. Its status."""
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "HOME": "/tmp", "SEEP": "/src/build/seep",
                   "SEEP_TEST_TIMEOUT": os.environ.get("SEEP_TEST_TIMEOUT", "1800"), **variables}
    places = "\n".join("%s=%s" % place for place in put)
    return subprocess.run(["unshare", "--mount", "/bin/sh", "-c", ENTER, str(root), command, places], env=environment,
                          stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT).returncode
