"""The library of the kernels, as `make install` leaves it, for the suites that use it like anybody."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SEEP", ROOT / "build/seep")).resolve().parent
LIBRARY = BUILD / "libseep-kernels.so.0"
CC = os.environ.get("CC", "gcc").split()
CXX = os.environ.get("CXX", "g++").split()


def output_of(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600, **options)
    assert done.returncode == 0, "%s: exit %d\n%s" % (" ".join(map(str, command)), done.returncode, done.stdout)
    return done.stdout


def install(prefix, destdir=""):
    """What is built is installed as it is: nothing is made, whatever flags it was made with."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DESTDIR", "PREFIX")}
    output_of("make", "-s", "-o", "lab", "install-kernels", "BUILD=%s" % BUILD, "PREFIX=%s" % prefix,
              "DESTDIR=%s" % destdir, cwd=ROOT, env=env)


@unittest.skipUnless(shutil.which("pkg-config") and shutil.which(CC[0]), "no compiler, or no pkg-config")
class InstalledCase(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        assert LIBRARY.exists(), "%s is missing: run make first" % LIBRARY
        cls._temporary = tempfile.TemporaryDirectory(prefix="seep-kernels-")
        cls.addClassCleanup(cls._temporary.cleanup)
        cls.prefix = pathlib.Path(cls._temporary.name, "prefix")
        cls.work = pathlib.Path(cls._temporary.name, "work")
        cls.work.mkdir()
        install(cls.prefix)
        paths = {"PKG_CONFIG_PATH": "lib/pkgconfig", "LD_LIBRARY_PATH": "lib"}
        cls.env = dict(os.environ, **{name: str(cls.prefix / path) for name, path in paths.items()})

    def command(self, *command):
        return output_of(*command, cwd=self.work, env=self.env)

    def python(self, *arguments):
        return self.command(sys.executable, *arguments)

    def flags(self, *options):
        return self.command("pkg-config", *options, "seep-kernels").split()
