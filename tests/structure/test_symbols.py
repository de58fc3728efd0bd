"""What the built objects refer to. Includes tell only what a file was shown; a symbol is what it uses."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from tests.preload.test_exports import hooks
from tests.structure.sources import HALVES, ROOT

OBJECTS = pathlib.Path(os.environ.get("SEEP", ROOT / "build/seep")).resolve().parent / "obj"


def objects(below):
    """{source: object} of what is built below a folder of build/obj; an object whose source has gone is left out."""
    found = {}
    for path in sorted((OBJECTS / below).rglob("*.o")):
        stem = os.path.relpath(path, OBJECTS / below)[:-len(".o")]
        for source in (stem, stem + ".c", stem + ".cc"):  # a CUDA twin's object is name.cu.o
            if stem.startswith(HALVES) and (ROOT / source).is_file():
                found[source] = path
    return found


@functools.lru_cache(maxsize=None)
def relocated(path):
    """The names of all that the code and data of an object refer to, its own symbols too."""
    out = subprocess.run(["readelf", "-rW", path], stdout=subprocess.PIPE, check=True, text=True).stdout
    return set(re.findall(r"^\w+ +\w+ +R_\S+ +\w+ +([\w.]+)", out, re.M))


@unittest.skipUnless(shutil.which("readelf"), "no readelf")
class HookedNames(unittest.TestCase):
    def test_no_code_of_the_shim_calls_a_function_that_the_shim_replaces(self):
        hooked, shim = set(hooks()), objects("shim")
        self.assertTrue(hooked and shim, "run make first")
        calls = {source: sorted(relocated(path) & hooked) for source, path in shim.items()}
        self.assertEqual({source: names for source, names in calls.items() if names}, {},
                         "these come to the shim's own hooks: seep_real has the function behind one, and a system call is "
                         "made directly (libprof/store/os.h)")

    def test_calls_are_seen(self):
        self.assertIn("seep_os_call6", relocated(objects("shim")["preload/record/thread.c"]))


if __name__ == "__main__":
    unittest.main()
