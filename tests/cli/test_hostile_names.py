"""Names that could take over a terminal, reverse text or fill the screen are harmless, whatever command shows them."""
import json
import unittest

from tests.cli.ci_jobs import CiCase
from tests.cli.hostile_jobs import hostile_job

JOB = hostile_job(r"""["\x1b[31mred\x1b[2J\x1b]0;owned\x07", "\u202eevil\u2066x\u200f", "\x9b31m\x85c1", "new\nline\rcr\ttab\x7f",
         "line\u2028paragraph\u2029", "a" * 10000000, "</script><b>&amp;", "w" + "\u0300" * 3000]""")
TURNS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
LONGEST = 10000  # of a line: a name is cut


def harmful(text):
    """Characters of a text that do something, lines and tabs aside."""
    return sorted({hex(ord(c)) for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0 or c in TURNS})


def texts_of(value):
    """All texts of a document, names of fields among them."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return list(value) + [text for one in value.values() for text in texts_of(one)]
    return [text for one in value for text in texts_of(one)] if isinstance(value, list) else []


class HostileNames(CiCase):
    def hostile(self):
        with open(self.path("hostile.py"), "w") as f:
            f.write(JOB)
        folder = self.path("hostile.d")
        done = self.seep("run", "-o", folder, "--", "/usr/bin/python3", self.path("hostile.py"), "\x1b[31marg\u202e\x9b")
        self.assertEqual(done.status, 0, done.stderr[-500:])
        self.assertEqual(harmful(done.stderr.decode()), [], "what seep run says at the end")
        return folder

    def test_no_command_shows_what_they_do(self):
        folder = self.hostile()
        for command in (("report", folder), ("report", folder, "--format", "markdown"), ("report", folder, "--format", "junit"),
                        ("report", folder, "--all"), ("check", folder), ("diff", self.leak, folder), ("verify", folder, folder),
                        ("top", "--once", folder), ("export", folder, "--format", "collapsed"),
                        ("export", folder, "--format", "openmetrics")):
            done = self.seep(*command)
            self.assertIn(done.status, (0, 1), repr(done)[:500])
            text = done.stdout.decode() + done.stderr.decode()
            self.assertRegex(text, "owned|evil|31m|hostile", command)
            self.assertEqual(harmful(text), [], command)
            self.assertLess(max(map(len, text.split("\n"))), LONGEST, command)

    def test_documents_hold_them_as_harmless_text(self):
        folder = self.hostile()
        for command in (("report", folder, "--format", "json", "--all"), ("report", folder, "--format", "sarif"),
                        ("export", folder, "--format", "speedscope")):
            done = self.seep(*command)
            self.assertEqual(done.status, 0, repr(done)[:500])
            texts = texts_of(json.loads(done.stdout))
            self.assertRegex("".join(texts), "owned|evil|31m|hostile", command)
            self.assertEqual(harmful("".join(texts).replace("\n", "")), [], command)
            self.assertLess(max(map(len, texts)), LONGEST, command)
        page = self.path("page.html")
        self.assertEqual(self.seep("view", "-o", page, folder).status, 0)
        with open(page, encoding="utf-8") as f:
            data = f.read().split('id="data">\n')[1].split("</script>")[0]
        self.assertLess(len(data), 1 << 20)
        self.assertEqual(harmful("".join(texts_of(json.loads(data)))), [])


if __name__ == "__main__":
    unittest.main()
