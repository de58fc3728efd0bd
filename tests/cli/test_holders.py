"""Holders of memory, from made-up snapshots beside the profile of a real job: reports, checks and verify."""
import json
import os
import unittest

from tests.cli.ci_jobs import SCHEMAS, CiCase, validate
from tests.e2e.support import ROOT

NAME = "Store.kept"
STEPS = (8, 16, 32, 60)


def path_of(root_file, length, n_bytes):
    return {"text": "global 'store' → %s[%d] (bytearray)" % (NAME, length),
            "root": {"kind": "global", "name": "store", "function": None, "file": root_file, "line": 6},
            "hops": [{"kind": "attribute", "name": "kept", "type": "list"},
                     {"kind": "index", "name": None, "type": "bytearray"}],
            "blocks": length, "bytes": n_bytes, "sole_bytes": n_bytes,
            "holder": {"hop": 1, "type": "list", "name": NAME, "length": length, "bound": None, "bound_by": None}}


def snapshot(pid, step, frame, state, length):
    """All that the line of `frame` made, held by a list of that length, or as the state says."""
    n_bytes = 1 << 16
    held = state == "held"
    return {"format": "seep-holders", "version": 1, "pid": pid, "process": 0, "step": step, "source": "told",
            "python": "3.11", "stop_ns": 15000000, "read_ns": 30000000, "cpu_ns": 40000000, "nodes": 1000,
            "live_bytes": n_bytes, "complete": True, "why_not": None,
            "lines": [{"frame": frame, "blocks": step, "bytes": n_bytes, "state": state,
                       "explained_bytes": n_bytes if held else 0, "lost_bytes": n_bytes if state == "lost" else 0,
                       "cycle_bytes": 0, "paths": [path_of(frame["file"], length, n_bytes)] if held else []}]}


class Holders(CiCase):
    def report(self, folder):
        done = self.seep("report", folder, "--format", "json")
        self.assertEqual((done.status, done.err), (0, ""), repr(done))
        report = json.loads(done.stdout)
        self.assertEqual(validate(ROOT / "docs/report.schema.json", report), [])
        return report

    def with_snapshots(self, folder, state="held", length=lambda step: step):
        """A copy of the profile with a snapshot at each of STEPS."""
        finding = self.report(folder)["findings"][0]
        pid, copy = finding["processes"][0], self.fresh_copy(folder)
        for step in STEPS:
            with open(os.path.join(copy, "holders-%d-%d.json" % (pid, step)), "w") as f:
                json.dump(snapshot(pid, step, finding["frame"], state, length(step)), f)
        return copy

    def test_a_report_says_who_holds_a_findings_memory(self):
        report = self.report(self.with_snapshots(self.leak))
        holders = report["findings"][0]["holders"]
        self.assertEqual((holders["state"], holders["step"], holders["grows"]), ("held", 60, True))
        self.assertEqual(holders["length"], [[step, step] for step in STEPS])
        self.assertEqual(holders["paths"][0]["holder"]["name"], NAME)
        self.assertEqual(report["holders"]["snapshots"], len(STEPS))
        self.assertEqual(report["holders"]["named"][0]["name"], NAME)

    def test_each_format_names_the_holder(self):
        folder = self.with_snapshots(self.leak)
        for name in ("text", "markdown", "junit", "sarif", "json"):
            for command in ("report", "check"):
                with self.subTest(name=name, command=command):
                    done = self.seep(command, folder, "--format", name)
                    self.assertIn("Store.kept", done.stdout.decode(), repr(done))
                    if name == "sarif":
                        self.assertEqual(validate(SCHEMAS / "sarif.schema.json", json.loads(done.stdout)), [])

    def test_sarif_points_at_the_holders_line(self):
        log = json.loads(self.seep("check", self.with_snapshots(self.leak), "--format", "sarif").stdout)
        place = log["runs"][0]["results"][0]["relatedLocations"][0]
        self.assertEqual(place["physicalLocation"]["artifactLocation"], {"uri": "job.py", "uriBaseId": "SRCROOT"})
        self.assertEqual(place["physicalLocation"]["region"], {"startLine": 6})
        self.assertIn(NAME, place["message"]["text"])

    def test_a_damaged_snapshot_is_said_and_changes_nothing_else(self):
        copy = self.fresh_copy(self.leak)
        with open(os.path.join(copy, "holders-7-8.json"), "wb") as f:
            f.write(os.urandom(1 << 12))
        report = self.report(copy)
        self.assertIsNone(report["findings"][0]["holders"])
        self.assertIn("holders-7-8.json", " ".join(report["coverage"]["not_seen"]))

    def budget(self, text):
        path = self.path("budget.toml")
        with open(path, "w") as f:
            f.write(text)
        return path

    def test_a_container_has_a_budget(self):
        grows = self.with_snapshots(self.leak)
        stays = self.with_snapshots(self.leak, length=lambda step: 8)
        for folder, growth, status in ((grows, 0, 1), (grows, 1, 0), (stays, 0, 0)):
            with self.subTest(growth=growth, folder=folder):
                check = self.document("check", folder, "--budget",
                                      self.budget('[holder."%s"]\ngrowth = %d\n' % (NAME, growth)), status=status)
                self.assertEqual((check["lines"][0]["kind"], check["lines"][0]["holder"]), ("holder", NAME))
        check = self.document("check", self.leak, "--budget", self.budget('[holder."%s"]\ngrowth = 0\n' % NAME), status=2)
        self.assertIn("no snapshot", check["reason"])

    def test_what_nobody_holds_has_a_budget(self):
        folder = self.with_snapshots(self.leak, state="lost")
        self.assertIn("held by  nobody: lost by native code", self.seep("report", folder).stdout.decode())
        for limit, status in (("0", 1), ("64KiB", 0)):
            check = self.document("check", folder, "--budget", self.budget('lost = "%s"\n' % limit), status=status)
            self.assertEqual(check["lines"][0]["kind"], "lost")

    def test_a_leak_that_its_holder_still_grows_by_is_not_fixed(self):
        before, after = self.with_snapshots(self.leak), self.with_snapshots(self.leak)
        verdict = self.document("verify", before, after, status=1)
        self.assertEqual([f["state"] for f in verdict["findings"]], ["remains"])
        self.assertIn("held by %s\n" % NAME, self.seep("verify", before, after).stdout.decode())


if __name__ == "__main__":
    unittest.main()
