"""Memory that packages take through the CUDA runtime and the driver, on stand-ins for both, against what was done; and
that CUDA and the job cannot tell that anybody looked."""
import json
import os
import unittest

from tests.e2e.support import SOURCES, SUBJECTS, compile_c, job_env
from tests.e2e.test_counts import KEYS, Counts

STANDIN = SUBJECTS.parent / "tests/standin"
RUNTIMES = ("12", "13")
MIB = 1 << 20


class Runtime(Counts):
    def setUp(self):
        super().setUp()
        self.packages = [self.package(version) for version in RUNTIMES]

    def package(self, version):
        folder = STANDIN / version
        self.assertTrue(folder.exists(), "%s is missing: run make first" % folder)
        return compile_c(self, SOURCES / "lib/package_like.c", self.path("package%s.so" % version), "-fPIC", "-shared",
                         "-fno-optimize-sibling-calls", str(folder / ("libcudart.so." + version)),
                         "-Wl,-rpath," + str(folder))

    def env(self, **changes):
        return job_env(LD_LIBRARY_PATH=STANDIN / "12", **changes)

    def section(self, section, *args, env=None, **kw):
        return self.check("runtime", section, *self.packages, *args, env=env or self.env(), **kw)

    def conduct(self, *args, under_seep, **changes):
        """What the stand-in saw of a run: its calls, contexts, changes of a thread's state."""
        log = self.path("log%d.json" % under_seep)
        env = self.env(STANDIN_LOG=log, **changes)
        argv = [self.subject("runtime"), *args]
        done = self.run_seep(argv, env=env).done if under_seep else self.command(argv, env=env)
        self.assertEqual(done.status, 0, repr(done))
        with open(log) as f:
            return {key: value for key, value in json.load(f).items() if key != "pid"}


class Blocks(Runtime):
    def test_every_way_to_get_memory_by_two_runtimes_in_one_process(self):
        profile, did = self.section("every")
        self.assertEqual(set(profile.report["spaces"]) - {"host", "mmap", "shm"}, {"device:0", "device:1", "pinned"})
        self.assertEqual(profile.report["spaces"]["device:0"]["live_bytes"], did["subject_first"]["live_bytes"])
        told, = (d for d in profile.report["coverage"]["runtime"]["devices"] if d["device"] == 0)
        self.assertEqual((told["driver_bytes"], told["unexplained_bytes"]), (did["subject_first"]["live_bytes"],) * 2)
        self.assertTrue([s for s in profile.report["coverage"]["not_seen"] if s.startswith("device:0: ")])
        for name in ("cudaMalloc", "cudaMallocFromPoolAsync_ptsz", "cudaFreeMipmappedArray", "cudaHostAlloc"):
            self.assertIn(name, profile.report["coverage"]["hooks"])

    def test_nothing_is_counted_of_nothing_and_of_what_failed(self):
        profile, _ = self.section("nothing")
        self.assertNotIn("pinned", profile.report["spaces"])

    def test_a_free_that_fails_leaves_the_block_where_it_is(self):
        self.section("failed_frees", env=self.env(STANDIN_FAIL="cudaFree:2,cudaFreeHost:2"))

    def test_the_device_that_one_runtime_sets_is_the_others(self):
        self.section("other_device")

    def test_threads_that_get_an_address_that_was_just_freed(self):
        for delay in ("0", "20"):
            self.section("threads", env=self.env(STANDIN_DELAY_US=delay))

    def test_a_child_that_lets_go_of_its_parents_blocks_changes_nothing(self):
        profile, did = self.profiled("runtime", "forked", *self.packages, env=self.env())
        seen, said = profile.report["spaces"]["device:0"], did["subject_first"]
        self.assertEqual({k: seen[k] for k in KEYS}, {k: said[k] for k in KEYS})

    def test_what_lies_elsewhere_is_not_counted_again(self):
        profile, _ = self.section("aliases")
        self.assertNotIn("pinned", profile.report["spaces"])
        runtime = profile.report["coverage"]["runtime"]
        self.assertEqual((runtime["registered_bytes"], runtime["registered_peak_bytes"]), (MIB // 2, MIB))
        self.assertEqual(runtime["ipc_blocks"], 1)

    def test_a_device_that_is_reset_has_nothing_of_the_process(self):
        self.section("reset")

    def test_off_records_nothing_of_devices(self):
        profile, _ = self.profiled("runtime", "every", *self.packages, env=self.env(), options=["--gpu=off"])
        self.assertEqual(set(profile.report["spaces"]) - {"host", "mmap", "shm"}, set())

    def test_a_refusal_is_in_the_report(self):
        profile, _ = self.section("nothing")
        self.assertEqual(profile.report["coverage"]["runtime"]["refused"], 2)


class Segments(Runtime):
    def test_segments_that_grow_are_counted_as_they_are_mapped(self):
        for section in ("entry_points", "entry_points_by_version"):
            with self.subTest(section):
                self.section(section)

    def test_and_where_the_driver_is_asked_itself(self):
        table = compile_c(self, SOURCES / "lib/driver_table_like.c", self.path("libc10_cuda.so"), "-fPIC", "-shared",
                          "-ldl")
        self.section("table", table)


class Conduct(Runtime):
    def test_cuda_sees_the_same_calls_contexts_and_errors_as_without_seep(self):
        for section in ("every", "nothing", "forked", "aliases", "reset", "entry_points"):
            with self.subTest(section):
                plain, seen = (self.conduct(section, *self.packages, under_seep=how) for how in (False, True))
                self.assertEqual(seen, plain)

    def test_what_the_driver_takes_of_the_host_is_not_the_jobs(self):
        """In the visible mode the driver maps and mallocs through libc inside its calls, as the real one does."""
        hosts = []
        for visible in (None, "1"):
            profile, _ = self.section("every", env=self.env(STANDIN_VISIBLE=visible))
            spaces = profile.report["spaces"]
            hosts.append({s: spaces[s]["live_bytes"] for s in ("host", "mmap", "shm") if s in spaces})
        self.assertEqual(hosts[0], hosts[1])


if __name__ == "__main__":
    unittest.main()
