"""Prints docs/patterns.md: what seep reports and the numbers that it depends on, from the tables that the code uses.

usage: python3 tools/patterns.py > docs/patterns.md      (or: make pages)

tests/structure/test_tables.py holds the page to the tables, and the tables to the tests, by the functions here."""
import functools
import operator
import pathlib
import re
import textwrap
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATTERNS = ROOT / "libprof/words/patterns.def"
CONFIDENCES = ROOT / "libprof/words/confidence.def"
THRESHOLDS = ROOT / "libprof/thresholds/thresholds.def"
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
SCOPES = {"LINE": "each line of the job's code", "JOB": "the job as a whole",
          "LAST": "all other findings, once they are known"}
AXES = {"ANY": "training steps or time slices", "STEPS": "training steps only"}
SPACES = {"ALL": "all", "DEVICE": "device, tensor", "PINNED": "pinned", "SHM": "shm", "NOT_SHM": "all but shm"}
HOLDERS = {"ANY": None, "HELD": "somebody, as far as snapshots saw", "OWNED": "somebody outside of a cycle, as far as snapshots saw"}
CACHES = {"NONE": None, "BOUNDED": "those with a bound, and those that stopped growing", "GROWING": "those that grow without a known bound"}
SMALL = {"NONE": None, "ARENAS": "arenas whose owner is unknown", "HELD": "those with a known holder",
         "CYCLE": "those that only a cycle holds", "ALL": "all"}
SIZES = ((1 << 20, "MiB"), (1 << 10, "KiB"))

TOP = """# Patterns

`make pages` makes this page from `libprof/words/patterns.def`, `libprof/thresholds/thresholds.def`, and the tests that name
their rows. Change those, not this page.

seep tries the patterns on each line of the job's code in this order, and the line gets the first that fits. Patterns of the
job as a whole come last. Words in braces are filled in for each finding. "To do" is the usual advice; a finding that knows
more gives its own.

Totals are judged, too. In each space (host and mmap are one) seep adds up the memory of all lines that do not grow by
themselves, and judges the sum like a line. The sum is one finding, `unbounded-growth` (`shm-growth`) or `undetermined`, if it
grows by a MiB or more and by a fiftieth of the space, over eight lines or more of which none has half of it. The finding's line
is their common caller: seep walks down the tree of stacks as long as one child has half of the growth."""

CONFIDENCES_TOP = """## Confidence

How sure a finding is of its pattern. At least this share of the zoo's verdicts with the word is right.

| word | share | meaning |
| --- | --- | --- |"""

THRESHOLDS_TOP = """## Thresholds

Verdicts depend on these numbers. "Held by" is a unit test that fails if the number is half as much more or less;
`make mutate` tries both for each row."""


# ---- tables ----------------------------------------------------------------------------------------------------------

def fields(row):
    """The arguments of a macro, strings joined as the compiler joins them."""
    row = row[row.index("(") + 1:row.rindex(")")]
    strings = []

    def keep(match):
        strings.append(match.group(1).replace('\\"', '"').replace("\\\\", "\\"))
        return "\0%d\0" % (len(strings) - 1)
    return [re.sub(r"\0(\d+)\0\s*", lambda m: strings[int(m.group(1))], field).strip()
            for field in STRING.sub(keep, row).split(",")]


def rows(path, macro):
    """(heading, comment, arguments) of each row: the heading `---- so ----` that it is under, the comment right above."""
    heading, comment = "", ""
    text = re.compile(r'^/\*(.*?)\*/|^(%s)(\(.*?\)$)' % macro, re.M | re.S)
    for match in text.finditer(path.read_text()):
        if match.group(2):
            yield heading, comment, fields(match.group(3))
            comment = ""
            continue
        said = " ".join(line.strip(" *") for line in match.group(1).splitlines())
        if said.lstrip().startswith("----"):
            heading = said.strip(" -")
        else:
            comment = said.strip()


def names_of(table):
    """The names of the rows of a table, SEEP_TABLE(…): of each the first word in quotes, or else the first field."""
    found = []
    for path in sorted([*ROOT.glob("libprof/**/*.def"), *ROOT.glob("viewer/**/*.def")]):
        for row in re.findall(r"^SEEP_%s\((.*?)\)$" % table, path.read_text(), re.M | re.S):
            found.append((re.findall(r'"([^" ]+)"', row) or [row.split(",")[0]])[0])
    return found


def patterns():
    names = ("id", "predicate", "name", "scope", "axis", "spaces", "holder", "caches", "small", "title", "advice", "signs")
    return [dict(zip(names, arguments, strict=True)) for _, _, arguments in rows(PATTERNS, "SEEP_PATTERN")]


def confidences():
    return [dict(zip(("id", "word", "number", "meaning"), arguments, strict=True))
            for _, _, arguments in rows(CONFIDENCES, "SEEP_CONFIDENCE")]


def thresholds():
    names = ("name", "value", "unit", "why", "held_by")
    return [{**dict(zip(names, arguments, strict=True)), "about": heading}
            for heading, _, arguments in rows(THRESHOLDS, "SEEP_(?:COUNT|RATIO)")]


# ---- what shows them -------------------------------------------------------------------------------------------------

@functools.cache
def zoo_jobs():
    """The zoo's jobs: their tables, by name."""
    return {path.stem: tomllib.loads(path.read_text()) for path in sorted((ROOT / "tests/zoo").glob("*.toml"))}


def lab_variants():
    """(scenario, variant, pattern) of what seep-lab expects."""
    for path in sorted((ROOT / "kernels/lab/scenarios").glob("*.c")):
        text, variant = path.read_text(), None
        for key, value in re.findall(r'\.(name|pattern) = "([^"]+)"', text):
            if key == "pattern":
                yield re.search(r'struct seep_scenario \w+ = \{\s*\.name = "([^"]+)"', text).group(1), variant, value
            variant = value if key == "name" else variant


def unit_tests(pattern):
    """Test programs of the judge that name the pattern."""
    named = re.compile(r'"%s"|SEEP_PATTERN_%s\b' % (re.escape(pattern["name"]), pattern["id"]))
    return [path.stem for path in sorted((ROOT / "tests/verdict").glob("test_*.c")) if named.search(path.read_text())]


def shown_by(pattern):
    """What shows a pattern, by kind: zoo, lab, unit."""
    name = pattern["name"]
    return {"zoo": [job for job, table in zoo_jobs().items() if name in table.get("patterns", ())],
            "lab": ["%s %s" % (scenario, variant) for scenario, variant, its in lab_variants() if its == name],
            "unit": unit_tests(pattern)}


@functools.cache
def holders():
    """What may hold a threshold: unit tests, by their stems."""
    tests = [path.stem for path in (ROOT / "tests").rglob("test_*.c")]
    return {stem for stem in tests if tests.count(stem) == 1}


# ---- the page --------------------------------------------------------------------------------------------------------

def size(text):
    """64 * 1024 as 64 KiB."""
    number, shift = (text + " << 0").split(" << ")[:2]
    number = functools.reduce(operator.mul, (int(f) for f in number.split(" * "))) << int(shift)
    for unit, name in SIZES:
        if number % unit == 0:
            return "%d %s" % (number // unit, name)
    return "%d bytes" % number


def measure(threshold):
    """The value and its unit: 64 KiB; 1/10 of the highest; 0.6 of the windows."""
    value, unit = threshold["value"], threshold["unit"]
    if unit == "bytes":
        return size(value)
    text = unit.replace("1/n", "1/" + value)
    return text if unit.startswith("1/n") else "%s %s" % (value, text)


def paragraph(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"


def describe(pattern):
    shown = shown_by(pattern)
    yield "## %s\n" % pattern["name"]
    yield "> %s\n" % pattern["title"]
    yield paragraph("Signs: " + pattern["signs"])
    yield paragraph("To do: %s" % pattern["advice"])
    yield "- tried on: %s" % SCOPES[pattern["scope"]]
    yield "- axis: %s" % AXES[pattern["axis"]]
    yield "- spaces: %s" % SPACES[pattern["spaces"]]
    for column, words, said in (("holder", HOLDERS, "held by"), ("caches", CACHES, "libraries' caches"), ("small", SMALL, "Python's small objects")):
        if words[pattern[column]]:
            yield "- %s: %s" % (said, words[pattern[column]])
    yield from ("- zoo, `%s`: %s" % (job, zoo_jobs()[job]["title"]) for job in shown["zoo"])
    if shown["lab"]:
        yield "- lab: %s" % ", ".join("`%s`" % variant for variant in shown["lab"])
    if shown["unit"]:
        yield "- unit tests: %s" % ", ".join("`%s`" % test for test in shown["unit"])
    yield ""


def tabulate(table):
    about = None
    for row in table:
        if row["about"] != about:
            about = row["about"]
            yield "\n### %s\n\n| name | value | why | held by |\n| --- | --- | --- | --- |" % (about[0].upper() + about[1:])
        held = "`%s`" % row["held_by"] if row["held_by"] in holders() else row["held_by"]
        yield "| `%s` | %s | %s | %s |" % (row["name"], measure(row), row["why"], held)


def page():
    lines = [TOP, ""]
    for pattern in patterns():
        lines += describe(pattern)
    lines += [CONFIDENCES_TOP]
    lines += ["| `%(word)s` | %(number)s | %(meaning)s |" % row for row in confidences()] + [""]
    lines += [THRESHOLDS_TOP]
    lines += tabulate(thresholds())
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
