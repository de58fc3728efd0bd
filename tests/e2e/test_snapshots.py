"""Frozen copies of a job's processes: unnoticed by the job, none left behind, and read correctly."""
import ctypes
import errno
import glob
import json
import os
import pathlib
import pty
import signal
import struct
import subprocess
import time
import unittest

from tests.e2e.alike import Alike
from tests.e2e.support import (MODULES, SEEP, SHIM, SYSTEM_PYTHON, SeepCase, children_of, job_env, kill_session,
                               needs_to_read_children, session_members, sum_sites, supported)

COPIES = 200
PATIENCE = 20.0  # seconds

GROW = """
import sys, time, seep
kept = []
def keep():
    kept.append(bytearray(300000))
for i in range(40):
    keep()
    seep.step()
    time.sleep(0.01)
"""


def forbid_unsharing():
    """close_range() and unshare() fail from here on, as in some containers (seccomp)."""
    forbid((0x20, 0, 0, 0), (0x15, 2, 0, 436), (0x15, 1, 0, 272))


def forbid_copying():
    """clone() fails from here on if the child is not to be traced, as a copy is not."""
    forbid((0x20, 0, 0, 0), (0x15, 0, 2, 56), (0x20, 0, 0, 16), (0x45, 1, 0, 0x00800000))


def forbid(*finds):
    libc, refuse = ctypes.CDLL(None), 0x00050000 | errno.EPERM
    rows = [*finds, (0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, refuse)]
    code = b"".join(struct.pack("HBBI", *row) for row in rows)
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(held))
    libc.prctl(38, 1, 0, 0, 0)  # no new privileges
    if libc.prctl(22, 2, program, 0, 0):
        os._exit(99)


def name_of(pid):
    try:
        return pathlib.Path("/proc/%d/comm" % pid).read_text().strip()
    except OSError:
        return ""


def has_ended(pid):
    """Nobody may have waited for it yet."""
    try:
        return pathlib.Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def copies_of(leader):
    """They leave the session, but not their makers."""
    return [pid for maker in session_members(leader) for pid in children_of(maker)
            if name_of(pid) == "seep-copy" and not has_ended(pid)]


def documents(folder):
    return [json.loads(pathlib.Path(p).read_text()) for p in glob.glob(os.path.join(folder, "holders-*.json"))]


def line_of(document, function):
    found = [line for line in document["lines"] if line["frame"]["function"] == function]
    return found[0] if found else None


@needs_to_read_children
class Transparent(Alike):
    def test_a_job_does_not_notice_200_copies(self):
        """Threads, children, waits, timers, signals, locks and descriptors are as without."""
        argv = [self.subject("snapshots"), "all", COPIES]
        folder, counts = self.fresh(), self.path("counts")
        plain, steps = self.command(argv, timeout=300), ",".join(map(str, range(1, COPIES + 1)))
        profile = self.run_seep(argv, ("--holders", steps), status=plain.status, folder=folder, timeout=300,
                                env=job_env(COPIES_IN=folder, COUNTS_TO=counts))
        self.assertEqual((plain.stdout, plain.stderr), (profile.done.stdout, profile.done.stderr))
        taken = profile.written["coverage"]["holders"]["taken"]  # on a busy machine one may get no CPU in time, and is let go
        self.assertGreater(taken, 0.9 * COPIES)
        self.assertEqual(profile.written["coverage"]["holders"]["refused"], {"cost": COPIES - taken} if taken < COPIES else {})
        for function, said in json.loads(pathlib.Path(counts).read_text()).items():
            seen = sum_sites(profile.report, function, "host")
            self.assertEqual(seen, {key: said[key] for key in seen}, function)
        kept = [line_of(d, "keep")["blocks"] - d["step"] for d in documents(folder)]
        self.assertEqual(set(kept), {0}, "each step keeps one block more")


class Told(SeepCase):
    """A job that does what it is told, letter by letter."""

    def start(self, *options):
        self.folder = self.fresh()
        p = subprocess.Popen([SEEP, "run", "-q", "-o", self.folder, *options, "--", self.subject("snapshots"), "obey"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=job_env(), start_new_session=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stdin.close)
        self.addCleanup(kill_session, p.pid)
        self.p = p
        return p

    def tell(self, letter, answer):
        self.p.stdin.write(letter.encode())
        self.p.stdin.flush()
        return self.until(self.p.stdout.fileno(), answer.encode() + b"\n")

    def wait_for(self, what, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.005)

    def job(self):
        return [pid for pid in children_of(self.p.pid) if name_of(pid) == "snapshots"][0]

    def copy_that_waits(self, step="s"):
        """The launcher is stopped, so that a copy waits to be read."""
        self.tell("s", "step")
        os.kill(self.p.pid, signal.SIGSTOP)
        self.tell(step, "step")
        self.wait_for("no copy", lambda: copies_of(self.p.pid))
        return copies_of(self.p.pid)[0]

    def go_on(self):
        os.kill(self.p.pid, signal.SIGCONT)

    def end(self, status=0):
        self.p.stdin.close()
        self.assertEqual(self.p.wait(PATIENCE), status)
        self.assertEqual(session_members(self.p.pid), [])


@needs_to_read_children
class Obedient(Told):
    def test_a_copy_holds_no_descriptor_of_the_job(self):
        self.start("--holders", "2")
        self.tell("p", "pipe")
        copy = self.copy_that_waits()
        self.wait_for("descriptors", lambda: os.listdir("/proc/%d/fd" % copy) == [])
        self.tell("c", "eof")
        self.assertEqual(copies_of(self.p.pid), [copy])
        self.go_on()
        self.end()

    def test_all_signals_wait_in_a_copy_and_it_goes_first_where_memory_is_short(self):
        self.start("--holders", "2")
        copy = self.copy_that_waits()
        status = pathlib.Path("/proc/%d/status" % copy).read_text()
        blocked = int(status.split("SigBlk:")[1].split()[0], 16)
        never = 1 << (signal.SIGKILL - 1) | 1 << (signal.SIGSTOP - 1)
        self.assertEqual(blocked | never, (1 << 64) - 1)
        scores = [pathlib.Path("/proc/%s/oom_score_adj" % pid).read_text().strip() for pid in (copy, self.job(), "self")]
        self.assertEqual(scores, ["1000", scores[2], scores[2]], "the job's is as without seep")
        self.go_on()
        self.end()

    def test_a_copy_whose_launcher_died_ends_and_the_job_goes_on(self):
        self.start("--holders", "2,3")
        self.copy_that_waits()
        self.p.kill()
        self.p.wait()  # one that nobody has waited for is still there
        self.wait_for("the copy is still there", lambda: not copies_of(self.p.pid))
        self.tell("s", "step")
        self.assertEqual(copies_of(self.p.pid), [], "nobody would read it")

    def test_a_job_that_is_killed_leaves_no_copy(self):
        self.start("--holders", "2")
        copy = self.copy_that_waits()
        os.kill(self.job(), signal.SIGKILL)
        self.wait_for("the copy is still there", lambda: has_ended(copy))
        self.go_on()
        self.end(137)
        self.assertEqual(documents(self.folder), [], "it went before anybody could read it")

    def test_a_copy_stays_where_the_thread_that_made_it_ends(self):
        self.start("--holders", "2")
        copy = self.copy_that_waits("t")
        time.sleep(0.3)  # longer than it takes to look for its maker
        self.assertEqual(copies_of(self.p.pid), [copy])
        self.go_on()
        self.end()
        self.assertEqual(len(documents(self.folder)), 1)

    def test_one_that_a_thread_made_ends_with_the_job_too(self):
        self.start("--holders", "2")
        copy = self.copy_that_waits("t")
        os.kill(self.job(), signal.SIGKILL)
        self.wait_for("the copy is still there", lambda: has_ended(copy))
        self.go_on()
        self.end(137)

    def test_a_copy_that_is_killed_makes_room_for_the_next(self):
        # It may be a few steps before the end of the first one has been taken.
        self.start("--holders", "2,3,100,200,400,800")
        copy = self.copy_that_waits()
        os.kill(copy, signal.SIGKILL)
        self.wait_for("the copy is still there", lambda: not copies_of(self.p.pid))
        self.go_on()
        deadline = time.monotonic() + PATIENCE
        while not documents(self.folder):
            self.assertLess(time.monotonic(), deadline)
            self.tell("s", "step")
        self.end()
        said = json.loads(pathlib.Path(self.folder, "report.json").read_text())["coverage"]["holders"]
        self.assertGreaterEqual(said["taken"], 1, said)
        self.assertEqual(said["refused"].get("died"), 1, said)

    def test_a_program_that_follows_has_no_child_that_it_does_not_know(self):
        self.start("--holders", "2")
        self.copy_that_waits()
        self.tell("x", "other")
        self.assertEqual(copies_of(self.p.pid), [])
        self.go_on()
        self.end()

    def test_it_is_made_where_the_job_asks(self):
        self.start()
        self.tell("s", "step")
        self.tell("h", "asked")
        self.wait_for("nothing was read", lambda: documents(self.folder))
        self.end()
        (read,) = documents(self.folder)
        self.assertEqual((read["source"], read["step"], line_of(read, "keep")["bytes"]), ("request", 1, 100000))


# Few steps or none, in a function or not: usage: -c SHORT function|module STEPS PAUSE [end]
SHORT = """
import os, sys, time
where, steps, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
if steps < 20:
    import seep
def keep(history):
    for i in range(20):
        history.append(bytearray(20000))
    time.sleep(pause)
    if steps < 20:
        seep.step()
def main():
    history = []
    for i in range(steps):
        keep(history)
history = []
if where == "function":
    main()
else:
    for i in range(steps):
        keep(history)
if len(sys.argv) > 4:
    os._exit(0)
"""

# Neither steps nor a loop; and time for who reads the one in reserve.
WITHOUT_STEPS = """
import time; history = []
def keep(n):
    for i in range(20): history.append(bytearray(20000))
    time.sleep(0.08)
    n > 1 and keep(n - 1)
keep(17)
time.sleep(0.5)"""


@needs_to_read_children
class Short(SeepCase):
    """Jobs that end before it is time to look."""

    def answer(self, *arguments, python=SYSTEM_PYTHON, options=()):
        """(source, step, path) of the only document."""
        profile = self.run_looked_at([python, "-c", SHORT, *map(str, arguments)], options)
        (read,) = documents(profile.folder)
        self.assertEqual(profile.written["coverage"]["holders"], {"taken": 1, "refused": {}})
        line = line_of(read, "keep")
        self.assertEqual(line["state"], "held")
        return read["source"], read["step"], line["paths"][0]["text"]

    def test_a_job_of_eight_steps_has_an_answer_with_what_was_local(self):
        source, step, path = self.answer("function", 8, 0)
        self.assertEqual((source, step, path), ("told", 6, "local 'history' of main()[120] (bytearray)"))

    def test_a_script_of_two_seconds_has_one(self):
        """Whether or not its loop is believed to be the main one by then."""
        profile = self.run_looked_at([SYSTEM_PYTHON, "-c", SHORT, "function", "250", "0.01"])
        read = documents(profile.folder)
        self.assertTrue(read)
        for document in read:
            self.assertIn(document["source"], ("loop", "time"))
            self.assertRegex(line_of(document, "keep")["paths"][0]["text"], r"^local 'history' of (main|keep)\(\)")

    def test_as_the_interpreter_ends_modules_are_still_there(self):
        """The one in reserve is dropped; and what no variable of a module held is not said to be lost."""
        for python in [python for version, python in self.every_python() if supported(version)]:
            with self.subTest(python):
                profile = self.run_looked_at([python, "-c", WITHOUT_STEPS])
                (read,) = documents(profile.folder)
                self.assertEqual(read["source"], "end", profile.written["coverage"]["holders"])
                self.assertEqual(line_of(read, "keep")["paths"][0]["text"], "module __main__.history[340] (bytearray)")
                self.assertEqual({line["state"] for line in read["lines"]} - {"held", "shared"}, set())

    def test_a_job_that_leaves_by_exit_at_once_is_looked_at(self):
        self.answer("function", 8, 0, "end")


@needs_to_read_children
class WhileItRuns(Told):
    """`seep report --holders` has a copy made of a job that does not ask for one."""

    def ask(self):
        return subprocess.Popen([SEEP, "report", "--holders", "--format", "json", self.folder], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=job_env())

    def test_a_job_is_asked_and_answers_at_its_next_step(self):
        self.start("--holders", "1000000")
        self.tell("s", "step")
        asked = self.ask()
        self.addCleanup(asked.kill)
        while asked.poll() is None:
            self.tell("s", "step")
        out, err = asked.communicate()
        self.assertEqual((asked.returncode, err), (0, b""))
        (read,) = documents(self.folder)
        self.assertEqual(read["source"], "request")
        self.assertEqual(json.loads(out)["coverage"]["holders"], {"taken": 1, "refused": {}})
        self.end()

    def test_one_that_has_ended_has_its_report(self):
        self.start()
        self.tell("s", "step")
        self.end()
        done = self.seep("report", "--holders", self.folder)
        self.assertEqual(done.status, 0)
        self.one_line_error(done)
        self.assertIn("has ended", done.err)


def many(steps, then, nodes=15000):
    """A job of so many objects a step that it takes 0.2 s or more to read them; of 60,000, a second or more."""
    return """
import sys, seep
class Node: pass
kept = []
for step in range(%d):
    for i in range(%d):
        node = Node()
        node.it = [i] * 3
        kept.append(node)
    kept.append(bytearray(1000000))
    seep.step()
%s""" % (steps, nodes, then)


@needs_to_read_children
class AtTheEnd(SeepCase):
    """The launcher says on a terminal what it waits for, and need not wait."""

    def run_on_terminal(self, *options, key=None):
        """(status, what the terminal showed, the folder)."""
        folder, shown, pressed = self.fresh(), b"", False
        pid, terminal = pty.fork()
        if pid == 0:
            job = [SYSTEM_PYTHON, "-c", many(8, "print('done')", 60000)]
            os.execve(SEEP, [SEEP, "run", "-o", folder, *options, "--", *job], job_env())
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # it has been closed
                break
            shown += piece
            if key and not pressed and b"Ctrl-C" in shown:
                pressed = True
                os.write(terminal, key)
            if not piece:
                break
        os.close(terminal)
        return os.WEXITSTATUS(os.waitpid(pid, 0)[1]), shown.decode(), folder

    def test_a_terminal_is_told_and_cleared(self):
        tries = (self.run_on_terminal() for _ in range(3))  # a copy that gets no CPU is given up
        status, shown, folder = next((t for t in tries if documents(t[2])), (None, "", self.fresh()))
        read, = documents(folder)  # of the reserve, or of the end if that could be afforded
        self.assertIn((status, read["step"]), ((0, 6), (0, 8)))
        self.assertRegex(shown, r"seep: looking at who holds the memory of process %d, step %d \(Ctrl-C skips this\)\r +\r"
                         % (read["pid"], read["step"]))

    def test_ctrl_c_skips_the_reading_and_nothing_else(self):
        status, shown, folder = self.run_on_terminal(key=b"\x03")
        self.assertEqual((status, documents(folder)), (0, []))
        self.assertIn("8 steps", shown, "the report")

    def test_quiet_is_quiet(self):
        status, shown, folder = self.run_on_terminal("-q")
        self.assertEqual((status, shown, len(documents(folder))), (0, "done\r\n", 1))


@needs_to_read_children
class Policy(SeepCase):
    def coverage(self, profile):
        return profile.written["coverage"]["holders"]

    def test_a_job_that_grows_has_the_line_that_keeps(self):
        profile = self.run_seep([SYSTEM_PYTHON, "-c", GROW])
        read = documents(profile.folder)
        self.assertGreaterEqual(len(read), 1, "more where a stop takes less than a few ms")
        self.assertEqual(self.coverage(profile), {"taken": len(read), "refused": {}})
        for document in read:
            line = document["lines"][0]
            self.assertEqual(line["frame"]["function"], "keep")
            self.assertGreaterEqual(line["bytes"], document["step"] * 300000)
            self.assertEqual((document["format"], document["version"]), ("seep-holders", 1))

    def test_a_job_that_does_not_grow_has_none(self):
        profile = self.run_seep([SYSTEM_PYTHON, "-c", GROW.replace("kept.append(", "(")])
        self.assertEqual(self.coverage(profile), {"taken": 0, "refused": {}})

    def test_off_is_off(self):
        profile = self.run_seep([SYSTEM_PYTHON, "-c", GROW + "seep.holders()\n"], ("--holders", "off"))
        self.assertEqual((self.coverage(profile), documents(profile.folder)), ({"taken": 0, "refused": {}}, []))

    def test_a_list_that_is_none_is_told(self):
        for wrong in ("sometimes", "3;4", "0", ",", "1," * 1024):
            done = self.seep("run", "--holders", wrong, "--", "true")
            self.assertEqual(done.status, 125)
            self.one_line_error(done)

    def test_without_a_launcher_nobody_would_read_it(self):
        folder = self.fresh()
        done = self.command([SYSTEM_PYTHON, "-c", GROW], env=job_env(LD_PRELOAD=SHIM, SEEP_OUT=folder, PYTHONPATH=MODULES))
        self.assertEqual(done.status, 0, repr(done))
        said = self.report(folder)["coverage"]["holders"]
        self.assertEqual((said["taken"], set(said["refused"])), (0, {"no-launcher"}))

    def test_of_a_sample_there_is_none(self):
        profile = self.run_seep([SYSTEM_PYTHON, "-c", GROW], ("--sample", "64KiB", "--holders", "5"))
        self.assertEqual(self.coverage(profile), {"taken": 0, "refused": {"sampled": 1}})

    def test_a_container_may_forbid_to_leave_the_table_of_descriptors(self):
        """The second copy has one of its own, and closes it."""
        profile = self.run_seep([SYSTEM_PYTHON, "-c", GROW], ("--holders", "3,30"), preexec_fn=forbid_unsharing)
        self.assertEqual(self.coverage(profile), {"taken": 1, "refused": {"descriptors": 1}})

    def test_where_no_process_can_be_made_there_is_none(self):
        """And the job goes on, and is asked about again."""
        profile = self.run_seep([SYSTEM_PYTHON, "-c", GROW], ("--holders", "3,30"), preexec_fn=forbid_copying)
        self.assertEqual(self.coverage(profile), {"taken": 0, "refused": {"clone": 2}})

    def test_a_forked_child_has_none_in_reserve_and_none_at_its_end(self):
        """What it has made its own would not look like it."""
        script = ("import os, time, seep\n"
                  "kept = []\n"
                  "child = os.fork()\n"
                  "for i in range(0 if child else 25):\n"
                  "    kept.append(bytearray(300000))\n"
                  "    time.sleep(0.1)\n"
                  "os._exit(0) if not child else os.waitpid(child, 0)\n")
        profile = self.run_seep([SYSTEM_PYTHON, "-c", script])
        child = max(p["pid"] for p in profile.written["processes"])
        self.assertEqual([d["source"] for d in documents(profile.folder) if d["pid"] == child], [])

    def test_workers_have_theirs_as_the_steps_of_the_trainer_come_by(self):
        script = ("import os, time, seep\n"
                  "kept = []\n"
                  "def keep():\n"
                  "    for i in range(200):\n"
                  "        kept.append(bytearray(3000))\n"
                  "child = os.fork()\n"
                  "for i in range(150):\n"
                  "    keep() if not child else seep.step()\n"
                  "    time.sleep(0.01)\n"
                  "os._exit(0) if not child else os.waitpid(child, 0)\n")
        profile = self.run_seep([SYSTEM_PYTHON, "-c", script])
        parent, child = [p["pid"] for p in sorted(profile.written["processes"], key=lambda p: p["pid"])]
        read = documents(profile.folder)
        self.assertEqual({d["pid"] for d in read}, {child}, "the trainer does not grow")
        self.assertTrue(all(d["lines"][0]["frame"]["function"] == "keep" for d in read if d["step"] > 20))

    def test_what_a_thread_of_the_parent_holds_is_not_lost_in_a_child(self):
        """It has no such thread any more, but its stack."""
        script = ("import os, threading, seep\n"
                  "def parents():\n"
                  "    return bytearray(300000)\n"
                  "def childs():\n"
                  "    return bytearray(400000)\n"
                  "def hold():\n"
                  "    mine = parents()\n"
                  "    ready.set(); threading.Event().wait()\n"
                  "ready = threading.Event()\n"
                  "threading.Thread(target=hold, daemon=True).start()\n"
                  "ready.wait()\n"
                  "child = os.fork()\n"
                  "if not child: own = childs(); seep.holders(); os._exit(0)\n"
                  "os.waitpid(child, 0); seep.holders(); os._exit(0)\n")
        profile = self.run_seep([SYSTEM_PYTHON, "-c", script], ("--holders", "30"))
        by_process = {d["process"]: d for d in documents(profile.folder)}
        self.assertEqual(set(by_process), {0, 1})
        self.assertEqual(line_of(by_process[0], "parents")["state"], "held")
        self.assertEqual(line_of(by_process[1], "parents")["state"], "held")
        self.assertEqual(line_of(by_process[1], "childs")["state"], "held")

    def test_what_the_first_threads_stack_holds_is_not_lost_to_another(self):
        """Python keeps the tree of a script for as long as it runs, by a variable of C alone."""
        script = ("import threading, seep\n" + "values = [%s]\n" % ", ".join("'%d'" % i for i in range(3000)) +
                  "asking = threading.Thread(target=seep.holders)\nasking.start()\nasking.join()\n")
        path = self.path("script.py")
        pathlib.Path(path).write_text(script)
        profile = self.run_seep([SYSTEM_PYTHON, path])
        lines = [line for d in documents(profile.folder) for line in d["lines"]]
        self.assertTrue(any("stack" in p["text"] for line in lines for p in line["paths"]), lines)
        self.assertEqual([line for line in lines if line["state"] == "lost"], [])


if __name__ == "__main__":
    unittest.main()
