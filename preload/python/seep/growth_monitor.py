"""Tells seep where steps and epochs end, and tells the job when its memory grows without an end.

Now and then `seep report` reads the process's own profile, beside the job, which goes on meanwhile: the answer is taken
at a later step. What that costs bounds how often it is done. Nothing here raises, and where seep does not record,
nothing is done."""
import json
import logging
import os
import signal
import tempfile
import threading
import time

import seep
from seep import command
from seep.board import Board
from seep.sizes import size_text

FIRST_STEP = 20  # fewer are no trend
SHARE = 50  # reports take at most one 50th of a CPU, …
LAST_WAIT_S = 10.0  # … but for the last one
WORDS = {"host": "host memory", "mmap": "mapped memory", "shm": "shared memory", "pinned": "pinned memory",
         "device": "memory on GPU %s", "tensor": "memory of tensors on GPU %s"}
NOWHERE = {"file": None, "line": None, "function": None}


class Monitor:
    """metrics: the latest figures, as {"seep/host_live_bytes": 81920000, "seep/host_growth_bytes_per_step": 50057.0};
    finding: the latest line that was said, or None."""

    def __init__(self, every=30.0, log=None, writer=None):
        self.metrics, self.finding = {}, None
        self._every, self._log = every, log or logging.getLogger("seep").warning
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._folder, self._suspects, self._said = None, set(), set()
        self._on, self._is_last = seep.active(), False
        self._steps = self._reported = 0
        self._child, self._answer, self._next = None, None, 0.0
        self._board = Board(writer, self._log) if writer is not None and self._on else None

    def __getstate__(self):
        """A copy, such as goes into another process with a framework's callback, counts steps and watches nothing."""
        return dict(self.__dict__, _on=False, _log=None, _lock=None, _child=None, _answer=None, _board=None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def step(self):
        """A step has ended. Returns metrics if they are new, else None."""
        seep.step()
        self._steps += 1
        if self._on and self._steps >= FIRST_STEP:
            return self._guarded(self._look)
        return None

    def epoch(self):
        """An epoch begins, or has ended."""
        seep.epoch()

    def close(self):
        """The training has ended: one last report, if there was a step since the one before. Returns as step() does."""
        fresh = self._guarded(self._look_last) if self._on else None
        if self._board and os.getpid() == self._pid:
            self._board.close()
        self._on = False
        return fresh

    def _guarded(self, look):
        """In one thread at a time; not in a forked child, whose parent's report is none of its own."""
        if os.getpid() != self._pid or not self._lock.acquire(False):
            return None
        try:
            return look()
        except Exception as e:  # whatever it is, the training goes on
            self._on = False
            logging.getLogger("seep").debug("seep: memory is no longer watched: %s", e)
            return None
        finally:
            self._lock.release()

    def _look(self):
        if self._child:
            return self._take(os.WNOHANG)
        if time.monotonic() >= self._next:
            self._ask()
        return None

    def _look_last(self):
        end = time.monotonic() + LAST_WAIT_S
        if self._child:
            self._await(end)
        if self._reported < self._steps:
            self._is_last = True
            self._ask()
            return self._await(end)
        return None

    def _await(self, end):
        while self._child and time.monotonic() < end:
            fresh = self._take(os.WNOHANG)
            if not self._child:
                return fresh
            time.sleep(0.005)
        if self._child:
            os.kill(self._child, signal.SIGKILL)
            self._take(0)
        return None

    def _ask(self):
        self._folder = self._folder or profile_folder()
        self._answer = tempfile.TemporaryFile()
        self._reported = self._steps
        words = [command.find_seep(), "report", "--format", "json", "--brief", "--process", str(self._pid),
                 self._folder]
        # The answer first: where the job has closed its standard files, it is one of 0 to 2 itself.
        files = [(os.POSIX_SPAWN_DUP2, self._answer.fileno(), 1),
                 (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                 (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
        # Unlike fork(), this takes no longer for a large process.
        self._child = os.posix_spawn(words[0], words, command.unrecorded(), file_actions=files)

    def _take(self, flags):
        """The answer, if it is there."""
        try:
            pid, status, usage = os.wait4(self._child, flags)
        except ChildProcessError:  # the job takes in all children
            pid, status, usage = self._child, 0, None
        if not pid:
            return None
        cost = usage.ru_utime + usage.ru_stime if usage else 1.0
        self._child, self._next = None, time.monotonic() + max(self._every, SHARE * cost)
        answer, self._answer = self._answer, None
        with answer:
            if status:
                return None
            answer.seek(0)
            try:
                report = json.load(answer)
            except ValueError:  # cut off by a full disk; the next one may fit
                return None
        self.metrics = figures_of(report)
        self._judge(report)
        if self._board:
            self._board.write(self.metrics, self.finding, self._reported)
        return self.metrics

    def _judge(self, report):
        """A cache that fills looks like a leak at first: a line is accused by two reports in a row, or by the last."""
        endless = {key_of(finding): finding for finding in report["findings"] if is_endless(finding)}
        for key in endless if self._is_last else self._suspects & set(endless):
            if key not in self._said:
                self._said.add(key)
                self.finding = line_of(endless[key], report["job"]["cwd"], self._folder)
                self._log(self.finding)
        self._suspects = set(endless)


said_unwatched = False


def say_unwatched(log=None):
    """Once in a process: whoever asked for it should not wait for words that never come."""
    global said_unwatched
    if not said_unwatched:
        said_unwatched = True
        try:
            (log or logging.getLogger("seep").warning)(
                "seep: monitor() watches nothing, for this process was started without seep: use `seep run`")
        except Exception:
            pass


def profile_folder():
    """Of the profile that this process has mapped."""
    name = "/%d-" % os.getpid()
    with open("/proc/self/maps", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").split(None, 5)[-1]
            if path.endswith(".seep") and name in path:
                return os.path.dirname(path)
    return os.environ["SEEP_OUT"]


def figures_of(report):
    figures = {}
    for space, totals in report["spaces"].items():
        name = "seep/" + space.replace(":", "")
        figures[name + "_live_bytes"] = totals["live_bytes"]
        if totals.get("growth_bytes_per_step"):
            figures[name + "_growth_bytes_per_step"] = totals["growth_bytes_per_step"]["value"]
    return figures


def is_endless(finding):
    return (finding["severity"] == "leak" and finding["plateau_step"] is None
            and finding["growth_bytes_per_step"]["low"] > 0)


def shown_frame(finding):
    """The line to change: that keeps the memory, where it is known, else that allocates it."""
    kept_at = finding.get("kept_at") or ()
    return kept_at[0] if len(kept_at) == 1 else finding["frame"] or NOWHERE


def key_of(finding):
    """Where it is kept may be known in one report and not in the next, where it is allocated always is."""
    frame = finding["frame"] or NOWHERE
    return finding["space"], frame["file"], frame["line"]


def line_of(finding, cwd, folder):
    frame = shown_frame(finding)
    kind, _, number = finding["space"].partition(":")
    words = WORDS.get(kind, "memory in " + finding["space"])
    text = "seep: %s grows by %s a step without an end" % (
        words % number if "%s" in words else words, size_text(finding["growth_bytes_per_step"]["value"]))
    if frame["file"]:
        text += ": %s:%s" % (shortened(frame["file"], cwd), frame["line"])
        if frame["function"]:
            text += " in " + frame["function"]
    if finding["limit_bytes"] and finding["steps_to_limit"]:
        text += " (limit %s in about %s steps)" % (
            size_text(finding["limit_bytes"]), rounded(finding["steps_to_limit"]))
    return text + "; seep view " + shortened(folder, folder_of_job())


def folder_of_job():
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def shortened(path, folder):
    """A path below "/" stays as it is."""
    return path[len(folder) + 1:] if folder.strip("/") and path.startswith(folder + "/") else path


def rounded(number):
    """To two digits: it is an estimate."""
    digits = max(len(str(number)) - 2, 0)
    return "{:,}".format(round(number, -digits))
