"""The questions that memray's reports and PyTorch's memory_viz answer of a job, asked of them and of `seep view`: how
many actions it takes from the opened page, and what the answer is. Prints tables; no check asks for it.

    tests/peers/questions.py [--keep DIR]

An action is a click, a key, a word typed, a point (the mouse at rest on something) or a drag; a choice from a list is
two clicks. Each of memray's reports is a command and a page of its own: what is not in its flame graph costs those two
more, in the terminal one. `seep view` makes one page. Peers that are
not here are left out: make peers, make gpu-torch."""
import argparse
import dataclasses
import pathlib
import sys
import tempfile
import time
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.browser.page import MISSING, Browser  # noqa: E402
if not MISSING:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.actions.action_builder import ActionBuilder
    from selenium.webdriver.support.ui import Select
from tests.peers import asked_of_device, asked_of_host, figures, pages  # noqa: E402

SECONDS = 60


class Counted:
    """A page, as it was opened, and what is done to it."""

    def __init__(self, browser, file, ready):
        self.browser, self.actions = browser, 0
        browser.look(1280, 900)
        browser.driver.get("about:blank")
        browser.driver.get("file://%s" % file)
        browser.wait(lambda: browser.all(ready), ready)
        browser.settle()

    def element(self, what):
        return self.browser.one(what) if isinstance(what, str) else what

    def done(self, result, actions=1):
        self.actions += actions
        self.browser.settle()
        return result

    def click(self, what):
        return self.done(self.element(what).click())

    def keys(self, *keys):
        return self.done(self.browser.keys(*keys), len(keys))

    def word(self, text):
        return self.done(self.browser.keys(text))

    def choose(self, what, text):
        return self.done(Select(self.element(what)).select_by_visible_text(text), 2)

    def point(self, what):
        return self.done(ActionChains(self.browser.driver).move_to_element(self.element(what)).perform())

    def point_at(self, x, y):
        builder = ActionBuilder(self.browser.driver)
        builder.pointer_action.move_to_location(int(x), int(y))
        return self.done(builder.perform())

    def drag_at(self, start, end):
        builder = ActionBuilder(self.browser.driver)
        builder.pointer_action.move_to_location(*map(int, start)).pointer_down()
        builder.pointer_action.move_to_location(*map(int, end)).pointer_up()
        return self.done(builder.perform())

    def drag(self, what, by):
        return self.done(ActionChains(self.browser.driver).drag_and_drop_by_offset(self.element(what), by, 0).perform())

    def drag_share(self, css, start, end):
        return self.done(self.browser.drag(css, start, end))

    def until(self, true):
        """What is drawn after a moment."""
        end = time.monotonic() + SECONDS
        while not true():
            if time.monotonic() > end:
                raise SystemExit("questions: nothing came within %d s" % SECONDS)
            time.sleep(0.05)
        return true()

    def all(self, css):
        return self.browser.all(css)

    def text(self, css):
        return self.browser.text(css) or ""

    def run(self, script, *args):
        return self.browser.run(script, *args)


@dataclasses.dataclass
class Answer:
    """What a way to ask gives: where it was asked, what it took, what was read."""

    where: str
    actions: typing.Optional[int]
    text: str

    before: int = 0  # what it took to get there from the first page

    def total(self):
        return None if self.actions is None else self.before + self.actions

    def cells(self):
        actions = "" if self.actions is None else str(self.actions)
        return self.where, "%d + %s" % (self.before, actions) if self.before else actions, self.text.replace("|", "\\|")


def asked(browser, made, way):
    """A way is (where, how to get the page, what tells that it is drawn, what to do with it), or (where, text) where no
    page is asked."""
    if way is None:
        return Answer("", None, "not answered")
    if len(way) == 2:  # no page: commands in the terminal
        return Answer(way[0], 0, " ".join(way[1](made).split()), 1)
    where, page, ready, ask = way
    counted = Counted(browser, page(made), ready)
    text = ask(counted)
    if not text:
        raise SystemExit("questions: %s gave no answer" % where)
    return Answer(where, counted.actions, " ".join(str(text).split()), 2 if where in pages.OTHER_REPORTS else 0)


def table(browser, made, peer, questions):
    print("\n| question | %s | actions | its answer | seep | actions | its answer |" % peer)
    print("| --- | --- | --- | --- | --- | --- | --- |")
    fewer = more = 0
    for question, of_peer, of_seep in questions:
        answers = [asked(browser, made, of_peer), asked(browser, made, of_seep)]
        print("| %s |" % " | ".join((question,) + answers[0].cells() + answers[1].cells()), flush=True)
        of_both = [answer.total() for answer in answers]
        if None not in of_both:
            fewer += of_both[1] < of_both[0]
            more += of_both[1] > of_both[0]
    print("\nOf what both answer, seep takes fewer actions in %d, more in %d." % (fewer, more))


def print_tabs(browser, made):
    print("\n| memory_viz | PyTorch's snapshot | seep's |\n| --- | --- | --- |")
    both = [list(asked_of_device.tabs(browser, made.memory_viz(snapshot)))
            for snapshot in (made.snapshot(pages.GPU_JOB), made.seep_snapshot(pages.GPU_JOB))]
    for theirs, ours in zip(*both):
        print("| %s | %s |" % (theirs[0], " | ".join(
            drawn + ("" if not said else ", errors: %s" % said) for _, drawn, said in (theirs, ours))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", metavar="DIR", help="leave what was made there")
    args = parser.parse_args()
    lacking = pages.lacking()
    for what, how in lacking.items():
        print("%s is not here: %s" % (what, how), file=sys.stderr)
    if MISSING:
        raise SystemExit("questions: no %s here" % MISSING)
    with tempfile.TemporaryDirectory() as folder:
        if args.keep:
            folder = args.keep
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        made, browser = pages.Pages(folder), Browser()
        try:
            print(", ".join(pages.versions()))
            if "memray" not in lacking:
                print("\n%s" % " ".join(pages.HOST_JOB))
                table(browser, made, "memray", asked_of_host.QUESTIONS)
                for job in (pages.HOST_JOB, pages.GROWING_JOB):
                    print("\n%s" % " ".join(job))
                    figures.of_host(made, job)
            if not lacking:
                print("\n%s" % " ".join(pages.GPU_JOB))
                table(browser, made, "memory_viz", asked_of_device.QUESTIONS)
                figures.of_device(made, pages.GPU_JOB)
                print_tabs(browser, made)
        finally:
            browser.quit()


if __name__ == "__main__":
    main()
