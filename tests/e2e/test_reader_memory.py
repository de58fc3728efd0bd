"""What a reader takes is known before it takes it, and a look that does not fit is given up before anything is taken."""
import json
import pathlib
import resource

from tests.e2e.support import SYSTEM_PYTHON, SeepCase
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
