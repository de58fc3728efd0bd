"""Host memory that is refused (RLIMIT_AS, overcommit): what is recorded, and the gate's verdict."""
import json
import os
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from tests.cli.ci_jobs import SCHEMAS, CiCase, validate

JOB = '''"""usage: job.py leaks|dies|caught|probes|absurd|skips"""
import mmap
import resource
import sys
import seep

how = sys.argv[1]
if how != "absurd":
    used = int(open("/proc/self/statm").read().split()[0]) * mmap.PAGESIZE
    resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), resource.RLIM_INFINITY))
kept = []


def load(n):
    return bytearray(n)  # ASKED


def probe():
    n = 1 << 30
    while True:
        try:
            return load(n)
        except MemoryError:
            n //= 2


for step in range(40):
    if how == "leaks":
        kept.append(load(8 << 20))
    elif how == "skips":
        try:
            load(1 << 30 if step == 20 else 1 << 20)
        except MemoryError:
            pass
    elif step == 20 and how == "probes":
        probe()
    elif step == 20:
        try:
            load(1 << 46 if how == "absurd" else 1 << 30)
        except MemoryError:
            if how == "dies":
                raise
    seep.step()
'''
RAN_OUT = ("leaks", "dies", "caught", "skips", "absurd")
COUNTED = ("malloc", "calloc", "calloc-overflow", "realloc", "reallocarray", "aligned_alloc", "posix_memalign", "mmap")
NOT_COUNTED = ("reserve", "by-touch", "posix_memalign-invalid")


class HostShortage(CiCase):
    def job(self, how):
        name = "host-" + how
        if name not in self._made:
            with open(os.path.join(self._root, "host.py"), "w") as f:
                f.write(JOB)
            folder = os.path.join(self._root, name + ".d")
            done = self.seep("run", "-q", "--holders", "off", "-o", folder, "--", sys.executable, "host.py", how,
                             cwd=self._root)
            self.assertEqual(done.status, 1 if how in ("dies", "leaks") else 0, repr(done))
            self._made[name] = folder
        return self._made[name]

    def test_a_job_that_died_of_a_memory_error_or_caught_it_is_violated(self):
        for how in RAN_OUT:
            with self.subTest(how):
                check = self.document("check", self.job(how), status=1)
                self.assertEqual([f["verdict"] for f in check["findings"] if f["pattern"] == "out-of-memory"], ["violated"])

    def test_it_may_be_allowed(self):
        for how in ("dies", "caught"):
            self.assertEqual(self.seep("check", self.job(how), "--max-findings", "out-of-memory=1").status, 0)

    def test_a_probe_is_noted_and_passes(self):
        report = self.report(self.job("probes"))
        self.assertEqual([(s["source"], s["retried"]) for s in report["out_of_memory"]], [("host", True)])
        self.assertEqual([f["pattern"] for f in report["findings"]], [])
        self.assertEqual(self.seep("check", self.job("probes")).status, 0)
        self.assertIn("asked for less and got it", " ".join(self.seep("report", self.job("probes")).stdout.decode().split()))

    def test_the_report_says_who_asked_and_what_refused(self):
        for how, kind in (("leaks", "RLIMIT_AS"), ("dies", "RLIMIT_AS"), ("absurd", "overcommit")):
            with self.subTest(how):
                report = self.report(self.job(how))
                finding, = (f for f in report["findings"] if f["pattern"] == "out-of-memory")
                self.assertEqual((finding["frame"]["function"], finding["space"]), ("load", "host"))
                self.assertEqual(report["out_of_memory"][-1]["limit"]["kind"], kind)
        self.assertEqual(self.report(self.job("leaks"))["findings"][1]["shortage"]["cause"], "filled")

    def test_every_form_says_it(self):
        shown = {name: self.seep("check", self.job("dies"), "--format", name) for name in ("text", "markdown", "sarif", "junit")}
        for done in shown.values():
            self.assertEqual(done.status, 1, repr(done))
        self.assertIn("out-of-memory", shown["text"].stdout.decode())
        self.assertRegex(shown["markdown"].stdout.decode(), r"(?m)^\| ❌ \| F1 \| out-of-memory ")
        log = json.loads(shown["sarif"].stdout)
        self.assertEqual(validate(SCHEMAS / "sarif.schema.json", log), [])
        self.assertEqual([r["level"] for r in log["runs"][0]["results"] if r["ruleId"] == "out-of-memory"], ["error"])
        self.assertIn("out-of-memory", [f.get("type") for f in ElementTree.fromstring(shown["junit"].stdout).findall(".//failure")])

    def test_each_way_to_ask_is_recorded_and_its_error_kept(self):
        for how in COUNTED + NOT_COUNTED:
            with self.subTest(how):
                report = self.run_seep([self.subject("refused"), how], options=("--holders", "off")).report
                asked = [s["asked_bytes"] for s in report["out_of_memory"]]
                self.assertEqual(len(asked), how in COUNTED, asked)
                if asked:
                    self.assertGreaterEqual(asked[0], 64 << 30)


if __name__ == "__main__":
    unittest.main()
