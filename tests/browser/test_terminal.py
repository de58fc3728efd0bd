"""A terminal's screen becomes a page unchanged: its text as text, its escapes as style."""
import unittest

from tests.browser.terminal import BACK, COLOURS, FORE, page_of


class Screens(unittest.TestCase):
    def test_text_is_text(self):
        self.assertIn("&lt;module&gt; &amp; co", page_of("<module> & co\n"))

    def test_escapes_are_style_until_they_are_taken_back(self):
        page = page_of("\x1b[1;4mHEAD\x1b[0m plain \x1b[7mchosen\x1b[0;32mgreen\x1b[39mnot\x1b[1;38;5;166mleak\x1b[m")
        for text, style in (("HEAD", "color:%s;background:%s;font-weight:bold;text-decoration:underline" % (FORE, BACK)),
                            (" plain ", "color:%s;background:%s" % (FORE, BACK)),
                            ("chosen", "color:%s;background:%s" % (BACK, FORE)),
                            ("green", "color:%s;background:%s" % (COLOURS[2], BACK)),
                            ("leak", "color:#d75f00;background:%s;font-weight:bold" % BACK),
                            ("not", "color:%s;background:%s" % (FORE, BACK))):
            self.assertIn('<span style="%s">%s</span>' % (style, text), page)
        self.assertNotIn("\x1b", page)


if __name__ == "__main__":
    unittest.main()
