"""Every option of viewer/options/options.def: the built command takes it, its page says it, and the completion that is installed
offers it."""
import os
import re
import subprocess
import sys

from tests.e2e.support import ROOT, SEEP, SeepCase

sys.path.insert(0, str(ROOT) + "/tools")

import patterns as tables  # noqa: E402

COMPLETION = os.path.join(os.path.dirname(SEEP), "completion.bash")
NAMES = ("id", "commands", "letter", "name", "argument", "suggestions", "variable", "text")
VALUES = {"BUDGET": "3%,64MiB", "FILE": str(ROOT / "libprof/code/roles.toml"), "DIR": "folder", "REGEX": "step", "SPACE=SIZE": "host=1MiB",
          "NAME=N": "leak=0", "FORMAT": "collapsed", "SIZE": "64MiB", "SECONDS": "2", "TIME": "10m", "N": "2", "PID": "4711", "[ADDR:PORT]": "127.0.0.1:0"}


def rows():
    """Of each row its texts as the table has them, but the words of its argument in place of a table's name."""
    found = [dict(zip(NAMES, fields, strict=True))
             for _, _, fields in tables.rows(ROOT / "viewer/options/options.def", "SEEP_OPTION")]
    for row in found:
        row["argument"] = re.sub("@([A-Z_]+)@", lambda m: "|".join(tables.names_of(m.group(1))), row["argument"])
    return found


def commands():
    return [fields[0] for _, _, fields in tables.rows(ROOT / "viewer/options/commands.def", "SEEP_COMMAND")]


def options_of(command):
    return [row for row in rows() if command in row["commands"].split()]


def has_value(row):
    return row["argument"] != "NULL"


def forms(row):
    """The ways to write an option."""
    return ["-" + row["letter"].strip("'")] * (row["letter"] != "0") + ["--" + row["name"]]


class Taken(SeepCase):
    """No words follow, so that a command which has taken its options says that it misses them."""

    MISSING = re.compile(r"seep: (no (job|profile|digest|process) is given|\w+ takes (a|one|two) folders?|"
                         r"no format is given)")

    def says(self, *args, **variables):
        done = self.seep(*args, cwd=self.dir, env=dict(os.environ, **variables))
        self.assertIn(done.status, (2, 125), (args, done))
        self.one_line_error(done)
        return done.stderr.decode()

    def test_a_command_takes_each_of_its_options(self):
        for command in commands():
            for row in options_of(command):
                for form in forms(row):
                    with self.subTest(command=command, option=form):
                        if row["name"] == "help":
                            self.assertEqual(self.seep(command, form).stdout, self.seep("help", command).stdout)
                            continue
                        value = VALUES.get(row["argument"], row["argument"].split("|")[0])
                        args = [form] + ([value] if has_value(row) else [])
                        self.assertRegex(self.says(command, *args), self.MISSING)

    def test_an_option_with_a_value_asks_for_it(self):
        for command in commands():
            for row in options_of(command):
                if has_value(row) and not row["argument"].startswith("["):
                    for form in forms(row):
                        self.assertEqual(self.says(command, form),
                                         "seep: option %s needs a value: see `seep help %s`\n" % (form, command))

    def test_a_command_takes_no_option_of_another(self):
        for command in commands():
            known = ["--" + row["name"] for row in options_of(command)]
            for row in rows():
                option = "--" + row["name"]
                if known and not any(name.startswith(option) for name in known):
                    self.assertEqual(self.says(command, option),
                                     "seep: unknown option %s: see `seep help %s`\n" % (option, command))

    def test_a_variable_says_the_same_and_is_named_where_it_is_wrong(self):
        told = [row for row in rows() if row["variable"] != "NULL"]
        self.assertGreater(len(told), 10)
        for row in told:
            if has_value(row) and row["argument"] != "DIR":
                self.assertTrue(self.says("run", **{row["variable"]: "("}).startswith("seep: %s (" % row["variable"]), row["id"])
            value = VALUES.get(row["argument"], row["argument"].split("|")[0])
            self.assertRegex(self.says("run", **{row["variable"]: value}), self.MISSING)

    def test_a_word_that_an_option_does_not_know_is_told_with_those_that_it_does(self):
        for command in commands():
            for row in options_of(command):
                words = row["argument"].split("|")
                if len(words) > 1:
                    said = self.says(command, "--" + row["name"], "walk")
                    self.assertIn("walk", said)
                    for word in words:
                        if word.islower():
                            self.assertIn(word, said)


class Pages(SeepCase):
    def test_the_page_of_a_command_has_each_of_its_options(self):
        for command in commands():
            page = self.seep("help", command).stdout.decode()
            for row in options_of(command):
                head = r"(?m)^    .*%s%s%s$" % (re.escape("--" + row["name"]),
                                                "" if not has_value(row) else re.escape(" " + row["argument"]),
                                                "" if row["variable"] == "NULL" else re.escape("  [%s]" % row["variable"]))
                self.assertRegex(page, head)
                self.assertIn(row["text"].split("@")[0], " ".join(page.split()))


class Completion(SeepCase):
    def complete(self, *lines):
        """What is offered for the last word of each line. The completion is loaded inside a function, as
        bash-completion does it."""
        script = ('load() { source "$1"; }; load "$0"; while read -ra COMP_WORDS; do COMP_WORDS[-1]=${COMP_WORDS[-1]#.}; '
                  'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _seep; echo "${COMPREPLY[*]}"; done')
        typed = "".join(" ".join((*line[:-1], "." + line[-1])) + "\n" for line in lines)
        done = subprocess.run(["bash", "-c", script, COMPLETION], input=typed, capture_output=True, text=True, cwd=self.dir,
                              check=False)
        self.assertEqual(done.stderr, "")
        offered = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(len(offered), len(lines))
        return offered

    def test_it_offers_the_commands(self):
        offered, of_help = self.complete(("seep", ""), ("seep", "help", ""))
        self.assertEqual(offered, commands() + ["--help", "--version"])
        self.assertEqual(of_help, commands())

    def test_it_offers_each_option_of_the_command(self):
        names = [name for name in commands() if options_of(name)]
        for command, offered in zip(names, self.complete(*(("seep", name, "-") for name in names))):
            self.assertEqual([word for word in offered if word != "--"],
                             [form for row in options_of(command) for form in forms(row)])

    def test_it_offers_words_files_and_folders(self):
        os.mkdir(self.path("folder"))
        open(self.path("file"), "w").close()
        self.assertEqual(self.complete(("seep", "run", "--gpu", ""), ("seep", "run", "--helpers", "f"),
                                       ("seep", "check", "--max-growth", "h"), ("seep", "export", "--format", "s"),
                                       ("seep", "run", "-o", "f"), ("seep", "view", "-o", "f"), ("seep", "report", "f"),
                                       ("seep", "view", "--serve", "f")),
                         [["auto", "runtime", "cupti", "off"], ["full"], ["host="], ["speedscope", "snapshot"],
                          ["folder"], ["file", "folder"], ["folder"], ["file", "folder"]])

    def test_a_value_may_follow_the_option_with_an_equals_sign(self):
        self.assertEqual(self.complete(("seep", "run", "--gpu", "="), ("seep", "run", "--gpu", "=", "c")),
                         [["auto", "runtime", "cupti", "off"], ["cupti"]])

    def test_every_word_that_it_offers_is_taken(self):
        valued = [(command, "--" + row["name"]) for command in commands() for row in options_of(command)
                  if has_value(row) and row["argument"] not in ("FILE", "DIR", "PID", "REGEX", "[ADDR:PORT]")]
        for (command, option), offered in zip(valued, self.complete(*(("seep", *line, "") for line in valued))):
            self.assertTrue(offered, (command, option))
            for word in offered:
                value = word + "1MiB" if word.endswith("=") else word
                done = self.seep(command, option, value, "nothing-of-that-name")
                self.assertRegex(done.stderr.decode(), r"^seep: .?(nothing-of-that-name|no format is given|\w+ takes)")

    def test_the_jobs_command_begins_after_the_options_and_their_values(self):
        for line in (("run", "--gpu", "off", "ls"), ("run", "--gpu", "=", "off", "ls"), ("run", "-q", "-o", "x", "--", "ls"),
                     ("doctor", "ls")):
            self.assertIn("ls", self.complete(("seep", *line))[0], line)
        self.assertEqual(self.complete(("seep", "run", "ls", "--gp")), [[]])
