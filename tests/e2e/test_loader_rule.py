"""The loader belongs to the job: no hook calls it, and seep never waits for its lock."""
import json
import re
import shutil
import unittest

from tests.e2e.support import ROOT, SHIM, SOURCES, SeepCase, compile_c, needs
from tests.e2e.test_noalloc import undefined

# What may make the loader take its lock, or allocate for a text.
LOADER = set("""
dlopen dlmopen dlclose dlsym dlvsym dladdr dladdr1 dlinfo dlerror dl_iterate_phdr
__tls_get_addr __libc_dlopen_mode __libc_dlsym __libc_dlclose
""".split())
# CUDA's driver calls for another library on the user's wish (--gpu=cupti), where no hook runs.
ALLOWED = {"dlsym", "dlopen"}
OPENS = "preload/cuda/cupti.c"

STALL_S = 0.2


class OwnLoader(SeepCase):
    """A library that has functions of these names before libc, and says who called them."""

    def build(self, *flags):
        source, include = SOURCES / "lib/own_loader.c", ("-D_GNU_SOURCE", "-I", str(ROOT))
        library = compile_c(self, source, self.path("libown_loader.so"), *include, "-shared", "-fPIC")
        return compile_c(self, source, self.path("own_loader"), *include, "-DPROGRAM", library,
                         "-Wl,-rpath," + self.dir, "-pthread", *flags)

    def test_no_hook_calls_into_the_loader(self):
        program = self.build()
        plain = self.command([program])
        self.assertEqual((plain.status, plain.stdout), (0, b"ok\n"), repr(plain))
        profile = self.run_seep([program])
        self.assertEqual(profile.done.stdout.decode(), "ok\n")
        said = set(profile.report["coverage"]["hooks"])  # they were hooks that ran
        self.assertLessEqual({"mmap", "munmap", "fork", "execve", "posix_spawn", "waitpid"}, said)

    def test_nor_does_operator_new_where_its_library_was_there_from_the_start(self):
        program = self.build("-Wl,--no-as-needed", "-lstdc++")
        self.assertEqual(self.command([program, "new"]).stdout, b"ok\n")
        called = self.run_seep([program, "new"]).done.stdout.decode()
        self.assertEqual([line for line in called.splitlines() if line.startswith(("p = _Z", "_Z"))], [])

    @needs(shutil.which("nm"), "no nm")
    def test_the_shim_refers_to_no_other_function_of_the_loader(self):
        self.assertEqual(undefined() & LOADER - ALLOWED, set(), "of %s" % SHIM)

    def test_one_place_opens_a_library(self):
        opening = {str(path.relative_to(ROOT)) for path in (ROOT / "preload").rglob("*.c")
                   if re.search(r"\bdlopen\(", path.read_text())}
        self.assertEqual(opening, {OPENS})


class LoaderLock(SeepCase):
    def test_a_callback_that_waits_for_somebody_who_allocates_is_not_a_deadlock(self):
        argv = [self.subject("loader_lock"), "order"]
        self.assertEqual(self.command(argv).stdout, b"ok\n")
        self.assertEqual(self.run_seep(argv, timeout=30).done.stdout, b"ok\n")

    def test_allocations_do_not_stall_beside_callbacks_that_allocate(self):
        """How long a thread that only looks at the clock is left alone says how busy the machine is. Who waits for a
        lock of ours waits every time; who was left without a CPU once is not."""
        tries = []
        for _ in range(3):
            worst = json.loads(self.run_seep([self.subject("loader_lock"), "stall", "3"]).done.stdout)
            tries.append(worst)
            if max(worst["callback"], worst["open"]) < STALL_S + 5 * worst["idle"]:
                return
        self.fail("each time: %r" % tries)


if __name__ == "__main__":
    unittest.main()
