"""seep is compiled for 64-bit Arm without a warning, where its compiler is, and `make check` runs the unit tests under
qemu, where all is there that they need."""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EM_AARCH64 = 183
TO_GET = "sudo ./bootstrap check-arm gets it"


def machine_of(path):
    with open(path, "rb") as f:
        return struct.unpack_from("<H", f.read(20), 18)[0]


class Cross(unittest.TestCase):
    @unittest.skipUnless(shutil.which("aarch64-linux-gnu-gcc"), "no aarch64-linux-gnu-gcc; " + TO_GET)
    def test_the_library_is_compiled_without_warnings(self):
        env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        done = subprocess.run(["make", "arm-shim"], cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        self.assertEqual(machine_of(ROOT / "build/arm/seep/libseep.so"), EM_AARCH64)

    @unittest.skipUnless((ROOT / "build/arm/libraries").exists(), "no build/arm/root; " + TO_GET)
    @unittest.skipUnless(shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static"), "no qemu-aarch64; " + TO_GET)
    @unittest.skipUnless(shutil.which("aarch64-linux-gnu-gcc"), "no aarch64-linux-gnu-gcc; " + TO_GET)
    def test_a_unit_test_runs_under_qemu(self):
        unit = "build/arm/seep/tests/base/test_text"  # `make check` has made it, and runs it among the others
        self.assertEqual(machine_of(ROOT / unit), EM_AARCH64)
        done = subprocess.run([sys.executable, "tests/run-all", unit], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self.assertRegex(done.stdout, r"\n[1-9]\d* passed, 0 failed\n$")


if __name__ == "__main__":
    unittest.main()
