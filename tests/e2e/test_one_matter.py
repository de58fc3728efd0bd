"""What one container keeps is one finding, though its entries are blocks of malloc and small objects in arenas."""
import re
import unittest

from tests.e2e.support import SYSTEM_PYTHON, SeepCase

JOB = '''import collections, copy, sys, time
import seep

kept = collections.deque(maxlen=int(sys.argv[1])) if len(sys.argv) > 1 else []
config = {"a": list(range(5000)), "b": {str(i): [i] * 10 for i in range(500)}}


def step(i):
    time.sleep(0.002)
    return copy.deepcopy(config)


for i in range(250):
    kept.append(step(i))  # KEPT
    seep.step()
'''


class OneMatter(SeepCase):
    def judged(self, *args, options=()):
        with open(self.path("job.py"), "w") as f:
            f.write(JOB)
        return self.run_looked_at([SYSTEM_PYTHON, "job.py", *args], options, cwd=self.dir).report

    def test_a_list_of_nested_objects(self):
        findings = self.judged()["findings"]
        self.assertEqual([f["pattern"] for f in findings], ["unbounded-growth"], findings)
        line = next(n for n, text in enumerate(JOB.splitlines(), 1) if "# KEPT" in text)
        self.assertEqual([at["line"] for at in findings[0]["kept_at"]], [line])
        self.assertIn("__main__.kept", findings[0]["advice"])
        said = re.search(r"^Grows by ≈ ([\d.]+) KiB a step", findings[0]["evidence"][0])
        self.assertAlmostEqual(float(said.group(1)), findings[0]["growth_bytes_per_step"]["value"] / 1024, delta=1)
        self.assertGreater(float(said.group(1)), 130)  # 52 of tables, 95 of arenas
        self.assertGreater(findings[0]["live_bytes"], 30e6)  # the tables, 13 MB, and the arenas, 25 MB

    def test_a_look_while_pythons_own_objects_are_a_quarter(self):
        findings = self.judged(options=("--holders", "30,60"))["findings"]
        self.assertEqual([f["pattern"] for f in findings], ["unbounded-growth"], findings)

    def test_a_bounded_one_is_no_leak(self):
        self.assertNotIn("leak", [f["severity"] for f in self.judged("40")["findings"]])


if __name__ == "__main__":
    unittest.main()
