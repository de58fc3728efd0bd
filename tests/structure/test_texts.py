"""What people read: all of it is in the list of texts, wherever it is said, and in plain English as far as a machine can
tell."""
import re
import subprocess
import sys
import unittest

from tests.structure.sources import ROOT, files_below
from tests.structure.test_symbols import objects

sys.path.insert(0, str(ROOT) + "/tools")

import texts as listed  # noqa: E402

def built_strings():
    """(source, string) of all that the compiler keeps as strings."""
    built = {str(path): source for source, path in objects(".").items() if source.startswith(listed.FOLDERS)}
    out = subprocess.run(["readelf", "-W", "-p", ".rodata.str1.1", "-p", ".rodata.str1.8", *built], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False).stdout.decode("utf-8", "replace")
    source = None
    for line in out.splitlines():
        if line.startswith("File: "):
            source = built[line[len("File: "):]]
        elif match := re.match(r" +\[ *[0-9a-f]+\] +(.*)", line):
            yield source, match.group(1)


def words_of(text):
    """What is read of a string, between its conversions: where the compiler sees one string, the source may have macros."""
    return [" ".join(part.split()) for part in re.split(r"%[-+ #0-9.*]*[hljzt]*[a-zA-Z]|\^[A-Z\[]|\\[nt\"]|[\"']|[^ -~]+", text)]


class List(unittest.TestCase):
    def test_all_that_is_compiled_in_is_listed(self):
        known = {file: set() for file, _, _ in listed.texts()}
        everything = "\n".join("\n".join(words_of(text.replace('\\"', '"'))) for _, _, text in listed.texts())
        strings = [(source, words) for source, text in built_strings() for words in words_of(text)
                   if listed.SENTENCE.search(words) and "->" not in words and source.endswith(".c")
                   and not listed.FOR_PROGRAMS.match(source)]
        self.assertGreater(len(strings), 500)
        self.assertGreater(len(known), 100)
        self.assertEqual([(source, words) for source, words in strings if words not in everything], [])

    def test_each_call_of_a_printer_is_listed(self):
        known = {(file, line) for file, line, _ in listed.texts()}
        call = re.compile(r'\b(%s)\((?:[\w>.-]+, )*"((?:[^"\\\n]|\\.)*)"' % "|".join(sorted(listed.PRINTERS)))
        calls = 0
        for file in files_below("libprof", "viewer", endings=(".c",)):
            source = (ROOT / file).read_text()
            for match in call.finditer(source):
                if listed.WORD.search(listed.reads(match.group(2))) and not listed.FOR_PROGRAMS.match(file):
                    calls += 1
                    self.assertIn((file, listed.line_of(source, match.start(2))), known, match.group(0))
        self.assertGreater(calls, 200)

    def test_options_the_page_and_top_are_there(self):
        said = {(file, text) for file, _, text in listed.texts()}
        for file, text in (("viewer/options/options.def", "Show every site, however small."),
                           ("viewer/top/top_tables.c", "FULL IN"), ("viewer/page/page.html", "seep")):
            self.assertTrue(any(its == file and text in words for its, words in said), text)


class English(unittest.TestCase):
    def test_what_no_text_says_any_more_is_not_said_again(self):
        for (banned, instead, held), found in listed.breaches(listed.texts()):
            if held:
                self.assertEqual(found, [], "not %s, but: %s" % (banned, instead))

    def test_a_rule_finds_what_breaks_it(self):
        found = dict((rule[0], lines) for rule, lines in listed.breaches([("a.c", 1, "an image as large as that")]))
        self.assertEqual(found[r"\bas large as that\b"], ["a.c:1: an image as large as that"])
        self.assertEqual(sum(map(len, found.values())), 1)


if __name__ == "__main__":
    unittest.main()
