"""`seep verify`: every exit status."""
import unittest

from tests.cli.ci_jobs import LEAK_BYTES, CiCase


class Status(CiCase):
    def test_a_fix_is_0(self):
        done = self.seep("verify", self.leak, self.fixed)
        self.assertEqual((done.status, done.err), (0, ""), repr(done))
        text = done.stdout.decode()
        self.assertRegex(text, r"^seep verify: fixed: 1 finding vanished")
        self.assertRegex(text, r"(?m)^  vanished +unbounded-growth \(leak\) job.py:\d+ in load")

    def test_no_fix_is_1(self):
        again = self.profile("leak-again", "leak")
        verdict = self.document("verify", self.leak, again, status=1)
        self.assertEqual([f["state"] for f in verdict["findings"]], ["remains"])

    def test_a_new_leak_is_1(self):
        verdict = self.document("verify", self.fixed, self.leak, status=1)
        self.assertEqual([f["state"] for f in verdict["findings"]], ["new"])

    def test_growth_and_peak_stand_side_by_side(self):
        verdict = self.document("verify", self.leak, self.fixed, status=0)
        host = [s for s in verdict["spaces"] if s["space"] == "host"][0]
        growth = host["before"]["growth_bytes_per_step"]
        self.assertAlmostEqual(growth["value"], LEAK_BYTES, delta=0.02 * LEAK_BYTES)
        self.assertLessEqual(growth["low"], growth["value"])
        self.assertLess(abs(host["after"]["growth_bytes_per_step"]["value"]), 1024)
        fall = host["before"]["peak_bytes"] - host["after"]["peak_bytes"]
        self.assertAlmostEqual(fall, 59 * LEAK_BYTES, delta=0.1 * 59 * LEAK_BYTES)
        for saving in verdict["savings"]:
            self.assertEqual(saving["measured_bytes"], fall)

    def test_two_runs_without_findings_are_2(self):
        said = self.cannot("verify", self.fixed, self.fixed)
        self.assertIn("there is no fix to verify: `seep diff` shows what changed", said)
        self.assertNotIn("record", said)

    def test_what_cannot_be_read_is_2(self):
        for what, folder in self.spoiled():
            with self.subTest(what=what):
                self.cannot("verify", folder, self.fixed, about=what)
                self.cannot("verify", self.leak, folder, about=what)

    def test_another_job_is_2(self):
        for name, args, script in (("short", ("fixed", "--steps", "30"), "job.py"),
                                   ("slices", ("fixed", "--no-steps"), "job.py"),
                                   ("none", ("fixed", "--steps", "0"), "job.py"),
                                   ("other", ("fixed",), "other.py")):
            with self.subTest(name):
                self.cannot("verify", self.leak, self.profile(name, *args, script=script), about=name)

    def test_wrong_usage_is_2(self):
        for args in ((), (self.leak,), (self.leak, self.fixed, self.fixed), (self.leak, self.fixed, "--walk"),
                     (self.leak, self.fixed, "--format", "sarif"), (self.leak, self.fixed, "-o", "/nonexistent/x")):
            with self.subTest(args=args[2:]):
                self.cannot("verify", *args)


if __name__ == "__main__":
    unittest.main()
