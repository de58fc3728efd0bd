"""Memory that packages take through the CUDA runtime and the driver, on stand-ins for both, against what was done; and
that CUDA and the job cannot tell that anybody looked."""
import glob
import json
import subprocess
import threading
import time
import unittest

from tests.e2e.support import ROOT, SOURCES, SUBJECTS, compile_c, job_env
from tests.e2e.test_counts import KEYS, Counts

STANDIN = SUBJECTS.parent / "tests/standin"
RUNTIMES = ("12", "13")
MIB = 1 << 20
CONTEXT = 64 * MIB  # the stand-in's


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
        self.assertTrue([s for s in profile.report["coverage"]["not_seen"] if s.startswith("GPU 0: ")])
        for name in ("cudaMalloc", "cudaMallocFromPoolAsync_ptsz", "cudaFreeMipmappedArray", "cudaHostAlloc"):
            self.assertIn(name, profile.report["coverage"]["hooks"])

    def test_nothing_is_counted_of_nothing_and_of_what_failed(self):
        profile, _ = self.section("nothing")
        pinned = profile.report["spaces"]["pinned"]  # some was asked for, and refused
        self.assertEqual([pinned[k] for k in ("allocations", "frees", "allocated_bytes", "peak_bytes")], [0] * 4)

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

    def test_what_could_not_be_pinned_is_told_by_how_it_was_asked_for(self):
        env = self.env(STANDIN_FAIL="cudaHostRegister:2")
        report = self.run_seep([self.subject("runtime"), "refused_pins", *self.packages], env=env).report
        allocated, registered = report["out_of_memory"]
        for refused, asked, registers in (allocated, 1 << 46, False), (registered, MIB, True):
            self.assertEqual((refused["space"], refused["source"], refused["asked_bytes"], refused["registers"]),
                             ("pinned", "runtime", asked, registers))
            self.assertEqual(refused["registered_bytes"], MIB)
            self.assertEqual(refused["frame"]["function"], "package_registered" if registers else "package_made")
        finding, = (f for f in report["findings"] if f["pattern"] == "out-of-memory")
        self.assertIn("cudaHostUnregister", finding["advice"])
        self.assertIn("1.0 MiB registered by then", finding["evidence"][0])
        self.assertEqual(report["coverage"]["runtime"]["refused"], 2)

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


class Used(Runtime):
    """What the driver says of a process is asked of it outside the job."""

    def use(self, *options, looks=2, **changes):
        """By device, once so many looks have been taken; of 0 after a while in which one would have been."""
        self.tool = compile_c(self, SOURCES / "lib/device_use.c", self.path("device_use"), "-I", str(ROOT))
        folder, done = self.fresh(), self.path("done%d" % self._n)
        ender = threading.Thread(target=self.end_it, args=(folder, done, looks))
        ender.start()
        self.run_seep([self.subject("runtime"), "waits", *self.packages, done], options=options, folder=folder,
                      env=self.env(STANDIN_SHARED=self.path("ledger%d" % self._n), **changes))
        ender.join()
        self.folder, self.settings = folder, self.said(folder)["settings"]
        return self.said(folder)["use"]

    def said(self, folder):
        file, = glob.glob(folder + "/*.seep")
        return json.loads(subprocess.run([self.tool, file], stdout=subprocess.PIPE, check=True).stdout)

    def end_it(self, folder, done, looks):
        deadline = time.monotonic() + 30
        while not glob.glob(folder + "/*.seep") and time.monotonic() < deadline:
            time.sleep(0.01)
        if not looks:
            time.sleep(1)
        while looks and time.monotonic() < deadline and not self.is_looked_at(folder, looks):
            time.sleep(0.01)
        open(done, "w").close()

    def is_looked_at(self, folder, looks):
        try:
            return any(use["looks"] >= looks and use["used"] > CONTEXT for use in self.said(folder)["use"])
        except subprocess.CalledProcessError:
            return False  # the profile has just been made, and has no head yet

    def test_what_a_process_uses_of_a_device_its_context_included(self):
        first, second = self.use()[:2]
        self.assertEqual((first["capacity"], first["used"]), (8 << 30, CONTEXT + 60 * 1024))
        self.assertGreaterEqual(first["used_peak"], first["used"])
        self.assertGreaterEqual(first["all_used"], first["used"])
        self.assertGreaterEqual(first["looks"], 2)
        self.assertEqual(second, dict.fromkeys(second, 0))
        used = self.report(self.folder)["timeline"]["devices"]["0"]["used_bytes"]
        self.assertEqual(used[-1], CONTEXT + 60 * 1024)
        self.assertEqual(len(used), len(self.report(self.folder)["timeline"]["step"]))

    def test_of_a_device_without_memory_of_its_own_its_users_tell(self):
        """GB10's takes the host's, and NVML says nothing of how much there is."""
        first = self.use(STANDIN_ONE_MEMORY="1")[0]
        self.assertEqual((first["capacity"], first["used"]), (0, CONTEXT + 60 * 1024))
        self.assertGreaterEqual(first["all_used"], first["used"])

    def test_devices_have_the_numbers_that_the_process_sees(self):
        """The stand-in has no such variable: what NVML calls the first is the process's second."""
        first, second = self.use(CUDA_VISIBLE_DEVICES="1,GPU-00000000")[:2]
        self.assertEqual(first, dict.fromkeys(first, 0))
        self.assertEqual(second["used"], CONTEXT + 60 * 1024)

    def test_how_pytorchs_allocator_was_told_to_work_is_noted_and_nothing_else_of_the_environment(self):
        self.use(PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True,max_split_size_mb:12345")
        self.assertEqual(self.settings, 1 | 4)
        for file in glob.glob(self.path("*.d/*.seep")):
            with open(file, "rb") as f:
                self.assertNotIn(b"12345", f.read())

    def test_a_way_that_is_not_known_is_told(self):
        done = self.seep("run", "--gpu=all", "--", "true")
        self.assertEqual(done.status, 125)
        self.assertIn("choose auto, runtime", self.one_line_error(done))

    def test_nobody_asks_where_only_the_runtime_is_to_be_seen(self):
        for first in (self.use("--gpu=runtime", looks=0)[0], self.use("--gpu=off", looks=0)[0]):
            self.assertEqual(first, dict.fromkeys(first, 0))


class Conduct(Runtime):
    def test_cuda_sees_the_same_calls_contexts_and_errors_as_without_seep(self):
        for section in ("every", "nothing", "forked", "aliases", "reset", "entry_points"):
            with self.subTest(section):
                self.is_the_same(section)

    def test_and_where_memory_cannot_be_pinned(self):
        self.is_the_same("refused_pins", STANDIN_FAIL="cudaHostRegister:2")

    def is_the_same(self, section, **changes):
        plain, seen = (self.conduct(section, *self.packages, under_seep=how, **changes) for how in (False, True))
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
