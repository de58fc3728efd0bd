"""What NVIDIA's compiler says of the CUDA twins, where it is: no GPU is needed."""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from tests.structure.sources import ROOT

NVCC = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
KNOWN = subprocess.run([NVCC, "--list-gpu-code"], stdout=subprocess.PIPE, text=True).stdout.split() \
    if os.path.exists(NVCC) else []
OLDEST = "75"
SOURCES = sorted(glob.glob("kernels/*/*.cu", root_dir=ROOT))


def compiled(source, *options):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([NVCC, "-std=c++17", "-I.", *options, "-o", folder + "/out", source], cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


@unittest.skipUnless(KNOWN, "no nvcc")
class Nvcc(unittest.TestCase):
    @unittest.skipUnless("sm_" + OLDEST in KNOWN, "an nvcc without code for sm_" + OLDEST)
    def test_every_file_is_code_for_the_oldest_gpu_that_is_supported(self):
        self.assertGreaterEqual(len(SOURCES), 9)
        for source in SOURCES:
            with self.subTest(source):
                # What a generation lacks shows in its PTX, and without optimisation a tenth as late.
                status, said = compiled(source, "--ptx", "-arch=compute_" + OLDEST, "-Xcicc", "-O0")
                self.assertEqual(status, 0, said)

    def registers(self, source, arch, kernel):
        """(arguments of the template, registers, bytes spilt) of each kernel of this name."""
        status, said = compiled(source, "-O3", "-cubin", "-arch=" + arch, "-Xptxas", "-v")
        self.assertEqual(status, 0, said)
        found = re.findall(r"Function properties for _Z\d+%s(I\w*?E)Ev.*?(\d+) bytes spill stores.*?Used (\d+) registers"
                           % kernel, said, re.S)
        return [(template, int(registers), int(spilt)) for template, spilt, registers in found]

    @unittest.skipUnless("sm_90" in KNOWN, "an nvcc without code for sm_90")
    def test_other_tile_rules_cost_the_default_no_registers(self):
        """Projection has kernels of its own for BOX (b1), four blocks of which fit a multiprocessor, and making pairs
        has for the rules that list whole boxes (b0): all threads fit."""
        project = self.registers("kernels/splat/splat_project_cuda.cu", "sm_90", "project")
        pairs = self.registers("kernels/splat/splat_bin_cuda.cu", "sm_90", "make_pairs")
        self.assertEqual((len(project), len(pairs)), (8, 4))
        for template, registers, spilt in project + pairs:
            with self.subTest(template):
                default = 56 if template.endswith("Lb1EE") else 64
                if (template, registers, spilt) in pairs:
                    default = 32 if template.endswith("Lb0EE") else 40
                self.assertLessEqual(registers, default)
                self.assertEqual(spilt, 0)

    def test_four_blocks_of_the_chain_rule_fit_a_multiprocessor(self):
        """65,536 registers by 4 blocks of 256 threads are 64 a thread: half of all threads of sm_80 and sm_90, not a
        quarter as with 88. What does not fit is spilt, and shows as such."""
        for arch in {"sm_80", "sm_90"} & set(KNOWN):
            status, said = compiled("kernels/splat/splat_unproject_cuda.cu", "-O3", "-cubin", "-arch=" + arch, "-Xptxas",
                                    "-v")
            self.assertEqual(status, 0, said)
            kernels = re.findall(r"chain_to_parametersILi(\d)E.*?(\d+) bytes spill stores.*?Used (\d+) registers", said,
                                 re.S)
            self.assertEqual({degree for degree, _, _ in kernels}, set("0123"), said)
            for degree, spilt, registers in kernels:
                with self.subTest(arch=arch, degree=degree):
                    self.assertLessEqual(int(registers), 64)
                    self.assertLessEqual(int(spilt), 16)

    def test_make_builds_for_the_generations_that_nvcc_knows(self):
        env = {name: value for name, value in os.environ.items()
               if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CUDA_ARCH")}
        for options, wanted in (((), "75 80 90 100 120"), (("CUDA_ARCH=all",), "75 80 86 89 90 100 120 121"),
                                (("CUDA_ARCH=90",), "90")):
            with self.subTest(options), tempfile.TemporaryDirectory() as build:
                planned = subprocess.run(
                    ["make", "-n", "V=1", "CUDA=1", "NVCC=" + NVCC, "BUILD=" + build, *options,
                     build + "/obj/kernels/compute/stream_cuda.cu.o"],
                    cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
                code = set(re.findall(r"\[(sm_\d+),compute_", planned))
                self.assertEqual(code, {"sm_" + n for n in wanted.split()} & set(KNOWN))
                self.assertTrue(all("compute_%s]" % sm[3:] in planned for sm in code), planned)


if __name__ == "__main__":
    unittest.main()
