"""Blocks of PyTorch's allocator on a device, as made-up libraries report them, against what was done."""
import unittest

from tests.e2e.support import SHIM, SOURCES, SUBJECTS, SYSTEM_PYTHON, compile_c, job_env
from tests.e2e.test_counts import Counts

JOB = """import ctypes
import sys

c10, engine = (ctypes.CDLL(path, ctypes.RTLD_GLOBAL) for path in sys.argv[1:3])
device = int(sys.argv[3])
c10.c10_made.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)
engine.backward.argtypes = (ctypes.c_int, ctypes.c_int64)


class Loss:
    def forward(self, i):
        c10.c10_made(1, device, 0x7000000000 + 4096 * i, 1024)  # FORWARD

    def backward(self, size=2048):
        return engine.backward(device, size)  # BACKWARD


for i in range(20):
    loss = Loss()
    loss.forward(i)
    assert loss.backward() == i + 1
loss.backward(-4096)
"""
SIGNATURES = {"9": "up to 1.9", "13": "up to 1.13", "20": "from 2.0 on"}


class Tensors(Counts):
    def library(self, signature):
        return compile_c(self, SOURCES / "lib/c10_like.c", self.path("libc10-%s.so" % signature), "-fPIC", "-shared",
                         "-DSIGNATURE=" + signature)

    def test_backward_is_named_by_the_line_that_called_it(self):
        c10 = self.library("20")
        engine = compile_c(self, SOURCES / "lib/engine_like.c", self.path("libengine.so"), "-fPIC", "-shared",
                           "-pthread", c10)
        job = self.path("job.py")
        with open(job, "w") as f:
            f.write(JOB)
        for device in ("0", "1"):  # a rank may have another one only
            with self.subTest(device=device):
                report = self.run_seep([SYSTEM_PYTHON, job, c10, engine, device]).report
                self.assertEqual(self.bytes_by_line(report, "tensor:" + device),
                                 {self.line_of("# FORWARD"): 20 * 1024, self.line_of("# BACKWARD"): 20 * 2048})
                self.assertEqual(report["coverage"]["tensors"][0]["drift_bytes"], 0)
                failed, = report["out_of_memory"]
                self.assertEqual((failed["space"], failed["frame"]["line"]),
                                 ("tensor:" + device, self.line_of("# BACKWARD")))

    def test_segments_that_grow_in_backward_are_its_callers_too(self):
        standin = SUBJECTS.parent / "tests/standin/12"
        self.assertTrue(standin.exists(), "%s is missing: run make first" % standin)
        c10 = self.library("20")
        table = compile_c(self, SOURCES / "lib/driver_table_like.c", self.path("libc10_cuda.so"), "-fPIC", "-shared",
                          "-ldl")
        engine = compile_c(self, SOURCES / "lib/engine_like.c", self.path("libengine.so"), "-fPIC", "-shared",
                           "-pthread", "-Wl,--no-as-needed", c10, table)
        job = self.path("job.py")
        with open(job, "w") as f:
            f.write(JOB.replace("import sys\n", "import sys\n\nruntime = ctypes.CDLL('libcudart.so.12', "
                                                "ctypes.RTLD_GLOBAL)\nassert runtime.cudaSetDevice(0) == 0\n", 1))
        report = self.run_seep([SYSTEM_PYTHON, job, c10, engine, "0"], env=job_env(LD_LIBRARY_PATH=standin)).report
        self.assertEqual(self.bytes_by_line(report, "device:0"), {3 + self.line_of("# BACKWARD"): 20 * 2 * 1024 * 1024})

    def line_of(self, mark):
        return next(i for i, line in enumerate(JOB.splitlines(), 1) if mark in line)

    def bytes_by_line(self, report, space):
        by_line = {}
        for site in report["sites"]:
            if site["space"] == space and site["allocations"]:
                line = site["stack"][site["look_at"]]["line"]
                by_line[line] = by_line.get(line, 0) + site["live_bytes"]
        return by_line

    def each(self, section):
        for signature, versions in SIGNATURES.items():
            with self.subTest(versions):
                yield signature, *self.check("tensors", section, self.library(signature))

    def test_blocks_are_counted_by_device_in_every_version(self):
        for _, profile, did in self.each("plain"):
            spaces = profile.report["spaces"]
            self.assertEqual(set(spaces) - {"host", "mmap", "shm"}, {"tensor:0", "tensor:1"})
            self.assertEqual(spaces["tensor:0"]["live_bytes"], did["subject_tensor"]["live_bytes"])
            self.assertEqual([s for s in profile.report["coverage"]["not_seen"] if "tensor" in s], [])

    def test_its_own_totals_agree_with_what_was_seen(self):
        for signature, profile, did in self.each("plain"):
            first, second = profile.report["coverage"]["tensors"]
            live = did["subject_tensor"]["live_bytes"]
            totals = signature != "9"  # of those versions none are known
            self.assertEqual(first, {"device": 0, "reports": 150, "live_bytes": live,
                                     "allocated_bytes": live * totals, "drift_bytes": 0,
                                     "reserved_bytes": did["subject_tensor"]["allocated_bytes"] * totals})
            self.assertEqual((second["device"], second["reports"], second["live_bytes"]), (1, 10, 10 * 2048))

    def test_a_budget_holds_the_peak_of_a_device(self):
        profile, _ = self.check("tensors", "plain", self.library("20"))
        peak = profile.report["spaces"]["tensor:0"]["peak_bytes"]
        for most, status in ((peak, 0), (peak - 1, 1)):
            self.assertEqual(self.seep("check", profile.folder, "--max-peak", "tensor:0=%d" % most).status, status)

    def test_a_block_that_was_not_seen_is_said(self):
        profile = self.run_seep([self.subject("tensors"), "unseen", self.library("20")])
        books, = profile.report["coverage"]["tensors"]
        self.assertEqual((books["live_bytes"], books["allocated_bytes"], books["drift_bytes"]), (4096, 12288, 8192))
        said = [s for s in profile.report["coverage"]["not_seen"] if s.startswith("GPU 0")]
        self.assertEqual(said, ["GPU 0: the tensors that seep saw and PyTorch's own total differed by up to 8.0 KiB"])

    def test_threads_that_use_addresses_again(self):
        for _ in self.each("threads"):
            pass

    def test_two_libraries_in_one_process_each_hear_of_their_own(self):
        for another in SIGNATURES:  # also one of another version
            with self.subTest(SIGNATURES[another]):
                first, second = self.library("20"), self.path("another.so")
                compile_c(self, SOURCES / "lib/c10_like.c", second, "-fPIC", "-shared", "-DSIGNATURE=" + another)
                self.check("tensors", "two", first, second)

    def test_a_child_that_lets_go_of_its_parents_tensors_changes_nothing(self):
        for _ in self.each("forked"):
            pass

    def test_another_preload_in_front_passes_its_calls_on(self):
        front = compile_c(self, SOURCES / "lib/in_front.c", self.path("front.so"), "-fPIC", "-shared", "-ldl")
        folder = self.fresh()
        done = self.command([self.subject("tensors"), "plain", self.library("20")],
                            env=job_env(LD_PRELOAD=front + " " + SHIM, SEEP_OUT=folder))
        self.assertEqual(done.status, 0, repr(done))
        self.assertRegex(done.err, r"in front: [1-9]")
        self.assertEqual(self.report(folder)["spaces"]["tensor:0"]["live_bytes"],
                         done.json()["subject_tensor"]["live_bytes"])

    def test_a_request_that_failed_is_passed_on(self):
        for signature in ("13", "20"):
            with self.subTest(SIGNATURES[signature]):
                profile, _ = self.check("tensors", "failed", self.library(signature))
                large, small = profile.report["out_of_memory"]
                self.assertEqual({k: large[k] for k in ("space", "asked_bytes", "allocated_bytes", "reserved_bytes")},
                                 {"space": "tensor:0", "asked_bytes": 1 << 33, "allocated_bytes": 1 << 20,
                                  "reserved_bytes": 1 << 20})
                self.assertEqual((small["space"], small["frame"]["function"]), ("tensor:1", "c10_failed"))
                explained = {f["space"]: f["title"] for f in profile.report["findings"] if f["pattern"] == "out-of-memory"}
                self.assertEqual(explained["tensor:0"], "CUDA out of memory on GPU 0: 8.0 GiB requested")
                self.assertEqual(set(explained), {"tensor:0", "tensor:1"})
                shortage, = (f["shortage"] for f in profile.report["findings"] if f["space"] == "tensor:0")
                self.assertEqual((shortage["cause"], shortage["asked_bytes"], shortage["allocated_bytes"]),
                                 ("too-large", 1 << 33, 1 << 20))
                self.assertEqual(shortage["lines"][0]["frame"]["function"], "c10_made")
                text = self.seep("report", profile.folder).stdout.decode()
                self.assertRegex(text, r"devices  GPU 0: tensors at most 1\.0 MiB; PyTorch reserves 1\.0 MiB\n")
                self.assertRegex(text, r"CUDA out of memory \(tensors on GPU 0\): 8\.0 GiB requested .*\n?.*"
                                       r"in c10_failed;\s+1\.0 MiB of 1\.0 MiB reserved were in use")
                for form in ("markdown", "json"):
                    shown = self.seep("report", profile.folder, "--format", form).stdout.decode()
                    self.assertIn("PyTorch reserves 1.0 MiB" if form == "markdown" else '"tensors_peak_bytes"', shown)


if __name__ == "__main__":
    unittest.main()
