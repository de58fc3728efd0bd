"""`seep look` at processes whose malloc is not glibc's: objects with the sizes that their types give them."""
import json
import os
import subprocess
import sys

from tests.cli.ci_jobs import validate
from tests.e2e.alike import JEMALLOC, MIMALLOC, TCMALLOC
from tests.e2e.support import ROOT, SEEP, SOURCES, SYSTEM_PYTHON, SeepCase, compile_c, needs_to_read_children, supported

JOB = '''
import array, collections, ctypes, json, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
class Point:
    def __init__(self, i):
        self.image, self.number = bytes(9000 + i), i
kept = [bytes(10000 + i) for i in range(300)]
arrays = {"image %d" % i: array.array("d", [1.5]) * (2000 + i) for i in range(100)}
names = {"name %d" % i * 400: bytearray(5000) for i in range(200)}
members = {b"%8d" % i * 100 for i in range(3000)}
line = collections.deque(bytes(4000) for _ in range(200))
points = [Point(i) for i in range(100)]
dropped = [bytes(20000) for _ in range(200)]
dropped = dropped[::100]
def of(*objects):
    return sum(map(sys.getsizeof, objects))
made = {"kept": of(kept, *kept), "arrays": of(arrays, *arrays.values()), "names": of(names, *names, *names.values()),
        "members": of(members, *members), "line": of(line, *line), "points": of(*(p.image for p in points)),
        "dropped": of(dropped, *dropped)}
try:
    import numpy
    planes = [numpy.full((100, 30 + i), 1.5) for i in range(100)]
    made["planes"] = of(planes, *planes)
except ImportError:
    pass
try:
    import torch
    tensors = [torch.zeros(20000 + i) for i in range(60)]
    made["tensors"] = sum(4 * t.numel() for t in tensors)
except ImportError:
    pass
print(json.dumps(made), flush=True)
sys.stdin.read()
'''

NO_PYTHON = r'''
#include <sys/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    void *volatile kept = malloc(100000);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    puts("ready");
    fflush(stdout);
    pause();
    return kept == NULL;
}
'''


def look(*arguments):
    return subprocess.run([str(SEEP), "look", *map(str, arguments)], capture_output=True, text=True)


@needs_to_read_children
class LookMallocs(SeepCase):
    def start(self, command, library, **environment):
        job = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, env=dict(os.environ, LD_PRELOAD=library, **environment))
        for end in (job.wait, job.stdout.close, job.stdin.close, job.kill):
            self.addCleanup(end)
        return job, job.stdout.readline()

    def own(self):
        """A malloc that nobody knows."""
        return compile_c(self, SOURCES / "lib/bump_preload.c", self.path("libbump_preload.so"), "-shared", "-fPIC")

    def hold(self, python, library, name, *way, **environment):
        job, line = self.start([python, "-c", JOB], library, **environment)
        done = look("--format", "json", *way, job.pid)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(validate(ROOT / "docs/look.schema.json", document), [])
        moment = document["looks"][0]
        self.assertEqual(moment["allocator"], name)
        parts = [moment[part + "_bytes"] for part in ("held", "cycle", "reference", "lost")]
        self.assertEqual(moment["live_bytes"], sum(parts))
        self.assertLess(moment["live_bytes"], moment["rss_bytes"])
        for variable, made in json.loads(line).items():
            found = [h for h in document["holders"] if "module __main__.%s (" % variable in h["path"]["text"]]
            with self.subTest(variable, library=library, python=python, **environment):
                if made < 100000:  # of what is freed nothing is seen any more
                    self.assertEqual(found, [])
                    continue
                self.assertEqual(len(found[:1]), 1, [h["path"]["text"] for h in document["holders"]])
                # Words that calls have left on a stack may still point to some of its parts.
                self.assertGreater(found[0]["retained_bytes"], 0.95 * made)
                self.assertLess(found[0]["retained_bytes"], 1.02 * made)
        self.assertFalse([h for h in document["holders"] if h["state"] in ("lost", "reference")])
        return job

    def test_a_malloc_that_nobody_knows(self):
        job = self.hold(sys.executable, self.own(), "libbump_preload.so")
        said = look(job.pid).stdout
        self.assertIn("\nmalloc is libbump_preload.so's: sizes are those of objects by type; blocks of C and C++ "
                      "libraries are not counted\n", said)
        self.assertRegex(said, r"(?m)^No variable holds .* in reference cycles, .* that what is not counted may hold$")

    def test_each_way_to_look(self):
        for way in ("--copy", "--stop", "--live"):
            self.hold(sys.executable, self.own(), "libbump_preload.so", way)

    def test_each_python_without_its_own_allocator(self):
        own = self.own()
        for version, python in self.every_python():
            if supported(version):
                self.hold(python, own, "libbump_preload.so", PYTHONMALLOC="malloc")

    def test_a_python_whose_objects_are_mimallocs(self):
        for version, python in self.every_python():
            if supported(version) and version >= (3, 13):
                for name in ("mimalloc", "mimalloc_debug"):
                    self.hold(python, "", "mimalloc", PYTHONMALLOC=name)

    def test_the_mallocs_of_others(self):
        mallocs = ((JEMALLOC, "jemalloc"), (TCMALLOC, "tcmalloc"), (MIMALLOC, "mimalloc"))
        found = [(library, name) for library, name in mallocs if library]
        if not found:
            self.skipTest("neither jemalloc nor tcmalloc nor mimalloc is installed")
        for library, name in found:
            self.hold(SYSTEM_PYTHON, library, name)
            self.hold(SYSTEM_PYTHON, library, name, PYTHONMALLOC="malloc")

    def test_without_python_it_is_refused_in_words(self):
        with open(self.path("plain.c"), "w", encoding="utf-8") as f:
            f.write(NO_PYTHON)
        job, _ = self.start([compile_c(self, self.path("plain.c"), self.path("plain"))], self.own())
        done = look(job.pid)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^seep: process \d+ takes its memory from libbump_preload\.so, whose blocks "
                                      r"seep look cannot tell, and runs no Python: [^\n]*\n$")


if __name__ == "__main__":
    import unittest
    unittest.main()
