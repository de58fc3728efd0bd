"""Pages have 4 KiB on x86-64, and 4, 16 or 64 KiB on 64-bit Arm. So no number in the sources means a machine's page: the
library asks libprof/runtime/store/os_page.h, the analysis libprof/base/page_bytes.h, and what holds on every machine
takes SEEP_LEAST_PAGE_BYTES. A copy of 64 KiB pages that is given back by 4 KiB loses its neighbours."""
import re
import unittest

from tests.structure.sources import files_below, lines_of

HALVES = ("libprof", "preload", "viewer", "kernels")
NUMBER = r"(?:\(\w+\)\s*)?\(?409[56]u?l?l?\b"
RULES = {
    "a page of 4 KiB": r"\b\w*PAGE(?:_SIZE|_BYTES)?\s*=\s*(?:\(\w+\)\s*)?(?:4096|1\s*<<\s*12|0x1000|4\s*(?:\*\s*1024|<<\s*10))\b",
    "a page of 12 bits": r"\b\w*PAGE_(?:BITS|SHIFT)\s*=\s*12\b",
    "an address or a size that is rounded": r"(?:&=?\s*~?|\|=?|\+=?|%)\s*" + NUMBER,
    "a number of pages": r"(?<![-*])[*/]\s*" + NUMBER,
    "the number of a page": r"(?:>>|<<)=?\s*12\b",
    "a length for the kernel": r"\b\w*(?:mmap|munmap|mremap|madvise|mincore|mprotect|mlock2?|os_pages)\w*\b[^;]*\b4096\b",
    "a machine's page, asked again": r"_SC_PAGE_?SIZE|\bgetpagesize\b|\bAT_PAGESZ\b",
}
# What looks like one, and is none.
LEFT = {
    ("libprof/base/page_bytes.c", "_SC_PAGESIZE"): "where the analysis asks",
    ("libprof/runtime/store/os_page.c", "AT_PAGESZ"): "where the library asks",
    ("libprof/look/core_maps.c", "AT_PAGESZ"): "of the machine that a core file is from",
    ("libprof/format/page_format.h", "SEEP_LEAST_PAGE_BYTES = 4096"): "of all machines",
    ("libprof/format/live_format.h", "SEEP_PAGE_BITS = 12"): "of addresses that the live set keeps together",
    ("libprof/who/graph/memory.h", "SEEP_MEMORY_PAGE = 4096"): "of a process's memory that is read at once",
    ("libprof/who/blocks/memory_window.h", "SEEP_WINDOW_PAGE = 4096"): "the same",
    ("libprof/torch/torch_page.h", "SEEP_TORCH_PAGE_BYTES = 4096"): "of a file that is read at once",
    ("libprof/who/blocks/glibc_chunks.c", "at >> 12"): "how glibc hides links, on every machine",
    ("libprof/format/python_layout.h", "1u << 12"): "a flag of CPython's types",
    ("libprof/program/own_allocator.c", "N_PAIRS = 1 << 12"): "entries",
    ("libprof/who/graph/py_types.c", "RECENT = 1 << 12"): "entries",
    ("libprof/who/survey/edge_store.h", "SEEP_EDGE_KINDS = 1 << 12"): "entries",
    ("preload/cost/sampling.c", ">> 12"): "a random number's bits",
    ("kernels/compute/chance.h", ">> 12"): "the same",
    ("kernels/voxels/voxelize.h", "SEEP_VOXEL_LARGE = 1 << 12"): "entries",
    ("viewer/top/top_choice.c", "c >> 12"): "a character in UTF-8",
}


def code_of(file):
    """(line number, line) without comments and texts."""
    text = "\n".join(lines_of(file))
    blank = lambda found: re.sub(r"[^\n]", " ", found.group())
    text = re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.DOTALL)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    return list(enumerate(text.split("\n"), 1))


def told(line):
    return [what for what, rule in RULES.items() if re.search(rule, line)]


class PageSizes(unittest.TestCase):
    def test_no_number_means_a_page(self):
        found, used = [], set()
        for file in files_below(*HALVES, endings=(".c", ".h", ".cc", ".cu", ".cuh", ".def")):
            for number, line in code_of(file):
                what = told(line)
                left = [key for key in LEFT if key[0] == file and key[1] in line]
                used.update(left if what else [])
                if what and not left:
                    found.append("%s:%d: %s: %s" % (file, number, what[0], line.strip()))
        self.assertEqual(found, [])
        self.assertEqual(set(LEFT) - used, set(), "no longer there")

    def test_each_way_to_write_one_is_seen(self):
        for line in ("enum { PAGE = 4096 };", "    PAGE_BITS = 12,", "MY_PAGE_BYTES = 1 << 12,", "return (n + 4095) & ~mask;",
                     "start &= ~(uintptr_t)4095;", "if (start & 4095)", "end = (at | 4095) + 1;", "n = bytes / 4096;",
                     "bytes = n * 4096;", "at % 4096 == 0", "page += 4096)", "at >> 12 != list_page",
                     "wiped = seep_os_pages(4096);", "seep_os_call3(SYS_madvise, (long)at, 4096, MADV_WIPEONFORK)",
                     "const long page = sysconf(_SC_PAGESIZE);", "page = getpagesize();"):
            self.assertTrue(told(line), line)

    def test_sizes_of_texts_and_tables_are_none(self):
        for line in ("char path[4096];", "TEXT_BYTES = 4096,", "return r < 0 && r >= -4095 ? (int)r : 0;",
                     "return (uintptr_t)address >= (uintptr_t)-4095;", "size_t capacity = 4096;",
                     "SEEP_LEAST_PAGE_BYTES", "if (arena > at && arena - at < 4096)"):
            self.assertEqual(told(line), [], line)


if __name__ == "__main__":
    unittest.main()
