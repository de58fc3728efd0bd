"""Where the steps' time goes: CPU time of each process, in all and a step."""
import unittest

from tests.e2e.support import SYSTEM_PYTHON, SeepCase

JOB = '''import os, time
import seep


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        bytearray(1000)


burn(0.5)  # before the steps
if os.fork() == 0:
    for _ in range(30):
        burn(0.01)
        time.sleep(0.01)
    os._exit(0)
for _ in range(30):
    burn(0.03)
    time.sleep(0.01)
    seep.step()
os.wait()
'''


class Cpu(SeepCase):
    def run_job(self, source):
        with open(self.path("job.py"), "w") as f:
            f.write(source)
        return self.run_seep([SYSTEM_PYTHON, "job.py"], cwd=self.dir)

    def test_each_process_has_its_own_in_all_and_a_step(self):
        result = self.run_job(JOB)
        pids = {p["pid"] for p in result.report["processes"]}
        parent, child = sorted(result.report["processes"], key=lambda p: p["ppid"] in pids)
        self.assertAlmostEqual(parent["cpu_s"], 0.5 + 30 * 0.03, delta=0.4)  # Python's start, and seep
        self.assertAlmostEqual(child["cpu_s"], 30 * 0.01, delta=0.2)
        self.assertTrue(0.028 < parent["cpu_s_per_step"] < 0.045, parent)
        self.assertLess(child["cpu_s_per_step"], 0.028)
        said = " ".join(self.seep("report", result.folder).stdout.decode().split())
        self.assertRegex(said, r"trainer: .*, 1\.\d s of CPU, [34]\d(\.\d)? ms a step")

    def test_time_slices_are_no_steps(self):
        report = self.run_job("sum(range(30000000))\n").report
        self.assertEqual((report["job"]["step_source"], report["processes"][0]["cpu_s_per_step"]), ("time", None))
        self.assertGreater(report["processes"][0]["cpu_s"], 0.1)


if __name__ == "__main__":
    unittest.main()
