"""Writes the words of closed lists where pages and the schemas repeat them, from the tables that the code is made of.

usage: python3 tools/lists.py      (or: make pages)

tests/structure/test_tables.py holds the files to the tables by filled()."""
import json
import re
import sys
import textwrap

import report_fields
from patterns import ROOT, names_of, rows

sys.path.append(str(ROOT / "tests"))

import torch_versions  # noqa: E402

ALLOCATORS = ROOT / "libprof/code/packages/library_allocators.def"
ENUMS = ("PATTERN", "SEVERITY", "PROCESS_ROLE", "STEP_SOURCE", "HOLDER_STATE", "PART")


def filled_readme(text):
    """The lists of README.md: each lies between two texts that stay."""
    patterns = ["`%s`" % name for name in names_of("PATTERN")]
    sentence = textwrap.fill("Findings have one of these patterns: %s and %s." % (", ".join(patterns[:-1]), patterns[-1]), 118,
                             break_on_hyphens=False)
    formats = r"\|".join(["text", "json", *names_of("CHECK_FORMAT")])
    for begin, old, end, new in ((r"", r"Findings have one of .*?\.\s", r"", sentence + "\n"),
                                 (r"`seep report DIR… \[--format ", r"[^]]*", r"\]", formats),
                                 (r"`seep export DIR --format ", r"\S*", r" ", r"\|".join(names_of("EXPORT_FORMAT")))):
        text, n = re.subn("(%s)%s(%s)" % (begin, old, end), lambda m: m.group(1) + new + m.group(2), text, flags=re.S)
        assert n == 1, begin + old
    return text


def filled_schema(text):
    """An enum that has more than half of a list's words is that list. It stays on one line, or one line a word."""
    def fill(match):
        words = json.loads(match.group(2))
        for names in map(names_of, ENUMS):
            if len(set(words) & set(names)) * 2 > len(names):
                between = re.match(r"\[(\s*)", match.group(2)).group(1)
                end = re.search(r"(\s*)\]$", match.group(2)).group(1)
                return match.group(1) + "[" + between + ("," + (between or " ")).join(map(json.dumps, names)) + end + "]"
        return match.group(0)
    text = re.sub(r'("enum": )(\[[^\]]*\])', fill, text)
    return re.sub(r'("space_name": \{[^}]*"description": ")[^"]*', lambda m: m.group(1) + ", ".join(names_of("SPACE")), text)


def filled_report_schema(text):
    return report_fields.dumped(report_fields.filled(json.loads(filled_schema(text)))) + "\n"


def filled_digest_schema(text):
    return report_fields.dumped(report_fields.filled_digest(json.loads(filled_schema(text)))) + "\n"


def filled_memory(text):
    """The table of libraries' allocators: what is in use by their own count, and what gives it back."""
    table = ["| library | allocator | what is in use | settings |", "| --- | --- | --- | --- |"]
    for _, comment, (library, _, _, _, allocator, live, setting) in rows(ALLOCATORS, "SEEP_LIBRARY_ALLOCATOR"):
        version = re.search(r"[0-9.]+[0-9]", comment)
        name = "%s %s" % (library, version.group(0)) if version else library
        table.append("| %s | %s | %s | %s |" % (name, allocator, live or "nothing says", setting))
    return re.sub(r"\| library \| allocator .*?\n\n", lambda _: "\n".join(table) + "\n\n", text, flags=re.S)


def filled_snapshots(text):
    """What each version of PyTorch writes, and the wheels that it was read off."""
    read = "Read off PyTorch's own wheels %s as they write it (`make snapshot-versions`)." % ", ".join(torch_versions.READ)
    text = re.sub(r"Read off PyTorch's own wheels .*?\n\n", lambda _: textwrap.fill(read, 118) + "\n\n", text, flags=re.S)
    return re.sub(r"\| since \| what .*?\n\n", lambda _: torch_versions.page_table() + "\n", text, flags=re.S)


FILES = {"README.md": filled_readme, "docs/memory.md": filled_memory, "docs/snapshots.md": filled_snapshots,
         "docs/report.schema.json": filled_report_schema, "docs/check.schema.json": filled_schema,
         "docs/digest.schema.json": filled_digest_schema}


def filled(file):
    return FILES[file]((ROOT / file).read_text(encoding="utf-8"))


def main():
    for file in FILES:
        (ROOT / file).write_text(filled(file), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
