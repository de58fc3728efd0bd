"""The list of what one thread or process writes and another reads (tests/order/README.md), and the models of it, are about
this code."""
import re
import unittest

from tests.structure.sources import ROOT, files_below

RUNNING = ("libprof", "preload", "viewer")
ATOMIC = re.compile(r"__atomic_|__sync_|\bvolatile\b|_Atomic")
COMPILERS_BARRIER = re.compile(r'__asm__ volatile\("" ::: "memory"\)')
MODELS = ("tests/order/live_set.pml", "tests/order/profile.pml")


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def code_of(path):
    return re.sub(r"(?s)/\*.*?\*/|//[^\n]*", "", text(path))


def files_with(pattern):
    return [path for path in files_below(*RUNNING, endings=(".c", ".h")) if pattern.search(code_of(path))]


class List(unittest.TestCase):
    page = text("tests/order/README.md")

    def test_it_names_each_file_with_atomic_operations(self):
        # sig_atomic_t's flags, assembly of system calls, and a comparison that must take its time are a thread's own.
        own = {"libprof/arch/arch.h", "libprof/arch/x86_64.h", "libprof/arch/aarch64.h", "viewer/serve/serve_rules.c"}
        named = {name.rsplit("/", 1)[-1] for name in re.findall(r"`([\w./]+\.[ch])`", self.page)}
        found = [path for path in files_with(ATOMIC) if not re.search(r"volatile sig_atomic_t", text(path))]
        self.assertGreater(len(found), 40)
        self.assertEqual([path for path in found if path not in own and path.rsplit("/", 1)[-1] not in named], [])

    def test_what_it_names_is_there(self):
        stems = {path.rsplit("/", 1)[-1] for path in files_below(*RUNNING, "tests/order", endings=(".c", ".h", ".pml"))}
        named = re.findall(r"`([\w./]+\.(?:[ch]|pml))`", self.page)
        self.assertGreater(len(named), 60)
        self.assertEqual([name for name in named if name.rsplit("/", 1)[-1] not in stems], [])
        self.assertEqual([name for name in named if "/" in name and not (ROOT / name).is_file()], [])

    def test_the_compilers_barrier_is_for_a_threads_own_signal_handlers(self):
        self.assertEqual(files_with(COMPILERS_BARRIER), ["preload/python/pyframe_follow.h", "preload/record/thread.h"])

    def test_what_is_withdrawn_is_fenced_before_it_is_overwritten(self):
        """A releasing store of nothing does not keep what follows it from being seen first."""
        withdrawn = re.compile(r"__atomic_store_n\(&[\w>.\[\]-]+(?:pid|t_ns|files\.n), 0,")
        found = [(path, m.group(0)) for path in files_below(*RUNNING, endings=(".c", ".h"))
                 for m in withdrawn.finditer(code_of(path))]
        self.assertGreater(len(found), 4)
        for path, store in found:
            after = code_of(path).split(store, 1)[1].split(";")[1:3]
            self.assertTrue(any("__atomic_thread_fence(__ATOMIC_RELEASE)" in line for line in after), (path, store))

    def test_whether_it_records_is_asked_by_loads_that_acquire(self):
        """Plain: the guard, and whether it is off, which says nothing of anything else."""
        plain = files_with(re.compile(r"(?<!uint32_t )\*seep_activity\b(?!;)"))
        self.assertEqual(plain, ["preload/hooks/signals.h", "preload/record/thread.h"])


class Models(unittest.TestCase):
    def test_the_functions_that_they_name_are_the_librarys(self):
        sources = "\n".join(code_of(path) for path in files_below(*RUNNING, endings=(".c", ".h")))
        for model in MODELS:
            comments = " ".join(re.findall(r"(?s)/\*.*?\*/", text(model)))
            named = set(re.findall(r"\b(\w+)\(\)", comments))
            self.assertGreater(len(named), 5)
            self.assertEqual([name for name in named if not re.search(r"\b%s\([^;]*\)\s*\{" % name, sources)], [])

    def test_each_order_that_may_be_left_out_is_used(self):
        for model in MODELS:
            told = re.findall(r"^ \* weaker (\d+):", text(model), re.M)
            self.assertEqual(told, [str(i + 1) for i in range(len(told))])
            self.assertEqual(sorted(set(re.findall(r"holds\((\d+)\)", text(model)))), told)


if __name__ == "__main__":
    unittest.main()
