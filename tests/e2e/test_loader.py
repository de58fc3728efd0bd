"""Libraries that come and go, also around a fork: nothing hangs, and code is told by where it lies now."""
import os
import unittest

from tests.e2e.support import SeepCase, compile_c, functions

LIBRARY = """
#include <stdlib.h>
void *kept_%(name)s;
__attribute__((noinline)) void make_%(name)s(void) { kept_%(name)s = malloc(64); free(kept_%(name)s); }
void go(void) { make_%(name)s(); __asm__ volatile(""); }
"""


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


if __name__ == "__main__":
    unittest.main()
