"""What a reader takes is known before it takes it, and a look that does not fit is given up before anything is taken.
`seep look` takes as little."""
import json
import pathlib
import resource
import subprocess

from tests.e2e.support import SEEP, SYSTEM_PYTHON, SeepCase, needs_to_read_children
from tests.e2e.test_snapshots import documents

MIB = 1 << 20

# What is kept, how often, after the imports. A dict of a list and a string has seven objects.
SHAPES = {
    "objects": "[{'a': [i + .5, i * 1000], 'b': str(i) + 'name'} for i in range(150000)]",
    "floats": "[float(i) for i in range(1500000)]",
    "blocks": "[bytearray(b'x') * 4050 for i in range(20000)]",
    "large": "[bytearray(b'x') * (1 << 20) for i in range(100)]",
}

JOB = """
import seep
keep = %s
for i in range(3):
    seep.step()
    bytearray(100000)
"""


class ReaderMemory(SeepCase):
    def looked(self, shape, inside=(), **how):
        self.folder = self.fresh()
        return self.seep("run", "-q", "--holders", "2", "-o", self.folder, "--", *inside, SYSTEM_PYTHON, "-c",
                         JOB % SHAPES[shape], **how)

    def test_a_reader_never_has_more_than_it_said_it_needs(self):
        for shape in SHAPES:
            with self.subTest(shape):
                self.assertEqual(self.looked(shape).status, 0)
                (found,) = documents(self.folder)
                need, peak = found["need_bytes"], found["peak_bytes"]
                self.assertLessEqual(peak, need, "%d nodes" % found["nodes"])
                self.assertLessEqual(need, 1.5 * peak + 16 * MIB, "or looks are given up that would fit")

    def test_a_look_that_does_not_fit_is_given_up_and_said(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_DATA, (45 * MIB, resource.getrlimit(resource.RLIMIT_DATA)[1]))

        done = self.looked("objects", ["bash", "-c", 'ulimit -Sd "$(ulimit -Hd)" && exec "$@"', "-"], preexec_fn=limit)
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(documents(self.folder), [])
        coverage = json.loads(pathlib.Path(self.folder, "report.json").read_text())["coverage"]
        self.assertEqual(coverage["holders"]["refused"], {"memory": 1})
        said = [line for line in coverage["not_seen"] if "because memory was short" in line]
        self.assertRegex(said[0], r"1 snapshot was not read, because memory was short \(\d+ MiB needed, \d+ MiB left\): "
                         "use --holders off or a larger limit")


IDLE = """
import ctypes, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)  # PR_SET_PTRACER, anybody
keep = %s
print("ready", flush=True)
sys.stdin.read()
"""
# By way of a small process: a child's peak begins with that of the process it was forked from.
PEAK_OF = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""
# Of a record's seven objects the dict and the list have a node, and numbers none.
NODES_AN_OBJECT = {"objects": 2 / 7, "floats": 0, "blocks": 1, "large": 1}
BYTES_A_NODE, WINDOW = 136, 8 * MIB  # libprof/who/find/examine.c, SEEP_MEMORY_PASSING


@needs_to_read_children
class LookMemory(SeepCase):
    def peak_of_look(self, shape):
        """What seep look had at most, and how many objects it told."""
        job = subprocess.Popen([SYSTEM_PYTHON, "-c", IDLE % shape], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for end in (job.wait, job.stdout.close, job.stdin.close, job.kill):
            self.addCleanup(end)
        self.assertEqual(job.stdout.readline(), "ready\n")
        told = self.path("look.json")
        done = self.command([SYSTEM_PYTHON, "-S", "-c", PEAK_OF, SEEP, "look", "--copy", "--format", "json", "-o", told,
                             str(job.pid)])
        self.assertEqual(done.status, 0, done.err)
        return int(done.stdout), json.loads(pathlib.Path(told).read_text())["looks"][-1]["objects"]

    def test_a_look_from_outside_keeps_no_page_and_no_node_of_what_goes_with_its_owner(self):
        least, few = self.peak_of_look("[]")
        for shape, nodes in NODES_AN_OBJECT.items():
            with self.subTest(shape):
                peak, n = self.peak_of_look(SHAPES[shape])
                self.assertLessEqual(peak - least, WINDOW + nodes * (n - few) * BYTES_A_NODE, "%d objects" % n)
