"""What depends on the processor lies in libprof/arch/, and an entry into the library leaves a call as it came."""
import re
import shutil
import subprocess
import unittest

from tests.e2e.support import ROOT
from tests.structure.sources import files_below

STANDS_ALONE = "preload/seep.h"  # other people's programs include it without the rest
PROCESSORS = re.compile(r"__(x86_64|amd64|i386|aarch64|arm|AARCH64EL|LP64)__|__builtin_ia32_|\b\w*mmintrin\.h|\barm_neon\.h|\bEM_(X86_64|AARCH64)\b"
                        r"|\bAUDIT_ARCH_|\bREG_R(IP|SP|BP)\b|\bgregs\b|%%?(rsp|rbp|rax|rdi|fs)\b|\btpidr_el0\b|\buc_mcontext\b")
NAMES = re.compile(r"\b(?:SEEP_ARCH|seep_arch)_\w+")
VECTORS = re.compile(r"\b\w*mmintrin\.h")  # in kernels/, where SEEP_ARCH_AVX says so
COMPILERS = [name for name in ("gcc", "aarch64-linux-gnu-gcc") if shutil.which(name)]


def entry(compiler, path, name):
    """The assembly of an entry, in a build without optimisation, where a compiler puts parameters by into a frame."""
    text = subprocess.run([compiler, "-O0", "-S", "-o", "-", "-fPIC", "-std=c11", "-D_GNU_SOURCE", "-I.", path], cwd=ROOT,
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    return re.search(r"^%s:\n(.*?)\.size %s," % (name, name), text, re.M | re.S)[1]


class Processors(unittest.TestCase):
    def test_only_one_room_knows_them(self):
        found = []
        for path in files_below("libprof", "preload", "viewer", "kernels", endings=(".c", ".h")):
            if path.startswith("libprof/arch/") or path == STANDS_ALONE:
                continue
            for word in PROCESSORS.finditer((ROOT / path).read_text()):
                if not (path.startswith("kernels/") and VECTORS.fullmatch(word[0])):
                    found.append("%s: %s" % (path, word[0]))
        self.assertEqual(found, [], "move it to libprof/arch/")

    def test_each_processor_has_all_that_is_used(self):
        used = {word for path in files_below("libprof", "preload", "viewer", "kernels", endings=(".c", ".h"))
                if not path.startswith("libprof/arch/") for word in NAMES.findall((ROOT / path).read_text())}
        self.assertIn("seep_arch_call6", used)
        shared = {name for header in ("arch.h", "traced.h")
                  for name in NAMES.findall((ROOT / "libprof/arch" / header).read_text().split("*/", 1)[1])}
        for processor in ("x86_64", "aarch64"):
            text = "".join(path.read_text() for path in sorted((ROOT / "libprof/arch").glob(processor + "*.h")))
            self.assertEqual(used - shared - set(NAMES.findall(text)), set(), processor)


class Entries(unittest.TestCase):
    def test_a_call_goes_on_as_it_came(self):
        self.assertIn("gcc", COMPILERS)
        for compiler in COMPILERS:
            code = entry(compiler, "preload/hooks/system.c", "syscall")
            self.assertRegex(code, "seep_syscall_watched")
            self.assertNotRegex(code, r"%rsp|%rbp|\bsp\b|x29|x30|push|\bcall\b|\bblr?\b", compiler)


if __name__ == "__main__":
    unittest.main()
