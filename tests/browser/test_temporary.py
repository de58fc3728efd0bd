"""Memory that lives within a step only: a measure of the flame graph, and columns of the table."""
import unittest

from tests.browser.job_page import PageCase
from tests.browser.page import STICKS_OUT

# Each step makes ten blocks of 100 KB, three at once at most, and keeps one of 10 KB.
JOB = '''
import time
import seep

kept = []


def brief():
    for _ in range(3):
        three = [bytearray(100000) for _ in range(3)]
        del three
    bytearray(100000)


def keep():
    kept.append(bytearray(10000))


for step in range(40):
    brief()
    keep()
    seep.step()
    time.sleep(0.005)
'''


class Temporary(PageCase):
    def test_the_flame_graph_has_what_was_freed_within_its_step(self):
        self.browser.open(self.page("temporary", JOB), "#flame?measure=temporary")
        self.assertAlmostEqual(self.browser.run("return treeMade.tree.value") / (40 * 10 * 100000), 1, delta=0.1)
        boxes = " ".join(self.browser.run("return [...document.querySelectorAll('g.frame')].map((g) => g.textContent);"))
        self.assertIn("brief", boxes)
        self.assertNotIn("keep", boxes, "what is kept is not temporary")

    def rows(self, search):
        self.browser.open(self.page("temporary", JOB), "#sites?columns=temporary,temporary_peak&sort=temporary&search=" + search)
        self.assertEqual(self.browser.run(STICKS_OUT), [])
        return [row.text.replace("\u00a0", " ").split("\n") for row in self.browser.all(".rows .row")]

    def test_the_table_has_rate_and_peak(self):
        rows = self.rows("")
        self.assertIn("brief", rows[0][0])
        rate, peak = (float(text.split()[0]) * {"KiB": 1, "MiB": 1024}[text.split()[1]] * 1024 for text in rows[0][1:])
        self.assertGreater(rate, 850000, rows)  # of the line with three
        self.assertLess(rate, 1100000, rows)
        self.assertAlmostEqual(peak, 300000, delta=20000)
        self.assertEqual(self.rows("keep")[0][1], "0 B")


if __name__ == "__main__":
    unittest.main()
