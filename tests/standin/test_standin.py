"""The stand-ins for CUDA answer like the real libraries, and their log lists the calls."""
import json
import os
import sys
import unittest

from tests.e2e.support import ROOT, SEEP, SeepCase, compile_c, job_env

STANDINS = os.path.join(os.path.dirname(SEEP), "tests/standin")
MIB = 1 << 20


class Standins(SeepCase):
    def logs(self, section, **env):
        """What each version's log says of a section of the subject."""
        for version, runtime in (("11", "libcudart.so.11.0"), ("12", "libcudart.so.12"), ("13", "libcudart.so.13")):
            libs, log = os.path.join(STANDINS, version), self.path("log" + version)
            program = self.path("subject" + version)
            if not os.path.exists(program):
                compile_c(self, ROOT / "tests/standin/subject.c", program, "-pthread", "-I%s" % ROOT, "-L" + libs,
                          *["-l:" + lib for lib in (runtime, "libcuda.so.1", "libnvidia-ml.so.1")])
            with self.subTest(version=version, **env):
                done = self.command([program, section], env=job_env(LD_LIBRARY_PATH=libs, STANDIN_LOG=log, **env))
                self.assertEqual(done.status, 0, done)
                with open(log) as f:
                    yield json.load(f)

    def live(self, log):
        return {(row["kind"], row["device"]): row["bytes"] for row in log["live"]}

    def test_every_way_to_memory_is_counted_by_device_and_kind(self):
        for visible in ("", "1"):
            for log in self.logs("memory", STANDIN_VISIBLE=visible):
                self.assertEqual(self.live(log), {("malloc", 0): MIB, ("malloc", 1): 512 * 30, ("async", 0): 7000})
                self.assertEqual((log["contexts"], log["device_changes"]), ([1, 1], 1))
                self.assertEqual((log["calls"]["cudaFree"], log["calls"]["cudaMalloc"]), (6, 2))
                self.assertEqual((log["error_changes"], log["failures"], log["forked_calls"]), (2, 0, 0))

    def test_memory_of_the_host_is_on_no_device(self):
        for log in self.logs("host"):
            self.assertEqual(self.live(log), {("pinned", -1): 2000})

    def test_physical_memory_lives_while_it_is_mapped(self):
        for log in self.logs("expandable"):
            self.assertEqual(self.live(log),
                             {("created", 1): 2 * MIB, ("mapped", 1): 2 * MIB, ("reserved", 0): 1 << 40})

    def test_a_full_device_gives_nothing(self):
        for log in self.logs("full", STANDIN_CAPACITY="100000000"):
            self.assertEqual(self.live(log), {("malloc", 0): 100000000 - 64 * MIB})

    def test_every_third_call_fails_where_that_is_wished(self):
        for log in self.logs("failing", STANDIN_FAIL="cudaFree:1,cudaMalloc:3"):
            self.assertEqual((log["failures"], self.live(log)), (3, {("malloc", 0): 6000}))

    def test_a_forked_child_is_told_and_counted_once_there_is_a_context(self):
        for log in self.logs("forked"):
            self.assertEqual((log["forked_calls"], log["calls"]["cudaMalloc"]), (1, 1))
            self.assertNotIn("cudaFree", log["calls"])

    def test_threads_that_use_addresses_again(self):
        for log in self.logs("threads", STANDIN_DELAY_US="20"):
            self.assertEqual((self.live(log), log["calls"]["cudaMalloc"]), ({}, 16000))

    def test_nvml_answers_by_process(self):
        for shared in ("", self.path("shared")):
            for _ in self.logs("nvml", STANDIN_SHARED=shared):
                pass

    def test_copies_stay_within_what_was_given_out(self):
        for env in ({}, {"STANDIN_UNTOUCHED": "1"}):
            for log in self.logs("copies", **env):
                self.assertEqual(log["calls"]["cudaMemcpy"], 2)

    def test_a_capture_is_its_streams_own(self):
        for _ in self.logs("captures"):
            pass

    def test_libraries_are_made_of_the_names_that_a_wheel_asks_for(self):
        wheel, made = self.path("wheel"), self.path("made")
        os.mkdir(wheel)
        self.library("libcublas.so.12", "int cublasCreate_v2(void **h) { return 1; }"
                     "int cublasSgemm(void) { return 1; }",
                     "libcublas.so.12 { global: *; };")
        self.library("libnccl.so.2", "int ncclGetVersion(int *v) { return 1; }", "{ global: *; };")
        self.library("wheel/libwheel.so", "int cublasCreate_v2(void **); int cublasSgemm(void);"
                     "int ncclGetVersion(int *);"
                     "int wheel(void) { void *h = 0; int v = 0; return cublasCreate_v2(&h) + cublasSgemm() + !h"
                     " + ncclGetVersion(&v) + (v < 2); }", "{ global: *; };",
                     self.path("libcublas.so.12"), self.path("libnccl.so.2"))
        done = self.command([sys.executable, ROOT / "tests/standin/generate.py", wheel, made])
        self.assertEqual(done.status, 0, done)
        self.assertEqual(sorted(f for f in os.listdir(made) if f[-1].isdigit()), ["libcublas.so.12", "libnccl.so.2"])
        done = self.command([sys.executable, "-c", "import ctypes, sys; sys.exit(ctypes.CDLL(%r, ctypes.RTLD_GLOBAL)"
                             ".wheel())" % os.path.join(wheel, "libwheel.so")],
                            env=job_env(LD_LIBRARY_PATH=made, LD_BIND_NOW="1"))
        self.assertEqual((done.status, done.err), (0, ""), done)

    def test_one_of_a_wheel_s_libraries_may_ask_for_a_name_without_its_version(self):
        wheel, made = self.path("wheel"), self.path("made")
        os.mkdir(wheel)
        code = "int cublasSgemm(void) { return 1; }"
        self.library("libcublas.so.12", code, "libcublas.so.12 { global: *; };")
        user = "int cublasSgemm(void); int %s(void) { return cublasSgemm(); }"
        self.library("wheel/libwith.so", user % "with", "{ global: *; };", self.path("libcublas.so.12"))
        os.rename(self.path("libcublas.so.12"), self.path("versioned"))
        self.library("libcublas.so.12", code, "{ global: *; };")
        self.library("wheel/libwithout.so", user % "without", "{ global: *; };", self.path("libcublas.so.12"))
        done = self.command([sys.executable, ROOT / "tests/standin/generate.py", wheel, made])
        self.assertEqual(done.status, 0, done)
        load = "import ctypes, sys; print([getattr(ctypes.CDLL('%s/lib%%s.so' %% n), n)() for n in ('with', 'without')])" % wheel
        done = self.command([sys.executable, "-c", load], env=job_env(LD_LIBRARY_PATH=made, LD_BIND_NOW="1"))
        self.assertEqual((done.status, done.stdout, done.err), (0, b"[0, 0]\n", ""), done)

    def library(self, name, code, version_script, *others):
        source, script = self.path("source.c"), self.path("script")
        for path, text in ((source, code), (script, version_script)):
            with open(path, "w") as f:
                f.write(text)
        compile_c(self, source, self.path(name), "-w", "-shared", "-fPIC", "-Wl,-soname," + os.path.basename(name),
                  "-Wl,--version-script=" + script, *others)


if __name__ == "__main__":
    unittest.main()
