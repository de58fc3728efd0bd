"""Subinterpreters: what their code keeps is held by their modules and locals; their frames are followed from 3.12 on,
and before it is said that they are not."""
import json
import subprocess

from tests.e2e.support import (SEEP, SeepCase, has_module, job_env, needs_to_read_children, python_frames, supported)

BLOCKS, BYTES, OWN_BYTES = 100, 20000, 31000
JOB = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
run = getattr(interpreters, "run_string", None) or interpreters.exec
CODE = '''
import sys, types
kept = []
sys.modules["cache"] = cache = types.ModuleType("cache")
cache.stored = {}
def fill(n):
    for i in range(n):
        kept.append(bytes(%d))
        cache.stored[i] = str(i) * 4000
def hold(wait):
    local_in_sub = [bytearray(7000 + i) for i in range(100)]
    fill(%d)
    if wait:
        print("ready", flush=True)
        sys.stdin.read()
hold(WAIT)
'''
def main():
    run(interpreters.create(), CODE.replace("WAIT", sys.argv[1]))
def after():
    return [bytes(%d) for _ in range(10)]
kept = after()
main()
""" % (BYTES, BLOCKS, OWN_BYTES)
UNFOLLOWED = "before Python 3.12 the frames of subinterpreters are not followed: what their code allocates is told at the " \
    "line that ran it"


class Subinterpreters(SeepCase):
    def with_them(self):
        found = [(version, python) for version, python in self.every_python() if supported(version) and (
            has_module(python, "_interpreters") or has_module(python, "_xxsubinterpreters"))]
        self.assertTrue(found)
        with open(self.path("job.py"), "w", encoding="utf-8") as f:
            f.write(JOB)
        return found

    def innermost(self, profile, least, most):
        """The functions that made blocks of so many bytes."""
        return {(frames[0]["function"].rsplit(".")[-1], frames[0]["line"]) for site in profile.report["sites"]
                for frames in [python_frames(site)] if frames and site["space"] == "host" and
                site["allocations"] and least <= site["allocated_bytes"] / site["allocations"] < most}

    def test_their_frames(self):
        line = {text.strip(): number + 1 for number, text in enumerate(JOB.split("\n"))}
        caller = "main", line['run(interpreters.create(), CODE.replace("WAIT", sys.argv[1]))']
        for version, python in self.with_them():
            with self.subTest(python):
                profile = self.run_seep([python, self.path("job.py"), "0"])
                self.assertEqual(self.innermost(profile, BYTES, BYTES + 100),
                                 {("fill", 8)} if version >= (3, 12) else {caller})
                self.assertEqual([name for name, _ in self.innermost(profile, OWN_BYTES, OWN_BYTES + 100)],
                                 ["after" if version >= (3, 12) else "<listcomp>"])
                said = [text for text in profile.report["coverage"]["not_seen"] if text.endswith(UNFOLLOWED)]
                self.assertEqual(len(said), version < (3, 12))

    def test_without_them_nothing_is_said(self):
        for _, python in self.with_them():
            with self.subTest(python):
                profile = self.run_seep([python, "-c", "kept = [bytes(5000) for _ in range(100)]"])
                self.assertFalse([text for text in profile.report["coverage"]["not_seen"] if text.endswith(UNFOLLOWED)])

    @needs_to_read_children
    def test_what_their_modules_and_locals_hold(self):
        for _, python in self.with_them():
            with self.subTest(python), subprocess.Popen([python, self.path("job.py"), "1"], stdin=subprocess.PIPE,
                                                        stdout=subprocess.PIPE, text=True, env=job_env()) as job:
                self.assertEqual(job.stdout.readline(), "ready\n")
                done = subprocess.run([SEEP, "look", "--format", "json", str(job.pid)], capture_output=True, text=True)
                job.stdin.close()
                self.assertEqual(done.returncode, 0, done.stderr)
                holders = {h["path"]["text"]: h["retained_bytes"] for h in json.loads(done.stdout)["holders"]}
                for name, bytes_ in (("subinterpreter 1: module __main__.kept (list)", BLOCKS * BYTES),
                                     ("subinterpreter 1: module cache.stored (dict)", BLOCKS * 7600),
                                     ("subinterpreter 1: local 'local_in_sub' of hold() (list)", 100 * 7000),
                                     ("module __main__.kept (list)", 10 * OWN_BYTES)):
                    self.assertGreater(holders.get(name, 0), .95 * bytes_, holders)
                    self.assertLess(holders[name], 1.15 * bytes_)
