"""Kernels that Debian has as programs: gVisor (runsc), and Linux as a program (User-Mode Linux), which has cgroups of
version 2 of its own. A script sees the files of this machine in both; what gVisor writes is lost with it."""
import os
import shutil
import subprocess
import tempfile

# "do" makes a container of this machine's files; ptrace needs neither KVM nor a kernel that is new.
GVISOR = ("runsc", "--platform=ptrace", "--network=none", "--ignore-cgroups", "do")
UML = "linux.uml"
# The first program of a User-Mode Linux. It has no power to be switched off but by the kernel.
INIT = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TMPDIR=/run
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t tmpfs tmpfs /run; mount -t cgroup2 none /sys/fs/cgroup
cd "%s" && %s > "%s" 2>&1 < /dev/null
echo o > /proc/sysrq-trigger
while :; do sleep 1; done
"""


def why_no_gvisor():
    """None, or why it cannot be used."""
    if not shutil.which("runsc"):
        return "there is no runsc: apt-get install --no-install-recommends runsc"
    return None if in_gvisor("true")[0] == 0 else "runsc starts no container here"


def why_no_uml():
    if not shutil.which(UML):
        return "there is no linux.uml: apt-get install --no-install-recommends user-mode-linux"
    return None if os.geteuid() == 0 else "its files are this machine's, and its first program needs root"


def in_gvisor(command, timeout=120):
    """Runs a line of the shell there, in this folder. (status, output)"""
    done = subprocess.run([*GVISOR, "/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=timeout)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def in_uml(command, timeout=120, mib=1024):
    """The same in a Linux with `mib` of memory, whose status is not known. (None, output)"""
    with tempfile.TemporaryDirectory(prefix="seep-uml-") as folder:
        init, out = os.path.join(folder, "init"), os.path.join(folder, "out")
        with open(init, "w") as f:
            f.write(INIT % (os.getcwd(), command, out))
        os.chmod(init, 0o700)
        subprocess.run([UML, "mem=%dM" % mib, "rootfstype=hostfs", "rootflags=/", "rw", "init=" + init, "con=null",
                        "con0=null,null", "quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=timeout, check=False)
        with open(out, errors="replace") as f:
            return None, f.read()
