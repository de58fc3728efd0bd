"""What people read of findings is said in libprof/words; who measures and judges has the numbers for it."""
import re
import unittest

from tests.structure.sources import ROOT, files_below

# Comments, #include lines, characters, and strings, of which one goes on in the next.
STRING = r'"(?:[^"\\\n]|\\.)*"'
TOKEN = re.compile(r"/\*.*?\*/|^\s*#\s*include[^\n]*|'(?:[^'\\]|\\.)'|%s(?:\s*%s)*" % (STRING, STRING),
                   re.DOTALL | re.MULTILINE)
SENTENCE = re.compile(r" [a-z]+\b")


def sentences_of(source):
    strings = (token.group(0) for token in TOKEN.finditer(source) if token.group(0).startswith('"'))
    return [string for string in strings if SENTENCE.search(string)]


class Texts(unittest.TestCase):
    def test_who_measures_and_judges_writes_no_sentence(self):
        files = files_below("libprof/measure", "libprof/judge", endings=(".c", ".h"))
        self.assertGreater(len(files), 40)
        found = ["%s: %s" % (file, text) for file in files for text in sentences_of((ROOT / file).read_text())]
        self.assertEqual(found, [], "move these to a header of libprof/words")

    def test_a_sentence_is_found(self):
        source = '/* "a comment" */\n#include "x y.h"\nchar c = \'"\';\n' \
                 'f("%s %d", "step", "it"\n  " grows");\ng("the limit");'
        self.assertEqual(sentences_of(source), ['"it"\n  " grows"', '"the limit"'])


if __name__ == "__main__":
    unittest.main()
