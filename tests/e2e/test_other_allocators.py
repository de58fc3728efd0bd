"""Allocators that the job brings keep working, and their blocks are counted to the byte."""
from tests.e2e.alike import JEMALLOC, MIMALLOC, TCMALLOC, Alike
from tests.e2e.support import SOURCES, SYSTEM_PYTHON, compile_c, job_env, needs, sum_sites, supported


class OtherAllocators(Alike):
    SECTIONS = (("counts_heap", "malloc"), ("counts_heap", "calloc"), ("counts_heap", "reallocarray"),
                ("counts_heap", "events"), ("counts_heap", "storm"), ("counts_threads", "cross"),
                ("counts_threads", "churn"))

    def hold(self, profile):
        for function, said in profile.done.json().items():
            seen = sum_sites(profile.report, function, "host")
            for key in ("allocations", "frees", "allocated_bytes", "live_bytes"):
                self.assertEqual(seen[key], said[key], "%s %s" % (function, key))
            self.assertEqual(sum_sites(profile.report, function, "mmap")["allocations"], 0,
                             "what the allocator maps for itself is not the job's map")

    def preloaded(self, path):
        for subject, section in self.SECTIONS:
            argv = [self.subject(subject), section]
            self.hold(self.run_seep(argv, env=job_env(LD_PRELOAD=path)))
        for subject, section in (("transparent", "errno"), ("handlers", "alarms"), ("transparent", "small-stack")):
            env = job_env(LD_PRELOAD=path)
            if self.command([self.subject(subject), section], env=env).status == 0:  # mimalloc changes errno
                self.subject_ok(section, subject, env=env)
        done = self.run_seep([self.subject("forks"), "threads"], env=job_env(LD_PRELOAD=path)).done
        self.assertEqual(len(done.stdout.splitlines()), 60)

    def linked(self, path):
        program = compile_c(self, SOURCES / "counts_heap.c", self.path("linked"), "-D_GNU_SOURCE", "-I" + str(SOURCES),
                            "-Wl,--no-as-needed", path, "-ldl")
        for section in ("malloc", "events", "storm"):
            self.hold(self.run_seep([program, section]))

    def test_a_heap_that_grows_through_rewritten_functions_is_counted_once(self):
        """UCX, in Open MPI and RAPIDS, has libc's sbrk() jump to itself."""
        profile = self.run_seep([self.subject("rewritten_sbrk")])
        if profile.done.status == 77:
            self.skipTest("code may not be changed here")
        self.assertEqual(profile.done.stdout, b"1\n")
        kept = sum_sites(profile.report, "keep", "host")
        self.assertEqual((kept["allocations"], kept["live_bytes"]), (200, 200 * 100000))
        self.assertEqual(sum_sites(profile.report, "own_map", "mmap")["live_bytes"], 4096)
        self.assertEqual(profile.report["spaces"]["mmap"]["live_bytes"], 4096)

    @needs(JEMALLOC, "no jemalloc")
    def test_jemalloc_preloaded(self):
        self.preloaded(JEMALLOC)

    @needs(TCMALLOC, "no tcmalloc")
    def test_tcmalloc_preloaded(self):
        self.preloaded(TCMALLOC)

    @needs(MIMALLOC, "no mimalloc")
    def test_mimalloc_preloaded(self):
        self.preloaded(MIMALLOC)

    @needs(JEMALLOC, "no jemalloc")
    def test_jemalloc_linked(self):
        self.linked(JEMALLOC)

    @needs(TCMALLOC, "no tcmalloc")
    def test_tcmalloc_linked(self):
        self.linked(TCMALLOC)

    @needs(JEMALLOC, "no jemalloc")
    def test_jemalloc_under_python(self):
        for python in (SYSTEM_PYTHON,):
            done = self.run_seep([python, "-c", "import json, decimal; print(sum(range(10)))"],
                                 env=job_env(LD_PRELOAD=JEMALLOC)).done
            self.assertEqual(done.stdout, b"45\n")

    def test_objects_of_pythons_own_mimalloc_are_said_to_be_unseen(self):
        for version, python in self.every_python():
            if not supported(version) or version < (3, 13):
                continue
            for name in "mimalloc", "mimalloc_debug", "pymalloc", "malloc":
                with self.subTest(python, name=name):
                    profile = self.run_seep([python, "-c", "kept = [str(i) for i in range(9999)]"],
                                            env=job_env(PYTHONMALLOC=name))
                    self.assertEqual(name.startswith("mimalloc"), any(
                        "Python takes its objects from mimalloc (PYTHONMALLOC)" in said
                        for said in profile.report["coverage"]["not_seen"]))

    def test_the_jobs_preload_is_kept(self):
        """A library the user preloads is still there for the job and its children."""
        source = self.path("mark.c")
        with open(source, "w") as f:
            f.write("int seep_test_mark(void) { return 77; }\n")
        lib = compile_c(self, source, self.path("mark.so"), "-shared", "-fPIC")
        script = ("import ctypes, subprocess, sys\nprint(ctypes.CDLL(None).seep_test_mark())\n"
                  "if len(sys.argv) < 2: subprocess.check_call([sys.executable, __file__, 'child'])\n")
        with open(self.path("mark.py"), "w") as f:
            f.write(script)
        profile = self.run_seep([SYSTEM_PYTHON, "-u", self.path("mark.py")], env=job_env(LD_PRELOAD=lib))
        self.assertEqual(profile.done.stdout, b"77\n77\n")
        self.assertEqual(len([p for p in profile.report["processes"] if p["python"]]), 2)


if __name__ == "__main__":
    unittest.main()
