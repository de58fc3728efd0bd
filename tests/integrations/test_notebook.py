"""%seep look and %%seep in IPython, in a process of its own: what is shown of who holds memory, and of what grew."""
import os
import textwrap
import unittest

from tests.e2e.support import NO_LOOKS, SEEP, SYSTEM_PYTHON, SeepCase, job_env, needs_to_read_children

PACKAGE = os.path.join(os.path.dirname(SEEP), "python")
START = """
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell.instance()
    def run(cell):
        result = shell.run_cell(cell)
        print("-- %s" % (result.error_before_exec or result.error_in_exec or "ok"), flush=True)
    run("%load_ext seep")
"""
FILL = "weights = [bytearray(1 << 20) for _ in range(20)]"


@needs_to_read_children
class Notebook(SeepCase):
    def run_cells(self, *cells, under_seep=False, env=None):
        """The output of each cell."""
        path = self.path("cells.py")
        with open(path, "w") as f:
            f.write(textwrap.dedent(START) + "".join("run(%r)\n" % cell for cell in cells))
        env = env or job_env(PYTHONPATH=PACKAGE, IPYTHONDIR=self.path("ipython"), HOME=self.dir)
        if under_seep:
            profile = self.run_seep([SYSTEM_PYTHON, path], options=NO_LOOKS, env=env, timeout=180)
            self.profile, done = profile, profile.done
        else:
            done = self.command([SYSTEM_PYTHON, path], env=env, timeout=180)
        self.assertEqual(done.status, 0, repr(done))
        self.err = done.err
        parts = done.stdout.decode().split("-- ")
        self.assertEqual(len(parts), len(cells) + 2, repr(done))
        self.endings = [part.splitlines()[0] for part in parts[1:]]
        self.assertEqual(self.endings[0], "ok", repr(done))
        return [before.partition("\n")[2] for before in parts[1:-1]]

    def test_a_line_shows_what_holds_most(self):
        _, out = self.run_cells(FILL, "%seep look")
        self.assertRegex(out, r"What holds most .*\n20\.\d MiB +.*weights")
        self.assertEqual(self.endings, ["ok"] * 3)

    def test_a_line_takes_the_commands_options_and_passes_its_errors_on(self):
        out, bad, usage = self.run_cells("%seep look --format json", "%seep look --bogus", "%seep")
        self.assertIn('"format": "seep-look"', out)
        self.assertEqual((bad, usage), ("", ""))
        self.assertIn("seep: unknown option --bogus", self.err)
        self.assertIn("seep: %seep look [options of `seep look`]", self.err)

    def test_a_cell_shows_what_grew_while_it_ran(self):
        _, out = self.run_cells(FILL, "%%seep\nprint('inside')\nmore = [bytearray(1 << 20) for _ in range(8)]")
        self.assertRegex(out, r"\Ainside\nlive memory \+8\.\d+ MiB to .*, RSS \+.*\n\+8\.\d+ MiB  .*more")
        self.assertNotIn("weights", out)

    def test_a_cell_that_keeps_nothing_says_so_and_one_that_fails_is_shown_as_ever(self):
        out, failed, after = self.run_cells("%%seep\nx = 1", "%%seep\n1 / 0", "%%seep\nprint(x)")
        self.assertIn("nothing holds 64 KiB more than before", out)
        self.assertIn("ZeroDivisionError", failed)
        self.assertTrue(after.startswith("1\n"))

    def test_a_cell_runs_even_where_it_cannot_be_looked_at(self):
        outs = self.run_cells("%%seep --bogus\nprint('inside')", "%%seep \"\nprint('inside')",
                              "%%seep -o %s\nprint('inside')" % self.path("look.json"))
        self.assertEqual(outs, ["inside\n"] * 3)
        self.assertEqual(self.endings, ["ok"] * 4)
        self.assertIn("seep: unknown option --bogus", self.err)

    def test_a_look_that_has_ended_fails_no_cell_and_is_no_growth_of_nothing(self):
        slow, fails, killed, second = self.run_cells(
            "import seep.notebook, time\nallow = seep.notebook.allow\n"
            "seep.notebook.allow = lambda pid: (time.sleep(0.5 if pid else 0), allow(pid))",
            "%%seep --bogus\nprint('inside')",
            "take, looks = seep.notebook.Look.take, []\n"
            "def end_second(look):\n"
            "    looks.append(look)\n"
            "    if len(looks) == 2:\n"
            "        look.child.kill()\n"
            "        look.child.wait()\n"
            "    return take(look)\n"
            "seep.notebook.Look.take = end_second",
            "%%seep\nprint('inside')")
        self.assertEqual((slow, fails, killed, second), ("", "inside\n", "", "inside\n"))
        self.assertEqual(self.endings, ["ok"] * 5)
        self.assertIn("seep: unknown option --bogus", self.err)
        self.assertIn("seep: the cell was not looked at", self.err)

    def test_under_seep_the_lines_of_code_are_shown(self):
        with open(self.path("made.py"), "w") as f:
            f.write("def make():\n    return [bytearray(1 << 20) for _ in range(8)]\n")
        out, = self.run_cells("%%seep\nimport made\nmore = made.make()", under_seep=True)
        self.assertRegex(out, r"\+8\.\d+ MiB  .*more.*\n    made at .*made\.py:2 in ")
        self.assertEqual(len(self.profile.report["processes"]), 1)


if __name__ == "__main__":
    unittest.main()
