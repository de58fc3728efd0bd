"""Children of every kind are in the same report, each with its own counts."""
import ctypes
import json
import mmap
import os
import time
import unittest

from tests.e2e.support import ROOT, WRAPPED, SeepCase, compile_c, needs, sum_sites

# Prints of each profile whose it is and how many bytes of the heap were there at its fork.
DUMP = """
#include <stdio.h>
#include "libprof/format/profile_format.h"
static struct seep_header h;
int main(int n, char **paths)
{
    for (int i = 1; i < n; i++) {
        FILE *f = fopen(paths[i], "rb");
        if (f && fread(&h, sizeof h, 1, f) == 1)
            printf("%u %llu\\n", h.pid, (unsigned long long)h.spaces[0].inherited_bytes);
        if (f)
            fclose(f);
    }
    return 0;
}
"""


def kernel_wipes():
    """Whether a page can be had that every child finds cleared (Linux 4.14). An emulator's user mode takes any advice."""
    madvise, page = ctypes.CDLL(None).madvise, mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    at = ctypes.addressof(ctypes.c_char.from_buffer(page))
    wipe_on_fork, no_advice = 18, 9999
    return [madvise(ctypes.c_void_p(at), ctypes.c_size_t(mmap.PAGESIZE), n) for n in (wipe_on_fork, no_advice)] == [0, -1]


WIPES = kernel_wipes()


class Forks(SeepCase):
    def profiled(self, section, **kw):
        profile = self.run_seep([self.subject("forks"), section], **kw)
        lines = [json.loads(x) for x in profile.done.stdout.decode().splitlines()]
        for line in lines:
            self.assertNotIn("wait_status", line, "a child ended otherwise than without seep")
        return profile.report, lines

    def hold(self, report, lines, frees=True):
        """Per function the sum over all processes; every process is there and none is below zero."""
        said = {}
        for line in lines:
            for function, t in line["tally"].items():
                sums = said.setdefault(function, dict(allocations=0, frees=0, allocated_bytes=0))
                for key in sums:
                    sums[key] += t[key]
        for function, sums in said.items():
            seen = sum_sites(report, function, "host")
            keys = [k for k in sums if frees or k != "frees"]
            self.assertEqual({k: seen[k] for k in keys}, {k: sums[k] for k in keys}, function)
        pids = {p["pid"] for p in report["processes"]}
        for line in lines:
            self.assertIn(line["pid"], pids, line["who"])
        for process in report["processes"]:
            for space, totals in process["spaces"].items():
                for key, value in totals.items():  # one that fell below 0 would be huge
                    if key != "growth_bytes_per_step":
                        self.assertLess(value, WRAPPED, "%s of %s in %s" % (key, space, process["argv"]))
                self.assertGreaterEqual(totals["allocations"], totals["frees"], process)
        for site in report["sites"]:
            self.assertGreaterEqual(site["allocations"], site["frees"], site)
            self.assertLess(site["live_bytes"], WRAPPED, site)
        self.assertEqual(report["job"]["dropped_events"], 0)
        return said

    def test_child_that_frees_inherited_blocks(self):
        report, lines = self.profiled("fork")
        self.hold(report, lines)
        parent = sum_sites(report, "parent_malloc")
        freed = sum(100 + i for i in range(10))
        self.assertEqual(parent["live_bytes"], sum(100 + i for i in range(1000)) - freed)
        child = sum_sites(report, "child_malloc")
        self.assertEqual(child["live_bytes"], sum(50 + i for i in range(0, 300, 2)))
        self.assertIs(report["job"]["complete"], True)

    def test_child_has_its_parent(self):
        report, lines = self.profiled("fork")
        child = next(x for x in lines if x["who"] == "child")
        process = next(p for p in report["processes"] if p["pid"] == child["pid"])
        self.assertEqual(process["ppid"], child["ppid"])

    def test_five_generations(self):
        report, lines = self.profiled("nested")
        self.assertEqual(len(lines), 6)
        self.hold(report, lines)
        self.assertEqual(len(report["processes"]), 6)

    def test_fork_while_threads_allocate_does_not_hang_the_child(self):
        report, lines = self.profiled("threads", timeout=60)
        self.assertEqual(len(lines), 60)
        self.hold(report, lines)

    def test_two_hundred_children(self):
        report, lines = self.profiled("many")
        self.assertEqual(len(lines), 200)
        self.hold(report, lines)
        self.assertEqual(len(report["processes"]), 201)

    def test_two_hundred_children_keep_the_report_fast(self):
        profile = self.run_seep([self.subject("forks"), "many"])
        start = time.monotonic()
        self.report(profile.folder)
        self.assertLess(time.monotonic() - start, 5)

    @needs(WIPES, "an emulator's user mode: it does not say what a program is that is executed by its descriptor")
    def test_exec_spawn_system_and_a_scrubbed_environment_stay_in(self):
        report, lines = self.profiled("execs", options=["--helpers", "full"])
        self.assertEqual(len(lines), 12)
        self.hold(report, lines)

    def test_a_child_that_only_runs_another_program_is_in_the_report_once(self):
        report, lines = self.profiled("execs")
        workers = {line["pid"] for line in lines}
        seen = [p["pid"] for p in report["processes"] if p["pid"] in workers]
        self.assertEqual(sorted(seen), sorted(workers))

    def test_every_child_knows_what_it_inherited(self):
        with open(self.path("dump.c"), "w") as f:
            f.write(DUMP)
        dump = compile_c(self, self.path("dump.c"), self.path("dump"), "-I" + str(ROOT))
        folder = self.fresh()
        profile = self.run_seep([self.subject("forks"), "inherit"], folder=folder)
        lines = {x["who"]: x["pid"] for x in map(json.loads, profile.done.stdout.decode().splitlines())}
        out = self.command([dump] + [os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".seep")])
        inherited = dict(map(int, x.split()) for x in out.stdout.decode().splitlines())
        filled = sum(100 + i for i in range(1000))
        self.assertLess(abs(inherited[lines["fork"]] - filled), 100000)
        if WIPES:
            self.assertLess(abs(inherited[lines["clone"]] - filled - (9 << 20)), 100000)

    @needs(os.geteuid() == 0, "only root can change its root")
    def test_children_without_a_profile_are_told_of(self):
        report, lines = self.profiled("chroot", cwd=self.dir)
        self.assertIs(report["job"]["complete"], False)
        said = json.dumps(report["coverage"])
        for line in lines:
            if line["who"] != "parent":
                self.assertIn("pid %d (forks): its profile could not be created" % line["pid"], said)

    def test_exec_that_fails_leaves_the_job_profiled(self):
        report, lines = self.profiled("failed-exec")
        self.hold(report, lines)

    def test_exec_of_itself_loses_nothing(self):
        report, lines = self.profiled("exec-self")
        self.hold(report, lines)
        self.assertEqual(sum_sites(report, "child_malloc")["allocations"], 500)

    @needs(WIPES, "no kernel here that clears a page in every child")
    def test_child_made_by_a_bare_clone(self):
        report, lines = self.profiled("raw-clone")
        self.assertEqual(len(lines), 2)
        self.hold(report, lines)

    def test_daemon_is_in_the_report(self):
        folder = self.fresh()
        profile = self.run_seep([self.subject("forks"), "daemon"], folder=folder)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            report = self.report(folder, "--all")
            if all(p["exit"]["kind"] != "running" for p in report["processes"]) and \
                    sum_sites(report, "child_malloc")["allocations"] >= 60:
                break
            time.sleep(0.2)
        self.assertEqual(sum_sites(report, "child_malloc")["allocations"], 60, repr(profile.done))

    def test_every_way_to_end_is_told_apart(self):
        report, lines = self.profiled("ends")
        self.assertEqual(len(lines), 9)
        self.hold(report, lines)
        want = [("exit", 3), ("exit", 4), ("exit", 5), ("exit", 6), ("exit", 7),
                ("signal", 6), ("signal", 11), ("signal", 9), ("signal", 15)]
        exits = {p["pid"]: (p["exit"]["kind"], p["exit"]["value"]) for p in report["processes"]}
        self.assertEqual([exits[x["pid"]] for x in lines], want)
        main = next(p for p in report["processes"] if p["pid"] == lines[0]["ppid"])
        self.assertEqual((main["exit"]["kind"], main["exit"]["value"]), ("exit", 0))

    def test_one_profile_a_process_private_to_the_user(self):
        folder = self.fresh()
        self.run_seep([self.subject("forks"), "nested"], folder=folder)
        self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
        profiles = [f for f in os.listdir(folder) if f.endswith(".seep")]
        self.assertEqual(len(profiles), 6)
        for name in os.listdir(folder):
            self.assertEqual(os.stat(os.path.join(folder, name)).st_mode & 0o777, 0o600, name)


if __name__ == "__main__":
    unittest.main()
