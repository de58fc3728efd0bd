"""The frameworks themselves, from PyPI (`make check-integrations`): each trains and leaks, and seep counts its steps
and epochs to the number and tells the leak in the framework's log and logger."""
import json
import os
import unittest

from tests.e2e.support import NO_LOOKS, ROOT, SeepCase, marked_line

PYTHON = os.environ.get("INTEGRATIONS_PYTHON", str(ROOT / "build/integrations/venv/bin/python"))
TRAININGS = str(ROOT / "tests/integrations/trainings.py")


class Trainings(SeepCase):
    def holds(self, name, bytes_a_step):
        profile = self.run_seep([PYTHON, TRAININGS, name, self.path("out")], options=NO_LOOKS, cwd=str(ROOT),
                                timeout=900)
        said = json.loads(profile.done.stdout.decode().splitlines()[-1])
        job = profile.written["job"]
        self.assertEqual((job["step_source"], job["steps"], job["epochs"]), ("api", said["steps"], said["epochs"]))
        lines = [line for line in profile.done.err.splitlines() if "seep: " in line]
        self.assertEqual(len(lines), 1, profile.done.err)
        line = marked_line(TRAININGS, "LEAK")
        self.assertRegex(lines[0], r"seep: host memory grows by .* KiB a step without an end: "
                                   r"tests/integrations/trainings\.py:%d in keep" % line)
        growth = said["figures"]["seep/host_growth_bytes_per_step"]
        self.assertAlmostEqual(growth, bytes_a_step, delta=bytes_a_step * 0.1)
        print("%-13s %d steps, %d epochs, %.0f bytes a step; %s" % (
            name, job["steps"], job["epochs"], growth, lines[0]))

    def test_lightning(self):
        self.holds("lightning", 100000)

    def test_transformers(self):
        self.holds("transformers", 100000)

    def test_accelerate(self):
        self.holds("accelerate", 100000)

    def test_keras(self):
        self.holds("keras", 50000)

    def test_ignite(self):
        self.holds("ignite", 100000)


if __name__ == "__main__":
    unittest.main()
