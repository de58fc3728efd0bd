"""Verdicts on jobs in C: the names of functions say what they are for, as in Python."""
import os
import re

from tests.e2e.support import ROOT, SeepCase, compile_c, pythons, supported

SOURCE = "native_job.c"
LEAK = """
#include <seep.h>
#include <stdlib.h>
char *volatile kept;
int main(void)
{
    for (int step = 0; step < 120; step++) {
        kept = malloc(%d);
        seep_step();
    }
    return kept == 0;
}
"""
THREADS = """
import seep, threading
ends = []
for step in range(120):
    ends.append(threading.Event())
    threading.Thread(target=ends[-1].wait, daemon=True).start()
    seep.step()
"""


def line_of(mark):
    """The line of the subject that carries this mark."""
    text = (ROOT / "tests/subjects" / SOURCE).read_text()
    return next(i for i, line in enumerate(text.splitlines(), 1) if re.search(r"/\* LINE %s\b" % mark, line))


class NativeJobs(SeepCase):
    def findings(self, section):
        profile = self.run_seep([self.subject("native_job"), section])
        self.report_json = profile.report
        return profile.report["findings"]

    def only(self, section, pattern, part, function, mark):
        found = self.findings(section)
        self.assertEqual(len(found), 1, [f["title"] for f in found])
        finding = found[0]
        self.assertEqual((finding["pattern"], finding["part"], finding["frame"]["function"], finding["frame"]["line"]),
                         (pattern, part, function, line_of(mark)))
        return finding

    def test_items_loaded_up_front_are_the_datasets_not_the_wrappers(self):
        finding = self.only("eager", "eager-retention", "dataset", "dataset_load_item", "item")
        self.assertEqual(finding["count"], 40)

    def test_items_kept_when_first_seen(self):
        self.only("lazy", "first-touch-cache", "dataset", "dataset_load_item", "item")

    def test_a_graph_of_nodes_that_is_kept(self):
        finding = self.only("graph", "graph-retention", "model", "autograd_node_make", "saved")
        per_step = 4 * (4096 + 16)
        self.assertAlmostEqual(finding["growth_bytes_per_step"]["value"], per_step, delta=per_step / 50)

    def test_workers_are_known_by_their_loop(self):
        finding = self.only("workers", "worker-multiplication", "other", "worker_loop", "table")
        self.assertEqual(finding["live_bytes"], 3 * (4 << 20))
        self.assertEqual(sorted(p["role"] for p in self.report_json["processes"]),
                         ["loader-worker"] * 3 + ["trainer"])

    def test_a_cache_of_a_device_is_one_finding(self):
        self.only("cache", "allocator-cache", "other", "convolve", "segment")

    def test_lines_of_two_programs_are_two_lines_though_their_names_are_relative(self):
        commands = []
        for name, size in (("one", 30000), ("two", 50000)):
            folder = self.path(name)
            os.mkdir(folder)
            source = os.path.join(folder, "job.c")
            with open(source, "w") as f:
                f.write(LEAK % size)
            commands.append(compile_c(self, source, os.path.join(folder, "job"), "-g", "-I%s" % (ROOT / "preload"),
                                      "-fdebug-prefix-map=%s=." % folder))
        report = self.run_seep(["/bin/sh", "-c", "; ".join(commands)], ["--helpers", "full"]).report
        found = [f for f in report["findings"] if f["pattern"] == "unbounded-growth"]
        self.assertEqual([f["frame"]["file"][0] for f in found], [".", "."], found)
        self.assertEqual(sorted(round(f["growth_bytes_per_step"]["value"], -3) for f in found), [30000, 50000])

    def test_lines_are_named_without_an_index_of_units(self):
        """As Clang writes it. main() lies before what is linked before it."""
        sources = [self.path("one.c"), self.path("main.c")]
        with open(sources[0], "w") as f:
            f.write("#include <stdlib.h>\nchar *kept;\nvoid one(void)\n{\n    kept = malloc(70000);\n    kept[0] = 1;\n}\n")
        with open(sources[1], "w") as f:
            f.write("void one(void);\nint main(void)\n{\n    one();\n    return 0;\n}\n")
        job = compile_c(self, sources[0], self.path("job"), sources[1])
        self.assertEqual(self.command(["objcopy", "--remove-section=.debug_aranges", job]).status, 0)
        report = self.run_seep([job]).report
        site = next(s for s in report["sites"] if s["allocated_bytes"] == 70000)
        self.assertEqual([(os.path.basename(f["file"]), f["line"]) for f in site["stack"][:2]],
                         [("one.c", 5), ("main.c", 4)])

    def test_nothing_is_found_in_a_job_that_keeps_nothing(self):
        self.assertEqual(self.findings("nothing"), [])

    def test_epochs_are_counted_by_their_beginnings_and_by_their_ends(self):
        for section in ("nothing", "ends"):
            self.findings(section)
            self.assertEqual(self.report_json["job"]["epochs"], 3, section)

    def test_what_python_asks_for_by_itself_is_not_told_of_another_function(self):
        """A thread's first frame since 3.11, 16 KiB before any of Python's code runs."""
        for version, python in pythons():
            if not supported(version) or version < (3, 11):
                continue
            with self.subTest(python=python):
                report = self.run_seep([python, "-c", THREADS], ["--holders", "off"]).report
                found = [f for f in report["findings"] if (f["frame"] or {}).get("kind") == "native"]
                self.assertTrue(found, report["findings"])
                for finding in found:
                    site = next(s for s in report["sites"] if s["id"] == finding["sites"][0])
                    names = [None] + [f["function"] for f in site["stack"]]  # None: a Python without symbols
                    self.assertIn(finding["frame"]["function"], names)
