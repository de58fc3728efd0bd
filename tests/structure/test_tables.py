"""Tables and pages say the same: patterns.def and thresholds.def, what is printed of them, and the tests they name."""
import functools
import json
import re
import sys
import unittest

from tests.e2e.support import ROOT
from tests.structure.sources import files_below

sys.path.insert(0, str(ROOT) + "/tools")

import lists  # noqa: E402
import patterns as tables  # noqa: E402
import report_fields  # noqa: E402

KINDS = ("zoo", "lab", "unit")


def text(path):
    return (tables.ROOT / path).read_text()


@functools.cache
def names():
    return [pattern["name"] for pattern in tables.patterns()]


class Launchers(unittest.TestCase):
    def test_the_page_shows_the_variables_of_every_launcher(self):
        rows = re.findall(r'^SEEP_LAUNCHER\(("[^)]*?), (?:true|false)\)', text("libprof/runtime/program/cluster_variables.def"), re.M)
        wanted = []
        for row in rows:
            name, *variables = [word.strip().strip('"') for word in row.split(",")]
            self.assertEqual(len(variables), 8, name)
            wanted.append([name] + ["`%s`" % word if word not in ("NULL", "") else "" for word in variables])
        page = re.search(r"^\| launcher \| rank \|.*?\n\n", text("docs/clusters.md"), re.M | re.S).group(0).splitlines()[2:]
        shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in page if line]
        self.assertEqual(shown, wanted)


class Patterns(unittest.TestCase):
    def test_every_row_is_read(self):
        rows = re.findall(r"^SEEP_PATTERN\((\w+)", tables.PATTERNS.read_text(), re.M)
        self.assertEqual([pattern["id"] for pattern in tables.patterns()], rows)

    def test_the_name_is_that_of_the_identifier(self):
        for pattern in tables.patterns():
            self.assertEqual(pattern["id"], pattern["name"].upper().replace("-", "_"))
            self.assertEqual(pattern["predicate"], pattern["id"].lower())

    def test_every_row_says_by_what_it_is_told(self):
        for pattern in tables.patterns():
            self.assertTrue(pattern["signs"].endswith("."), pattern["name"])

    def test_something_shows_each(self):
        for pattern in tables.patterns():
            with self.subTest(pattern["name"]):
                shown = tables.shown_by(pattern)
                self.assertTrue(any(shown[kind] for kind in KINDS),
                                "no zoo job, no variant of seep-lab and no unit test of the judge names it")

    def test_the_zoo_names_none_that_is_not_there(self):
        for job, table in tables.zoo_jobs().items():
            self.assertLessEqual(set(table.get("patterns", ())), set(names()), job)

    def test_the_lab_names_none_that_is_not_there(self):
        self.assertLessEqual({pattern for _, _, pattern in tables.lab_variants()}, set(names()))

    def test_the_lab_is_read_whole(self):
        written = sum(len(re.findall(r'\.pattern = "', path.read_text()))
                      for path in (tables.ROOT / "kernels/lab/scenarios").glob("*.c"))
        self.assertEqual(len(list(tables.lab_variants())), written)


class Confidence(unittest.TestCase):
    def test_the_schema_has_the_words_and_what_they_mean(self):
        said = json.loads(text("docs/report.schema.json"))["$defs"]["confidence_word"]
        self.assertEqual(said["enum"], [row["word"] for row in tables.confidences()])
        self.assertEqual(said["description"], "; ".join("%s: %s" % (row["word"], row["meaning"]) for row in tables.confidences()))


class ReportFields(unittest.TestCase):
    """That the schema has the fields of the table, test_the_readme_and_the_schemas_are_made_from_the_tables holds."""

    def test_every_row_is_read(self):
        table = report_fields.TABLE.read_text()
        rows = [row for *_, its in report_fields.objects() for row in its]
        self.assertEqual(len(rows), len(re.findall(r"^SEEP_(?:FIELD|RENAMED)\(", table, re.M)))
        self.assertEqual([name for name, *_ in report_fields.objects()], re.findall(r"^SEEP_END\((\w+)\)", table, re.M))

    def test_what_the_program_reads_has_a_reader_that_is_called(self):
        code = "".join(path.read_text() for room in ("libprof", "viewer", "kernels") for path in tables.ROOT.glob(room + "/**/*.c"))
        for name, _, use, *_ in report_fields.objects():
            self.assertEqual("seep_report_%s_read(" % name in code, use == "READ", name)

    def test_every_form_is_defined(self):
        schema = json.loads(text("docs/report.schema.json"))
        named = set(re.findall(r"#/\$defs/(\w+)", json.dumps(schema)))
        self.assertEqual(named, set(schema["$defs"]), "what is named, and what is defined")


class Lists(unittest.TestCase):
    """What repeats the words of a closed list has those of the table."""

    def test_the_readme_and_the_schemas_are_made_from_the_tables(self):
        for file in lists.FILES:
            self.assertEqual(text(file), lists.filled(file), file + " is not up to date: make pages")

    def test_the_schema_has_every_list(self):
        schema = re.sub(r"\s", "", text("docs/report.schema.json"))
        for table in lists.ENUMS:
            self.assertGreater(len(tables.names_of(table)), 3, table)
            self.assertIn(",".join('"%s"' % name for name in tables.names_of(table)), schema, table)

    def test_the_schema_has_every_reason_for_which_a_copy_is_refused(self):
        names = [*tables.names_of("COPY_REFUSAL"), "reader-died", "not-permitted", "overhead", "other"]
        self.assertIn(",".join('"%s"' % name for name in names), re.sub(r"\s", "", text("docs/report.schema.json")))

    def test_the_browser_has_a_word_for_each_role_and_severity(self):
        for table, file, name in (("PROCESS_ROLE", "processes.js", "ROLE_NAMES"), ("SEVERITY", "findings/findings.js", "SEVERITY_MARK")):
            keys = re.search(r"const %s = \{(.*?)\};" % name, text("viewer/page/" + file)).group(1)
            self.assertEqual(set(re.findall(r'"?([\w-]+)"?: ', keys)), set(tables.names_of(table)), file)

    def test_the_browser_knows_the_spaces(self):
        table = re.search(r"(?s)const SPACE_WORDS = \{(.*?)\};", text("viewer/page/readable.js")).group(1)
        known = dict(re.findall(r'"(\w+)": "([^"]+)"', table))
        rows = re.findall(r'SEEP_SPACE\(\w+, "(\w+)[^"]*"(?:, "([^"]+)")?\)', text("libprof/words/spaces.def"))
        self.assertEqual(set(known), {name for name, _ in rows})
        for name, words in rows:
            self.assertEqual(words or known[name], known[name])

    def test_a_severity_has_the_colour_of_the_page_on_a_terminal(self):
        """Of xterm's 256 colours, all but the first 16 of which are the same everywhere."""
        codes = re.search(r"codes\[SEEP_N_SEVERITIES\] = \{(.*?)\};", text("libprof/print/put_text.c"), re.S).group(1)
        for name, number in zip(tables.names_of("SEVERITY"), map(int, re.findall(r"38;5;(\d+)", codes)), strict=True):
            page, = re.findall(r"--%s: #(\w{6});" % name, text("viewer/page/page.css"))
            cube = [55 + 40 * level if level else 0 for level in ((number - 16) // 36, (number - 16) // 6 % 6, (number - 16) % 6)]
            terminal = [8 + 10 * (number - 232)] * 3 if number >= 232 else cube
            for wanted, has in zip(bytes.fromhex(page), terminal, strict=True):
                self.assertLess(abs(wanted - has), 24, name)

    def test_the_makefile_fills_pages_from_every_table_that_they_name(self):
        tables_of_make = re.search(r"(?ms)^TABLES := (.*?[^\\])$", text("viewer/options/rules.mk")).group(1)
        texts = [*(tables.ROOT / "docs/man").glob("*.txt"), tables.ROOT / "viewer/options/options.def"]
        named = {name for path in texts for name in re.findall(r"@(?:EACH )?([A-Z_]+)(?: [a-z]+)?@", path.read_text())}
        self.assertGreater(len(named), 5)
        for name in named - {"OPTIONS", "NAME"}:
            homes = [path.name for path in tables.ROOT.glob("*/*/*.def") if "\nSEEP_%s(" % name in path.read_text()]
            self.assertEqual(len(homes), 1, name)
            self.assertIn(homes[0], tables_of_make)


class Thresholds(unittest.TestCase):
    def test_every_row_is_read(self):
        rows = re.findall(r"^SEEP_(?:COUNT|RATIO)\((\w+)", tables.THRESHOLDS.read_text(), re.M)
        self.assertEqual([threshold["name"] for threshold in tables.thresholds()], rows)

    def test_each_is_held_by_a_test_that_is_there(self):
        for threshold in tables.thresholds():
            self.assertIn(threshold["held_by"], tables.holders(), threshold["name"])

    def test_each_is_used(self):
        used = {name for path in (tables.ROOT / "libprof").rglob("*.c") for name in re.findall(r"\bSEEP_T_(\w+)", path.read_text())}
        self.assertEqual({threshold["name"] for threshold in tables.thresholds()} - used, set())


# Constants of mathematics, which no verdict could have otherwise.
NORMAL_95 = "1.959964"


def ratios_in(code):
    """Numbers with a fraction in C, but for 0.5 that is added to round."""
    bare = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', " ", code, flags=re.S)
    return re.findall(r"(?<![\w.])\d*\.\d*[1-9]\d*(?:e[-+]?\d+)?(?![\w.])", re.sub(r"\+ 0\.5\b", "+", bare))


class Ratios(unittest.TestCase):
    """Where verdicts are made, a part of a whole is a row of the table, so that it has a reason and a test."""

    ROOMS = ("code", "model", "measure", "verdict", "who")

    def test_none_stands_in_the_code(self):
        files = [path for room in self.ROOMS for ending in ("*.c", "*.h") for path in (tables.ROOT / "libprof" / room).rglob(ending)]
        self.assertGreater(len(files), 100)
        found = {str(path.relative_to(tables.ROOT)): set(ratios_in(path.read_text())) - {NORMAL_95} for path in files}
        self.assertEqual({name: ratios for name, ratios in found.items() if ratios}, {}, "rows of " + tables.THRESHOLDS.name)

    def test_one_would_be_found(self):
        self.assertEqual(ratios_in('#define A 0.7 /* 0.8 */\nx = (int)(y + 0.5) * 100.0; s = "%.1f 0.3"; z > 1.5 * .25;'),
                         ["0.7", "1.5", ".25"])


def missing_from(page):
    """What a page names by a path, and is not there: from the root, its own folder, libprof/ or preload/, with its ending
    or without. Names with a place for a name in them (NAME, FAMILY, …) are left out."""
    named = {name for name in re.findall(r"`([\w./*-]+)`", text(page)) if "/" in name}
    named = {name for name in named if not name.startswith("build/") and not re.search(r"[A-Z]{3}", name)}
    return sorted(name for name in named
                  if not any(any(tables.ROOT.glob(below + name.rstrip("/") + ending))
                             for below in ("", page[:page.rfind("/") + 1], "libprof/", "preload/") for ending in ("", ".c", ".h")))


class Page(unittest.TestCase):
    def test_what_the_guides_name_is_there(self):
        notes = files_below("libprof", "preload", "viewer", endings=("README.md",))
        self.assertGreater(len(notes), 8)
        for page in ("docs/architecture.md", "docs/testing.md", "CONTRIBUTING.md", *notes):
            self.assertEqual(missing_from(page), [], page)

    def test_each_rule_of_recording_ends_with_the_tests_that_hold_it(self):
        section = re.search(r"(?ms)^## What must hold while recording$(.*?)(?:^## |\Z)", text("docs/architecture.md")).group(1)
        rules = re.findall(r"(?ms)^- (.*?)(?=^- |^$|\Z)", section)
        self.assertGreater(len(rules), 10)
        for rule in rules:
            said = re.search(r"\(((?:`tests/[\w/.]+`,?\s*)+)\)\s*$", rule)
            self.assertTrue(said, rule)
            self.assertEqual([name for name in re.findall("`(.*?)`", said.group(1)) if not (tables.ROOT / name).is_file()], [])

    def test_the_page_is_made_from_the_tables(self):
        self.assertEqual(text("docs/patterns.md"), tables.page(), "docs/patterns.md is not up to date: make pages")


if __name__ == "__main__":
    unittest.main()
