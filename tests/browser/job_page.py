"""The job whose page most tests of the page open."""
import os

from tests.browser.made_up import blown_up, rewritten
from tests.browser.page import BrowserCase
from tests.cli.ci_jobs import CiCase

JOB = '''"""A leak in four epochs, and a process beside."""
import os
import time
import seep

kept = []


def load():
    return bytearray(64 * 1024)


def remember(block):
    kept.append(block)


def worker():
    mine = [bytearray(100 * 1000) for _ in range(40)]
    os._exit(3 if len(mine) == 40 else 0)


def main():
    if os.fork() == 0:
        worker()
    os.wait()
    for step in range(80):
        if step % 20 == 0:
            seep.epoch()
        remember(load())
        seep.step()
        time.sleep(0.005)  # levels over time are those of some milliseconds


main()
'''


class PageCase(BrowserCase, CiCase):
    """Pages by name, made when they are first asked for."""

    _pages = {}

    def page(self, name="job", source=JOB):
        path = self._pages.get(name)
        if not path or not os.path.exists(path):
            with open(os.path.join(self._root, name + "_page.py"), "w") as f:
                f.write(source)
            folder = self.profile(name + "_page", script=name + "_page.py")
            done = self.seep("view", folder)
            self.assertEqual(done.status, 0, repr(done))
            path = self._pages[name] = folder + "/view.html"
        return path

    def open(self, fragment="", **kw):
        self.browser.open(self.page(**kw), fragment)

    def made_up(self, make):
        """A page as make(text of the job's page) has it, opened by the view."""
        path = self.path(make.__name__ + ".html")
        if not os.path.exists(path):
            with open(self.page(), encoding="utf-8") as f, open(path, "w", encoding="utf-8") as out:
                out.write(make(f.read()) if make is hundred_thousand else rewritten(f.read(), make))
        return path


def hundred_thousand(text):
    return blown_up(text, 100000)
