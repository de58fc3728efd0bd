"""A name names one source: whoever reads `growth.c` in a message, a commit or a comment knows which one is meant."""
import os
import unittest

from tests.structure.sources import C_SOURCES, HALVES, files_below, includes

# What stands for the folder that it lies in.
NAMELESS = {"__init__.py"}


def is_module(files, included):
    """A header and the source that it declares, wherever they lie, are one."""
    headers = {f for f in files if f.endswith((".h", ".cuh"))}
    return len(files) == 2 and len(headers) == 1 and any((f, h) in included for h in headers for f in files - headers)


def shared_names(files, included):
    """{name: files} of those that several sources have which are not one module."""
    by_name = {}
    for file in files:
        if os.path.basename(file) in NAMELESS:
            continue
        by_name.setdefault(os.path.splitext(os.path.basename(file))[0], set()).add(file)
    return {name: sorted(its) for name, its in by_name.items()
            if len(its) > 1 and not is_module(its, included)}


class Names(unittest.TestCase):
    def test_names_of_sources_are_unique(self):
        files = files_below(*HALVES, endings=C_SOURCES + (".js", ".py"))
        self.assertGreater(len(files), 500)
        self.assertEqual(shared_names(files, {(file, included) for file, _, included in includes()}), {},
                         "these share a name: call each by what only it does")

    def test_a_shared_name_is_found(self):
        included = {("a/x.c", "a/x.h"), ("b/z.c", "a/z.h")}
        files = ["a/x.c", "a/x.h", "a/y.c", "b/y.js", "a/z.h", "b/z.c", "c/w.h", "d/w.h"]
        self.assertEqual(shared_names(files, included), {"y": ["a/y.c", "b/y.js"], "w": ["c/w.h", "d/w.h"]})


if __name__ == "__main__":
    unittest.main()
