"""`seep digest` and `seep merge`: what they keep of reports, in any order, and what they do with what is damaged."""
import itertools
import json
import os
import shutil
import subprocess
import unittest

from tests.e2e.support import NO_LOOKS, SEEP, SYSTEM_PYTHON, SeepCase, job_env, marked_line

RANKS, LEAKING = 4, 2
JOB = """
import os, sys, seep
kept = []
for step in range(60):
    work = [bytearray(50_000) for _ in range(4)]
    if os.environ["RANK"] == "%d":
        kept.append(bytearray(100_000))  # LEAK
    seep.step()
""" % LEAKING


def recorded_ranks(folder):
    """A folder with a part for each of four ranks, of which one leaks."""
    with open(os.path.join(folder, "job.py"), "w") as f:
        f.write(JOB)
    out, jobs = os.path.join(folder, "profile"), []
    for rank in range(RANKS):
        env = job_env(RANK=rank, LOCAL_RANK=rank, GROUP_RANK=0, WORLD_SIZE=RANKS, LOCAL_WORLD_SIZE=RANKS)
        jobs.append(subprocess.Popen([SEEP, "run", "-q", *NO_LOOKS, "-o", out, "--", SYSTEM_PYTHON, os.path.join(folder, "job.py")],
                                     env=env))
    if any([job.wait() for job in jobs]):
        raise RuntimeError("a recorded job failed")
    return out


class DigestCase(SeepCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import tempfile
        cls.root = tempfile.mkdtemp(prefix="seep-digest-")
        cls.profile = recorded_ranks(cls.root)
        cls.parts = sorted(os.path.join(cls.profile, name) for name in os.listdir(cls.profile))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def digest(self, *names, command="digest"):
        """The bytes of a digest."""
        out = self.path("%d.digest" % next(self.numbers))
        done = self.seep(command, *names, "-o", out)
        self.assertEqual((done.status, done.err), (0, ""), done)
        with open(out, "rb") as f:
            return out, f.read()

    def setUp(self):
        super().setUp()
        self.numbers = itertools.count()


class Digests(DigestCase):
    def test_parts_merged_in_any_order_are_the_digest_of_their_folder(self):
        whole = self.digest(self.profile)[1]
        parts = [self.digest(part)[0] for part in self.parts]
        for order in itertools.islice(itertools.permutations(parts), 0, 24, 5):
            self.assertEqual(self.digest(*order, command="merge")[1], whole)
        left, right = self.digest(*parts[:2], command="merge")[0], self.digest(*parts[2:], command="merge")[0]
        self.assertEqual(self.digest(right, left, command="merge")[1], whole)

    def test_a_job_too_short_to_judge_is_told_so(self):
        folder = self.path("short")
        done = self.seep("run", "-q", *NO_LOOKS, "-o", folder, "--", SYSTEM_PYTHON, "-c",
                         "import seep\nfor step in range(5): seep.step()")
        self.assertEqual(done.status, 0, done)
        told = [self.seep("report", name).stdout.decode().splitlines()[:2] for name in (folder, self.digest(folder)[0])]
        self.assertEqual(told[0][0], "seep: too short to tell in 5 steps")
        self.assertEqual(told[0], told[1])

    def test_more_digests_than_one_report_takes_are_told(self):
        folder = self.path("small")
        self.assertEqual(self.seep("run", "-q", *NO_LOOKS, "-o", folder, "--", "/bin/true").status, 0)
        done = self.seep("report", *[self.digest(folder)[0]] * (4096 + 3))
        self.assertEqual(done.status, 0, done)
        self.assertIn("3 digests could not be merged", done.stdout.decode())

    def test_it_keeps_what_the_report_says(self):
        digest = json.loads(self.digest(self.parts[0])[1])
        report = self.report(self.parts[0], "--all")
        process = report["processes"][0]
        self.assertEqual(digest["numbers"]["processes"], len(report["processes"]))
        measures = {row["of"]: row["sum"] for row in digest["processes"]}
        self.assertEqual((measures["rss_peak_bytes"], measures["steps"]), (process["rss_peak_bytes"], process["steps"]))
        spaces = {row["of"]: row["sum"] for row in digest["spaces"]}
        self.assertEqual(spaces, {name: totals["peak_bytes"] for name, totals in process["spaces"].items()})
        self.assertEqual(sum(row["n"] for row in digest["sites"] + digest["rest"]),
                         sum(1 for site in report["sites"] if site["peak_bytes"]))

    def test_a_finding_has_its_bytes_and_its_place(self):
        digest = json.loads(self.digest(self.profile)[1])
        finding, = [row for row in digest["findings"] if row["severity"] == "leak"]
        report = self.report(self.parts[LEAKING])
        self.assertEqual(finding["sum"], report["findings"][0]["live_bytes"])
        self.assertEqual(finding["blocks"], report["findings"][0]["count"])
        self.assertEqual((finding["n"], finding["least_rank"], finding["most_rank"]), (1, LEAKING, LEAKING))
        self.assertAlmostEqual(finding["growth_sum_millibytes_per_step"] / 1000, 100_000, delta=100)
        course = [cell * 1024 / 2 ** digest["levels"]["step_shift"] for cell in finding["course"]]
        self.assertAlmostEqual(course[20] - course[10], 10 * 2 ** digest["levels"]["step_shift"] * 100_000, delta=100_000)

    def test_its_report_names_the_rank_that_leaks_first(self):
        path = self.digest(self.profile)[0]
        report = self.report(path)
        finding = report["findings"][0]
        self.assertEqual((finding["severity"], finding["spread"]["kind"]), ("leak", "one"))
        self.assertEqual((finding["spread"]["least_rank"], finding["spread"]["of"]), (LEAKING, RANKS))
        self.assertEqual(finding["frame"]["line"], marked_line(os.path.join(self.root, "job.py"), "LEAK"))
        self.assertIn("In rank %d (process " % LEAKING, finding["evidence"][0])
        self.assertEqual(report["digest"]["ranks"], {"world": RANKS, "missing": 0, "missing_ranks": ""})
        text = self.seep("report", path).stdout.decode()
        self.assertIn("alone, of 4 ranks", " ".join(text.split()))

    def test_ranks_without_a_profile_are_named(self):
        path = self.digest(self.parts[0], self.parts[3])[0]
        report = self.report(path)
        self.assertEqual(report["digest"]["ranks"]["missing_ranks"], "1 to 2")
        self.assertTrue(any("2 of 4 ranks have no profile here: 1 to 2" in text for text in report["coverage"]["not_seen"]))

    def test_how_ranks_ended_is_told(self):
        out = self.path("killed")
        code = "import os; os.kill(os.getpid(), 9)"
        done = self.seep("run", "-q", *NO_LOOKS, "-o", out, "--", SYSTEM_PYTHON, "-c", code)
        self.assertEqual(done.status, 128 + 9)
        report = self.report(self.digest(out)[0])
        self.assertEqual(report["job"]["exit"], {"kind": "signal", "value": 9, "failed": True, "text": "killed by SIGKILL"})
        self.assertEqual([end["end"] for end in report["digest"]["ends"]], ["signal 9"])
        well = self.report(self.digest(self.parts[0])[0])
        self.assertEqual(well["job"]["exit"], {"kind": "exit", "value": 0, "failed": False, "text": "ended normally"})

    def test_every_command_takes_one(self):
        leaks, fine = self.digest(self.profile)[0], self.digest(self.parts[0])[0]
        self.assertEqual(self.seep("check", leaks).status, 1)
        self.assertEqual(self.seep("check", fine).status, 0)
        self.assertEqual(self.seep("check", leaks, "--max-findings", "leak=1").status, 0)
        self.assertEqual(self.seep("diff", leaks, leaks).status, 0)
        self.assertEqual(self.seep("export", leaks, "--format", "collapsed", "-o", self.path("c")).status, 0)
        self.assertEqual(self.seep("report", leaks, fine).status, 0)
        self.assertEqual(self.seep("report", leaks, "--format", "markdown").status, 0)

    def test_verify_proves_a_fix_by_digests(self):
        before = self.digest(self.parts[LEAKING])[0]
        after = self.digest(self.parts[0])[0]
        self.assertEqual(self.seep("verify", before, after).status, 0)
        self.assertEqual(self.seep("verify", before, before).status, 1)


class Damaged(DigestCase):
    def merged(self, *names):
        out = self.path("merged")
        done = self.seep("merge", *names, "-o", out)
        with open(out) as f:
            return done, json.load(f)

    def damaged(self, change):
        path, data = self.digest(self.parts[1])
        with open(path, "wb") as f:
            f.write(change(data))
        return path

    def test_what_is_cut_or_of_another_version_is_told_and_the_rest_merged(self):
        good = self.digest(self.parts[0])[0]
        for change, said in ((lambda data: data[:len(data) // 2], "is cut short, or is no digest"),
                             (lambda data: data.replace(b'"version":1', b'"version":9'), "is a digest of another version"),
                             (lambda data: data.replace(b'"n":1,', b'"n":0,'), "is a damaged digest"),
                             (lambda data: b"", "is cut short, or is no digest")):
            with self.subTest(said):
                path = self.damaged(change)
                done, merged = self.merged(good, path)
                self.assertEqual(done.status, 0)
                self.assertIn("%s: %s" % (path, said), done.err)
                self.assertEqual(merged["numbers"]["digests_not_merged"], 1)
                self.assertEqual(merged["numbers"]["folders"], 1)

    def test_the_report_of_a_damaged_one_is_an_error(self):
        path = self.damaged(lambda data: data[:-100])
        done = self.seep("report", path)
        self.assertEqual(done.status, 2)
        self.one_line_error(done)

    def test_one_that_is_given_twice_counts_once(self):
        good = self.digest(self.parts[0])[0]
        done, merged = self.merged(good, good, self.parts[0])
        self.assertEqual(done.err.count("is in it already"), 2)
        self.assertEqual(merged["numbers"]["folders"], 1)

    def test_digests_that_share_a_folder_are_not_merged(self):
        left, right = self.digest(*self.parts[:3])[0], self.digest(*self.parts[2:])[0]
        done, merged = self.merged(left, right)
        self.assertIn("%s shares 1 of its 2 folders with the others: it is left out" % right, done.err)
        self.assertEqual((merged["numbers"]["folders"], merged["numbers"]["digests_not_merged"]), (3, 1))
        report = self.report(left)
        self.assertEqual(self.seep("report", left, left, "--format", "json", "-o", self.path("twice")).status, 0)
        with open(self.path("twice")) as f:
            self.assertEqual(json.load(f)["digest"]["folders"], report["digest"]["folders"])

    def test_nothing_to_merge_is_an_error(self):
        for args in ((), (self.path("none"),), ("/dev/null",)):
            self.assertEqual(self.seep("merge", *args).status, 2, args)

    def test_a_file_that_cannot_be_written_is_an_error(self):
        done = self.seep("digest", self.parts[0], "-o", "/nonexistent/x")
        self.assertEqual(done.status, 2)
        self.one_line_error(done)


if __name__ == "__main__":
    unittest.main()
