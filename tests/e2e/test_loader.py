"""Libraries that come and go, also around a fork: nothing hangs, and code is identified by its current address."""
import errno
import os
import shutil
import unittest

from tests.e2e.support import SEEP, Profile, SeepCase, compile_c, functions, needs, sum_sites

LIBRARY = """
#include <stdlib.h>
void *kept_%(name)s;
__attribute__((noinline)) void make_%(name)s(void) { kept_%(name)s = malloc(64); free(kept_%(name)s); }
void go(void) { make_%(name)s(); __asm__ volatile(""); }
"""

WAITS_FOR_A_THREAD = """
#include <new>
#include <thread>
static void work() { volatile char *p = new (std::nothrow) char[16]; delete[] p; }
struct starter { starter() { std::thread t(work); t.join(); } } it;
"""

OWN_RUNTIME = """
#include <string>
static std::string text;
extern "C" __attribute__((noinline)) void new_and_delete() {
    for (int i = 0; i < 1000; i++) {
        char *volatile kept = new char[100 + i % 2];
        delete[] kept;
    }
}
"""

CALLS_IT = """
extern void new_and_delete(void), *_Znwm(unsigned long), _ZdlPv(void *);
__attribute__((noinline)) void program_new(void) { for (int i = 0; i < 1000; i++) _ZdlPv(_Znwm(100)); }
int main(void) { new_and_delete(); program_new(); return 0; }
"""

CALLS_GO = "void go(void); int main(void) { for (int i = 0; i < 500; i++) go(); return 0; }"


class Loader(SeepCase):
    def libraries(self, *names):
        for name in names:
            with open(self.path(name + ".c"), "w") as f:
                f.write(LIBRARY % dict(name=name))
            compile_c(self, self.path(name + ".c"), self.path(name + ".so"), "-shared", "-fPIC")
        return ["./%s.so" % name for name in names]

    def made(self, profile, name):
        sites = [s for s in profile.report["sites"] if "make_" + name in functions(s)]
        for site in sites:
            frame = next(f for f in site["stack"] if f.get("function") == "make_" + name)
            self.assertEqual(frame["module"], os.path.realpath(self.path(name + ".so")))
        return sum(s["allocations"] for s in sites)

    def test_code_that_takes_the_place_of_other_code_is_told_from_it(self):
        libraries = self.libraries("first", "other")
        profile = self.run_seep([self.subject("loader"), "swap", *libraries], cwd=self.dir)
        self.assertEqual((self.made(profile, "first"), self.made(profile, "other")), (500, 500))

    def test_a_library_that_is_not_linked_at_0_is_loaded_and_recorded(self):
        with open(self.path("odd.c"), "w") as f:
            f.write(LIBRARY % dict(name="odd"))
        with open(self.path("program.c"), "w") as f:
            f.write(CALLS_GO)
        compile_c(self, self.path("odd.c"), self.path("odd.so"), "-shared", "-fPIC", "-Wl,-Ttext-segment=0x1000")
        program = compile_c(self, self.path("program.c"), self.path("program"), self.path("odd.so"))
        self.assertEqual(self.made(self.run_seep([program]), "odd"), 500)

    def test_libraries_are_named_where_the_kernel_copies_no_memory(self):
        """As in gVisor and below the profile of older Dockers: process_vm_readv() fails."""
        libraries, folder = self.libraries("first", "other"), self.fresh()
        no_copies = [(0x20, 0, 0, 0), (0x15, 0, 1, 310), (0x06, 0, 0, 0x50000 | errno.ENOSYS)]
        done = self.command_filtered(no_copies, [SEEP, "run", "-q", "--holders", "off", "-o", folder, "--",
                                                 self.subject("loader"), "swap", *libraries], cwd=self.dir)
        self.assertEqual((done.status, done.err), (0, ""), repr(done))
        profile = Profile(self, done, folder)
        self.assertEqual((self.made(profile, "first"), self.made(profile, "other")), (500, 500))

    def test_a_fork_while_a_thread_loads_libraries_does_not_hang_the_child(self):
        libraries = self.libraries("first")
        profile = self.run_seep([self.subject("loader"), "fork-while-loading", *libraries], cwd=self.dir)
        self.assertEqual(profile.done.stdout, b"children that ended: 300 of 300\n")

    def test_a_fork_while_a_thread_holds_the_loader_does_not_hang_the_child(self):
        profile = self.run_seep([self.subject("loader"), "fork-while-listing"])
        self.assertEqual(profile.done.stdout, b"children that ended: 10 of 10\n")

    def test_what_a_child_loads_and_unloads_is_named(self):
        libraries = self.libraries("first", "other")
        profile = self.run_seep([self.subject("loader"), "load-in-child", *libraries], cwd=self.dir)
        self.assertEqual((self.made(profile, "first"), self.made(profile, "other")), (11, 10))

    @needs(shutil.which("c++"), "no C++ compiler")
    def test_a_constructor_that_waits_for_its_thread_does_not_hang(self):
        with open(self.path("waits.cc"), "w") as f:
            f.write(WAITS_FOR_A_THREAD)
        done = self.command(["c++", "-O1", "-shared", "-fPIC", "-pthread", "-o", self.path("waits.so"), self.path("waits.cc")])
        self.assertEqual(done.status, 0, repr(done))
        profile = self.run_seep([self.subject("loader"), "construct", self.path("waits.so")], timeout=20)
        self.assertEqual(profile.done.stdout, b"loaded\n")

    @needs(shutil.which("c++"), "no C++ compiler")
    def test_a_runtime_linked_into_a_library_is_not_counted_twice(self):
        for name, text in (("own.cc", OWN_RUNTIME), ("calls.c", CALLS_IT)):
            with open(self.path(name), "w") as f:
                f.write(text)
        done = self.command(["c++", "-O1", "-shared", "-fPIC", "-static-libstdc++", "-static-libgcc",
                             "-o", self.path("libown.so"), self.path("own.cc")])
        self.assertEqual(done.status, 0, repr(done))
        program = compile_c(self, self.path("calls.c"), self.path("calls"), "-L" + self.dir, "-lown",
                            "-Wl,-rpath," + self.dir)
        profile = self.run_seep([program])
        for function in ("program_new", "new_and_delete"):
            seen = sum_sites(profile.report, function)
            self.assertEqual((seen["allocations"], seen["frees"]), (1000, 1000), function)
        seen = sum_sites(self.run_seep([program], ("--sample", "1k")).report, "program_new")
        self.assertAlmostEqual(seen["allocations"], 1000, delta=400)


if __name__ == "__main__":
    unittest.main()
