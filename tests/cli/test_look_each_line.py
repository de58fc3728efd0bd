"""`seep look --each-line`: another program says when to look, and knows when that was."""
import json
import subprocess
import sys

from tests.cli.ci_jobs import validate
from tests.e2e.support import ROOT, SEEP, SeepCase, needs_to_read_children

JOB = """
import ctypes, sys
# PR_SET_PTRACER, anybody: where Yama lets only ancestors look.
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
class Metrics:
    def __init__(self):
        self.kept, self.few = [], []
metrics = Metrics()
for line in sys.stdin:
    name, n = line.split()
    getattr(metrics, name).extend(bytearray(1 << 20) for _ in range(int(n)))
    print(len(getattr(metrics, name)), flush=True)
"""


@needs_to_read_children
class EachLine(SeepCase):
    def setUp(self):
        super().setUp()
        self.job = self.piped([sys.executable, "-c", JOB])
        self.look = self.piped([SEEP, "look", "--each-line", "--format", "json", str(self.job.pid)])

    def piped(self, argv):
        child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def end():
            child.kill()
            child.communicate()

        self.addCleanup(end)
        return child

    def grow(self, mebibytes, name="kept"):
        self.job.stdin.write("%s %d\n" % (name, mebibytes))
        self.job.stdin.flush()
        return int(self.job.stdout.readline())

    def look_once(self):
        self.look.stdin.write("now\n")
        self.look.stdin.flush()
        return self.look.stderr.readline()

    def test_what_grew_between_two_lines_is_told_at_their_end(self):
        self.assertEqual(self.grow(2), 2)
        self.assertEqual(self.look_once(), "seep: look 1\n")
        self.assertEqual(self.grow(8), 10)
        self.assertEqual(self.look_once(), "seep: look 2\n")
        self.assertEqual(self.grow(100), 110)
        out, err = self.look.communicate()
        self.assertEqual((self.look.returncode, err), (0, ""))
        document = json.loads(out)
        self.assertEqual(validate(ROOT / "docs/look.schema.json", document), [])
        kept = next(h for h in document["holders"] if "kept" in h["path"]["text"] and h["growth"] == "grew")
        first, last = kept["retained_by_look"]
        self.assertEqual((round(first / (1 << 20)), round(last / (1 << 20))), (2, 10))

    def test_without_a_line_there_is_no_look(self):
        out, err = self.look.communicate("")
        self.assertEqual((self.look.returncode, out), (2, ""))
        self.assertRegex(err, r"^seep: --each-line: no line came: write one .*\n$")

    def test_the_times_are_said_by_the_lines_alone(self):
        for option in (["--every", "5"], ["--times", "2"]):
            done = self.seep("look", "--each-line", *option, str(self.job.pid))
            self.assertEqual(done.status, 2)
            self.assertIn("--each-line: the lines say when to look", self.one_line_error(done))

    def test_what_is_named_in_the_last_look_only_counts_from_what_it_had(self):
        """Nearly all of the object is in one of its lists at first, which is named instead of it."""
        self.grow(20)
        self.look_once()
        self.grow(2)
        self.grow(8, "few")
        self.look_once()
        document = json.loads(self.look.communicate()[0])
        named = {h["path"]["text"].rpartition(" ")[0]: h for h in document["holders"]}
        metrics, kept = named["module __main__.metrics"], named["module __main__.metrics (Metrics).kept"]
        self.assertEqual([[round(n / (1 << 20)) for n in h["retained_by_look"]] for h in (metrics, kept)], [[20, 30], [20, 22]])
        self.assertIs(document["holders"][kept["within"]], metrics)
        self.assertGreater(metrics["growth_bytes_per_minute"], kept["growth_bytes_per_minute"])
