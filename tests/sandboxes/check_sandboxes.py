"""Jobs under seep on kernels that are not this machine's: in gVisor, as in GKE Sandbox, and in User-Mode Linux."""
import json
import shlex
import sys
import unittest

from tests.e2e.support import ROOT, SEEP
from tests.sandboxes.kernels import in_gvisor, in_uml, why_no_gvisor, why_no_uml

SUITES = [str(ROOT / "build/tests/runtime/store/test_vdso")]


class Kernel:
    """What holds on each."""

    @classmethod
    def setUpClass(cls):
        why = cls.why_not()
        if why:
            raise unittest.SkipTest(why)
        command = shlex.join(["/usr/bin/python3", str(ROOT / "tests/sandboxes/inside.py"), SEEP, *SUITES])
        _, out = cls.run_in(command)
        lines = [line for line in out.splitlines() if line.startswith("{")]
        assert lines, out
        cls.told = json.loads(lines[-1])

    def test_each_program_is_recorded(self):
        for name, status in (("true", 0), ("python", 0), ("shell", 7)):
            told = self.told[name]
            self.assertEqual((told["status"], told["err"]), (status, ""), told)
            self.assertEqual(told["processes"][0][0], status)
        self.assertEqual(len(self.told["shell"]["processes"]), 4)

    def test_a_leak_is_found_and_threads_and_children_are_counted(self):
        told = self.told["leaks"]
        self.assertEqual((told["status"], told["out"], told["err"]), (0, "3\n", ""), told)
        self.assertEqual(told["findings"][0], ["leak", "leak"])
        (_, first), (ended, child) = told["processes"]
        self.assertEqual(ended, 3)
        self.assertGreater(first, 4000)
        self.assertGreater(child, 9)

    def test_the_doctor_finds_the_library_good(self):
        self.assertIn("a test profile was written and read", self.told["doctor"]["out"])

    def test_what_the_kernel_maps_is_read(self):
        self.assertEqual(self.told["test_vdso"]["status"], 0, self.told["test_vdso"]["out"])


class GVisor(Kernel, unittest.TestCase):
    why_not, run_in = staticmethod(why_no_gvisor), staticmethod(in_gvisor)


class UserModeLinux(Kernel, unittest.TestCase):
    why_not, run_in = staticmethod(why_no_uml), staticmethod(in_uml)


if __name__ == "__main__":
    sys.exit(unittest.main())
