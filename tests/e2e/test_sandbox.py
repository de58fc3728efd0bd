"""Jobs with fewer rights: under seccomp, or as another user."""
import os
import shutil
import stat
import struct
import unittest

from tests.e2e.support import SHIM, SOURCES, SeepCase, compile_c, job_env, needs, said_of, sum_sites

NOBODY = 65534
PATIENCE_MS = 200  # preload/life/sandbox.c
ACL = "system.posix_acl_access"


class Seccomp(SeepCase):
    def alike(self, how, action):
        argv = [self.subject("sandbox"), how, action]
        plain = self.command(argv)
        self.assertGreaterEqual(plain.status, 0, repr(plain))
        profile = self.run_seep(argv, status=None)
        self.assertEqual((profile.done.status, profile.done.stdout), (plain.status, plain.stdout),
                         "%s %s %r" % (how, action, profile.done))
        return profile

    def test_a_filter_that_kills_finds_nothing_of_ours(self):
        for how in ("prctl", "syscall", "threads"):
            self.alike(how, "kill")

    def test_a_filter_that_refuses_changes_nothing_for_the_job(self):
        for how in ("prctl", "syscall", "threads"):
            self.alike(how, "errno")

    def test_strict_mode(self):
        self.alike("prctl", "strict")

    def test_a_program_that_begins_inside_a_filter(self):
        for action in ("errno", "kill"):
            self.alike("exec", action)

    def test_what_came_before_is_recorded_and_the_sandbox_is_told_of(self):
        for how, action in (("prctl", "kill"), ("syscall", "errno")):
            report = self.alike(how, action).report
            self.assertGreater(sum_sites(report, "before")["allocations"], 0, how)
            self.assertGreaterEqual(report["spaces"]["host"]["allocations"], 20000, how)
            inside = sum_sites(report, "in_the_sandbox")["allocations"]
            if inside != 100000:  # all of it could be recorded, or a word says why not
                self.assertRegex(said_of(report), r"(?i)seccomp|sandbox", how)

    def test_a_filter_for_all_threads_waits_for_no_call_that_began_later_or_in_a_parent(self):
        """Each wait would last as long as seep has patience; on a busy machine the quickest of several does not."""
        profile = self.run_seep([self.subject("filter_busy")])
        for quickest_ms in map(int, profile.done.stdout.split()):
            self.assertLess(quickest_ms, PATIENCE_MS, profile.done.stdout)


@needs(os.geteuid() == 0, "only root can become somebody else")
class OtherUsers(SeepCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)
        self.program = compile_c(self, SOURCES / "lib/uid.cc", self.path("uid"), "-x", "c++", "-lstdc++")
        os.chmod(self.program, 0o755)

    def closed(self, folder):
        """Nobody but its owner and that user can look into the folder or the files in it."""
        for path in [folder] + [os.path.join(folder, name) for name in os.listdir(folder)]:
            acl = os.getxattr(path, ACL) if ACL in os.listxattr(path) else b""
            entries = list(struct.iter_unpack("<HHI", acl[4:]))  # tag, permissions, id
            self.assertEqual({e[2] for e in entries if e[0] == 2} - {NOBODY}, set(), path)
            self.assertEqual([e[1] for e in entries if e[0] in (4, 32)], [0, 0] if entries else [], path)
            # With a list the group's bits are its mask.
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & (0o007 if entries else 0o077), 0, path)
        self.assertEqual(os.stat(folder).st_uid, 0)

    def hold(self, argv, runs):
        profile = self.run_seep(argv, env=job_env())
        self.assertEqual(profile.done.stdout, b"ok\n")
        self.assertNotIn("libseep", profile.done.err)
        made = sum_sites(profile.report, "of_both_kinds")
        self.assertEqual((made["allocations"], made["frees"]), (2000 * runs, 1000 * runs), said_of(profile.report))
        self.closed(profile.folder)

    @needs(shutil.which("setpriv"), "no setpriv")
    def test_a_program_started_as_another_user_is_recorded(self):
        drop = ["setpriv", "--reuid", str(NOBODY), "--clear-groups"]
        if self.command(drop + ["test", "-r", SHIM]).status != 0:
            self.skipTest("nobody else may read %s" % SHIM)
        self.hold(drop + [self.program], 1)

    def test_a_program_that_becomes_another_user_is_recorded_with_its_children(self):
        self.hold([self.program, str(NOBODY)], 3)


if __name__ == "__main__":
    unittest.main()
