"""What tests of documentation read of a page."""
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"


def section(page, title):
    """The section of docs/PAGE with this title, with those below it."""
    found, level, fenced = [], 0, False
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines(keepends=True):
        fenced ^= line.startswith("```")
        heading = None if fenced else re.match(r"(#+) (.*)\n", line)
        if heading and level and len(heading.group(1)) <= level:
            break
        if level:
            found.append(line)
        elif heading and heading.group(2) == title:
            level = len(heading.group(1))
    assert level, "docs/%s has no section %s" % (page, title)
    return "".join(found)


def blocks(text, language):
    """What stands in its fences of a language."""
    return re.findall(r"(?ms)^```%s\n(.*?)^```$" % language, text)
