"""Functions without a frame stay so in a build without optimisation, where a compiler puts parameters by into one."""
import re
import subprocess
import unittest

from tests.e2e.support import ROOT

FILES = sorted(path for path in (ROOT / "preload").rglob("*.c") if "naked" in path.read_text())


def entries(path):
    """{name: its first instruction} of the functions of a file that have no frame."""
    text = subprocess.run(["cc", "-O0", "-S", "-o", "-", "-fPIC", "-std=c11", "-D_GNU_SOURCE", "-I.", path], cwd=ROOT,
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    names = re.findall(r'__asm__\("(\w+)"\);', path.read_text())
    return {name: re.search(r"^%s:\n(?:(?:\.\w+:|\s*[.#].*)\n)*\s*(.*)" % name, text, re.M)[1] for name in names}


class Entries(unittest.TestCase):
    def test_nothing_is_put_by(self):
        found = {name: first for path in FILES for name, first in entries(path).items()}
        self.assertIn("syscall", found)
        for name, first in found.items():
            self.assertNotIn("(%rsp)", first, name)
            self.assertNotIn("%rbp", first, name)


if __name__ == "__main__":
    unittest.main()
