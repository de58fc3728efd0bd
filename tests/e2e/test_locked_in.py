"""Calls that are forbidden to a job, or that fail, do so as without seep, even while holders are looked for."""
import os
import re
import shutil
import unittest

from tests.e2e.alike import Alike
from tests.e2e.support import SOURCES, needs, said_of, sum_sites

HOLDERS = (("--holders", "auto"), ("--holders", "1,2"), ("--holders", "off"))
OUT_OF_REACH = 7  # enum seep_entry
SANDBOX = 3  # enum seep_trouble


def sections():
    return re.findall(r'^    \{"([a-z-]+)",', (SOURCES / "locked_in.c").read_text(), re.M)


class EachWay(Alike):
    def each_way(self, argv, **kw):
        """The profiles of a command that must be as without seep with each kind of looks."""
        plain = self.command(argv, **kw)
        status = plain.status if plain.status >= 0 else 128 - plain.status
        profiles = []
        for options in HOLDERS:
            profile = self.run_seep(argv, status=None, options=options, **kw)
            done = profile.done
            self.assertEqual((done.status, done.stdout, done.stderr), (status, plain.stdout, plain.stderr),
                             "%s %s\nwithout seep %r\nwith seep %r" % (argv, options, plain, done))
            profiles.append(profile)
        return plain, profiles


class LockedIn(EachWay):
    def test_a_filter_of_exactly_what_a_program_calls_kills_nothing(self):
        found = sections()
        self.assertGreaterEqual(len(found), 14)
        for section in found:
            for threads in ((), ("threads",)):
                with self.subTest(section, threads=threads):
                    plain, _ = self.each_way([self.subject("locked_in"), section, *threads])
                    self.assertNotEqual(plain.status, -31, "killed without seep: %r" % plain)
                    self.assertIn(plain.status, (4, 5, 6, -6), repr(plain))

    def test_what_the_filter_allows_is_recorded_in_it(self):
        _, profiles = self.each_way([self.subject("locked_in"), "all-blocks"])
        for profile in profiles:
            self.assertEqual(sum_sites(profile.report, "heap", "host")["allocations"], 20000)

    def test_who_may_not_ask_who_it_is_is_listed_by_its_parent(self):
        profile = self.run_seep([self.subject("locked_in"), "fork"], status=4)
        table = self.command([self.subject("job_table"), profile.folder]).json()
        self.assertEqual([p["trouble"] for p in table], [SANDBOX] * 6)
        self.assertEqual([p["ppid"] for p in table[1:]], [table[0]["pid"]] * 5)
        self.assertEqual([p["status"] >> 8 for p in table], [4] + [3] * 5)

    def test_a_question_that_fails_is_no_filter(self):
        plain, profiles = self.each_way([self.subject("odd_calls"), "probe"])
        self.assertEqual(plain.stdout.count(b" -1 "), 6, repr(plain))
        self.assertEqual(plain.status, 2)
        for profile in profiles:
            self.assertNotRegex(said_of(profile.report), "seccomp")
            self.assertEqual(sum_sites(profile.report, "after_the_question")["allocations"], 6000)
            self.assertEqual(len(profile.report["processes"]), 2)


class Unreadable(EachWay):
    def test_exec_of_what_cannot_be_read_fails_as_without(self):
        plain, _ = self.each_way([self.subject("odd_calls"), "exec"])
        self.assertEqual(plain.status, 0, repr(plain))
        self.assertGreaterEqual(plain.stdout.count(b"-1 14\n"), 9, repr(plain))  # EFAULT


    def test_a_wait_that_cannot_write_the_status_fails_as_without(self):
        plain, _ = self.each_way([self.subject("odd_calls"), "wait"])
        self.assertEqual((plain.status, plain.stdout.count(b"wait -1 14\n")), (0, 3), repr(plain))


@needs(os.geteuid() == 0, "needs root, which changes its root folder")
class OutOfReach(EachWay):
    """Roots in which libseep.so is not to be found."""

    def root(self):
        root = self.path("root")
        loaded = set()
        for program in ("/bin/sh", "/bin/echo"):
            out = self.command(["ldd", program]).stdout.decode()
            loaded |= {program} | set(re.findall(r"(/\S+) \(0x", out))
        for path in loaded:
            os.makedirs(root + os.path.dirname(path), exist_ok=True)
            shutil.copy(os.path.realpath(path), root + path)
        return root

    def ways(self, root):
        yield ["chroot", root, "/bin/echo", "hello"]
        yield ["chroot", root, "/bin/sh", "-c", "/bin/echo one; /bin/echo two; exit 7"]
        yield ["sh", "-c", "chroot %s /bin/echo in a shell; exit 3" % root]
        if shutil.which("unshare") and self.command(["unshare", "-m", "true"]).status == 0:
            yield ["unshare", "-m", "-R", root, "/bin/echo", "hello"]
        if shutil.which("bwrap") and self.command(["bwrap", "--bind", "/", "/", "true"]).status == 0:
            yield ["bwrap", "--bind", root, "/", "/bin/echo", "hello"]

    def listed(self, profile):
        table = self.command([self.subject("job_table"), profile.folder]).json()
        return [os.path.basename(p["path"]) for p in table if p["entry"] == OUT_OF_REACH]

    def test_programs_there_run_without_a_word_and_are_listed(self):
        for argv in self.ways(self.root()):
            plain, profiles = self.each_way(argv)
            self.assertEqual(plain.stderr, b"")
            for profile in profiles:
                self.assertEqual(len(self.listed(profile)), 1, argv)
                self.assertRegex(said_of(profile.report), r"became /bin/\w+, which runs where libseep\.so")

    def test_where_the_library_is_bound_into_the_root_nothing_is_missed(self):
        """The same root once more: what decides is whether the library is found, not that there was a chroot."""
        _, profiles = self.each_way(["chroot", "/", "/bin/echo", "hello"])
        for profile in profiles:
            self.assertEqual(self.listed(profile), [])
            self.assertEqual(said_of(profile.report).count("libseep.so"), 0)

    def test_a_program_that_is_not_there_is_not_listed(self):
        _, profiles = self.each_way(["chroot", self.root(), "/bin/none"])
        self.assertEqual(self.listed(profiles[0]), [])


if __name__ == "__main__":
    unittest.main()
