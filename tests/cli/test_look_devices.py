"""`seep look` at tensors on devices, by the words of their storages in host memory: without CUDA's help."""
import json
import os
import subprocess
import time

from tests.cli.ci_jobs import validate
from tests.e2e.support import ROOT, SEEP, SYSTEM_PYTHON, SeepCase, needs_to_read_children

ON_THE_CPU = '''
import ctypes, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
import torch
planned = [torch.empty(1 << 28, device="meta") for _ in range(20)]
kept = [torch.ones(1 << 16) for _ in range(40)]
print("ready", flush=True)
sys.stdin.read()
'''

ON_TWO_GPUS = '''
import ctypes, gc, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
import torch
gc.disable()
class Ring:
    def __init__(self):
        self.me, self.mask = self, torch.empty(1 << 20, device="cuda:1")
def main():
    kept = [torch.empty(1 << 18, device="cuda:0") for _ in range(64)]
    view = kept[0][5:]  # of which the storage is counted once, and retained by neither
    table = [bytes(100000) for _ in range(50)]
    history = []
    for _ in range(8):
        Ring()
    planned = torch.empty(1 << 30, device="meta")
    print("ready", flush=True)
    for line in sys.stdin:
        history.extend(torch.empty(1 << 16, device="cuda:0") for _ in range(16))
        print("more", flush=True)
main()
'''


@needs_to_read_children
class LookDevices(SeepCase):
    def start(self, python, program, **environment):
        job = subprocess.Popen([python, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, **environment))
        for end in (job.wait, job.stdout.close, job.stdin.close, job.kill):
            self.addCleanup(end)
        return job, job.stdout.readline()

    def document(self, done):
        document = json.loads(done.stdout)
        self.assertEqual(validate(ROOT / "docs/look.schema.json", document), [])
        return document

    def named(self, document, text):
        found = [h for h in document["holders"] if text in h["path"]["text"]]
        self.assertTrue(found, [h["path"]["text"] for h in document["holders"]])
        return found[0]

    def look(self, *arguments):
        return subprocess.run([str(SEEP), "look", *map(str, arguments)], capture_output=True, text=True)

    def test_what_is_on_no_device_has_no_bytes(self):
        job, ready = self.start(SYSTEM_PYTHON, ON_THE_CPU)
        if not ready:
            self.skipTest("%s has no torch" % SYSTEM_PYTHON)
        document = self.document(self.look("--format", "json", job.pid))
        self.assertEqual(document["looks"][0]["device_bytes"], {})
        self.assertFalse([h for h in document["holders"] if "planned" in h["path"]["text"] or h["device_bytes"]])
        kept = self.named(document, "module __main__.kept (list)")
        # A word that a call has left on a stack may still point to the last one.
        self.assertGreater(kept["retained_bytes"], 39 << 18)
        self.assertLess(kept["retained_bytes"], 1.01 * (40 << 18))

    def torch_for(self, cuda):
        folder = ROOT / "build/gpu-torch" / ("cu%d" % cuda)
        standin = ROOT / "build/tests/standin" / str(cuda)
        if not (folder / "venv/bin/python").exists() or not standin.exists():
            self.skipTest("no PyTorch for CUDA %d on its stand-in: make gpu-torch installs it" % cuda)
        job, ready = self.start(folder / "venv/bin/python", ON_TWO_GPUS,
                                LD_LIBRARY_PATH="%s:%s" % (standin, folder / "lib"))
        self.assertEqual(ready, "ready\n")
        return job

    def hold(self, cuda):
        """A word that a call has left on a stack may still point to the last tensor that a loop made."""
        job = self.torch_for(cuda)
        document = self.document(self.look("--format", "json", job.pid))
        self.assertEqual(document["looks"][0]["device_bytes"], {"cuda:0": 64 << 20, "cuda:1": 8 << 22})
        kept = self.named(document, "local 'kept' of main() (list)")
        self.assertEqual((kept["length"], kept["device_bytes"]["cuda:1"]), (64, 0))
        self.assertAlmostEqual(kept["device_bytes"]["cuda:0"], 63 << 20, delta=2 << 20)
        self.assertLess(kept["retained_bytes"], 1 << 20)
        ring = self.named(document, "nobody but a cycle (Ring).mask (Tensor)")
        self.assertEqual((ring["state"], ring["device_bytes"]["cuda:0"]), ("cycle", 0))
        self.assertAlmostEqual(ring["device_bytes"]["cuda:1"], 8 << 22, delta=1 << 22)
        table = self.named(document, "local 'table' of main() (list)")
        self.assertEqual(table["device_bytes"], {"cuda:0": 0, "cuda:1": 0})
        self.assertLess(document["holders"].index(kept), document["holders"].index(table))
        said = self.look(job.pid).stdout
        self.assertRegex(said, r"(?m)^64\.0 MiB in tensors on cuda:0\n32\.0 MiB in tensors on cuda:1$")
        self.assertRegex(said, r"(?m)^\S+ KiB \(\+ 6[123]\.0 MiB on cuda:0\)  local 'kept' of main\(\) \(list\): "
                               r"length 64$")
        self.grow(job)

    def grow(self, job):
        """Only the GPU's memory grows by 64 KiB and more."""
        told = open(self.path("looks.json"), "w+", encoding="utf-8")
        self.addCleanup(told.close)
        looks = subprocess.Popen([str(SEEP), "look", "--every", "1.5", "--times", "4", "--format", "json",
                                  str(job.pid)], stdout=told)
        while looks.poll() is None:
            job.stdin.write("\n")
            job.stdin.flush()
            job.stdout.readline()
            time.sleep(0.1)
        self.assertEqual(looks.returncode, 1)
        told.seek(0)
        history = self.named(json.load(told), "local 'history' of main() (list)")
        self.assertEqual(history["growth"], "endless")
        bytes_by_look = history["device_bytes_by_look"]["cuda:0"][1:]
        self.assertEqual(sorted(bytes_by_look), bytes_by_look)
        self.assertGreater(history["device_growth_bytes_per_minute"]["cuda:0"],
                           100 * history["growth_bytes_per_minute"])

    def test_with_cuda_12(self):
        self.hold(12)

    def test_with_cuda_13(self):
        self.hold(13)


if __name__ == "__main__":
    import unittest
    unittest.main()
