"""What the built objects refer to. Includes tell only what a file was shown; a symbol is what it uses."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from tests.preload.test_exports import hooks
from tests.structure.sources import HALVES, ROOT, files_below
from tests.structure.test_includes import circles, may_use, module_of, room_of

OBJECTS = pathlib.Path(os.environ.get("SEEP", ROOT / "build/seep")).resolve().parent / "obj"

# What the runtime may ask of libc, the compiler and the linker (sanitizers and coverage are not linked into the shim).
OF_MEMORY = re.compile(r"(mem|str)(?!dup|ndup|error|signal|coll|xfrm)[a-z]+$|getauxval$|__udivti3$|_GLOBAL_OFFSET_TABLE_$|_end$|__bss_start$")

# What lower rooms may refer to although it lies above: the table of calls (preload/record/upcalls.h) alone.
UPCALLS = {"seep_upcalls": "preload/lifecycle.c"}

# Circles of calls that are left, each within a room: a frame and the parts that it has drawn, which draw with its help; a
# pattern's predicate and what all predicates share; the system calls and the clock that they need. No more may come.
CALL_CIRCLES = {
    "libprof/page/page_document libprof/page/page_sites libprof/page/page_small",
    "libprof/report/report_job libprof/report/report_json",
    "libprof/runtime/store/os libprof/runtime/store/os_clock libprof/runtime/store/vdso",
    "libprof/verdict/memory_file_findings libprof/verdict/resident_rest",
    "libprof/verdict/pattern_allocator libprof/verdict/pattern_device libprof/verdict/pattern_eager"
    " libprof/verdict/pattern_gathered libprof/verdict/pattern_graph libprof/verdict/pattern_growing"
    " libprof/verdict/pattern_job libprof/verdict/pattern_judge libprof/verdict/pattern_kept libprof/verdict/pattern_peak",
    "viewer/top/top_details viewer/top/top_picture viewer/top/top_tables",
}


def objects(below):
    """{source: object} of what is built below a folder of build/obj; an object whose source has gone is left out."""
    found = {}
    for path in sorted((OBJECTS / below).rglob("*.o")):
        stem = os.path.relpath(path, OBJECTS / below)[:-len(".o")]
        for source in (stem, stem + ".c", stem + ".cc"):  # a CUDA twin's object is name.cu.o
            if stem.startswith(HALVES) and (ROOT / source).is_file():
                found[source] = path
    assert found, "nothing is built below %s: run make first" % (OBJECTS / below)
    return found


def symbols(built):
    """[(source, letter of nm, name)] of all objects."""
    sources = {str(path): source for source, path in built.items()}
    out = subprocess.run(["nm", "-A", *sources], stdout=subprocess.PIPE, check=True, text=True).stdout
    lines = re.findall(r"^(.+?):[0-9a-f ]* (\w) (\S+)$", out, re.M)
    return [(sources[path], letter, name) for path, letter, name in lines]


def uses(built):
    """{(source, name, source that has it)} of what objects use of each other."""
    everything, homes, found = symbols(built), {}, set()
    for source, letter, name in everything:
        if letter.isupper() and letter != "U":
            homes.setdefault(name, source)
    for source, letter, name in everything:
        if letter == "U" and name in homes:
            found.add((source, name, homes[name]))
    return found


def upward(used):
    return sorted(use for use in used if not may_use(use[0], use[2]) and UPCALLS.get(use[1]) != use[2])


@functools.lru_cache(maxsize=None)
def relocated(path):
    """The names of all that the code and data of an object refer to, its own symbols too."""
    out = subprocess.run(["readelf", "-rW", path], stdout=subprocess.PIPE, check=True, text=True).stdout
    return set(re.findall(r"^\w+ +\w+ +R_\S+ +\w+ +([\w.]+)", out, re.M))


@unittest.skipUnless(shutil.which("readelf"), "no readelf")
class HookedNames(unittest.TestCase):
    def test_no_code_of_the_shim_calls_a_function_that_the_shim_replaces(self):
        hooked, shim = set(hooks()), objects("shim")
        self.assertTrue(hooked)
        calls = {source: sorted(relocated(path) & hooked) for source, path in shim.items()}
        self.assertEqual({source: names for source, names in calls.items() if names}, {},
                         "these come to the shim's own hooks: seep_real has the function behind one, and a system "
                         "call is made directly (libprof/runtime/store/os.h)")

    def test_the_library_links_of_libprof_the_runtime_and_nothing_else(self):
        linked = {source for source in objects("shim") if source.startswith("libprof/")}
        self.assertEqual(linked, set(files_below("libprof/runtime", endings=(".c",))))

    def test_the_runtime_asks_libc_for_nothing_but_to_look_at_memory(self):
        """No malloc, no stdio, no loader, and no system call through libc."""
        built = {source: path for source, path in objects("shim").items() if source.startswith("libprof/runtime/")}
        every = symbols(built)
        ours = {name for _, letter, name in every if letter != "U"}
        asked = {name for _, letter, name in every if letter == "U"} - ours
        self.assertLessEqual({"memcpy", "strlen"}, asked)
        self.assertEqual([name for name in sorted(asked) if not OF_MEMORY.match(name)], [])

    def test_calls_are_seen(self):
        self.assertIn("seep_os_call6", relocated(objects("shim")["preload/record/thread.c"]))


@unittest.skipUnless(shutil.which("nm"), "no nm")
class Rooms(unittest.TestCase):
    def hold(self, below):
        used = uses(objects(below))
        self.assertGreater(len(used), 500)
        wrong = ["%s refers to %s of %s, and files of %s may not" % (*use, room_of(use[0])) for use in upward(used)]
        self.assertFalse(wrong, "\n" + "\n".join(wrong) + "\nALLOWED in tests/structure/test_includes.py says what may "
                         "be used; what the shim asks of rooms above goes through preload/record/upcalls.h")
        return used

    def test_objects_of_the_shim_refer_only_to_rooms_that_they_may_include(self):
        used = self.hold("shim")
        self.assertTrue({name for _, name, _ in used} >= set(UPCALLS), "an exception that nobody needs")

    def test_objects_of_the_library_the_command_and_the_lab_refer_only_to_rooms_that_they_may_include(self):
        self.hold("")

    def test_modules_call_each_other_in_no_circles_but_those_that_are_left(self):
        graph = {}
        for source, name, home in uses(objects("")):
            if module_of(source) != module_of(home) and not home.startswith("kernels/"):
                graph.setdefault(module_of(source), set()).add(module_of(home))
        self.assertEqual(set(circles(graph)), CALL_CIRCLES)

    def test_each_call_of_the_table_is_filled(self):
        calls = re.findall(r"\(\*(\w+)\)", (ROOT / "preload/record/upcalls.h").read_text())
        filled = re.findall(r"^    \.(\w+) = \w+,$", (ROOT / "preload/lifecycle.c").read_text(), re.M)
        self.assertTrue(calls)
        self.assertEqual(calls, filled, "in the order of the header")

    def test_each_function_is_defined_once(self):
        for below in ("shim", ""):
            homes = {}
            for source, letter, name in symbols(objects(below)):
                if letter in "TDBR" and name != "main":
                    homes.setdefault(name, []).append(source)
            self.assertEqual({name: of for name, of in homes.items() if len(of) > 1}, {})

    def test_a_reference_that_runs_up_is_found(self):
        up = ("preload/record/thread.c", "seep_start", "preload/life/start.c")
        down = ("preload/life/start.c", "seep_real", "preload/objects/real.c")
        told = ("preload/record/thread.c", "seep_upcalls", "preload/lifecycle.c")
        moved = ("preload/record/thread.c", "seep_upcalls", "preload/life/start.c")
        self.assertEqual(upward({up, down, told, moved}), [up, moved])


if __name__ == "__main__":
    unittest.main()
