"""What the suites about pages share."""
import os
import re


def assert_page_says(case, page, text):
    """man(1) has nothing to say against the page, and it has all words of the text."""
    done = case.command(["man", "--warnings", "-l", page],
                        env=dict(os.environ, MANWIDTH="1000", MANROFFOPT="-Wall", LC_ALL="C"))
    case.assertEqual((done.status, done.err), (0, ""), page)
    words = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout.decode()).split()
    case.assertEqual([w for w in text.split() if w not in words], [], page)
