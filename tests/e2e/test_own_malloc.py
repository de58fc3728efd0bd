"""Programs that bring their own malloc keep working, and the report says that malloc was never seen."""
import os
import unittest

from tests.e2e.support import MALLOC_WORD, SeepCase, said_of

MIB = 1 << 20


class OwnMalloc(SeepCase):
    def own(self, subject):
        plain = self.command([self.subject(subject)])
        self.assertEqual((plain.status, plain.stdout), (0, b"ok\n"), repr(plain))
        profile = self.run_seep([self.subject(subject)], status=None)
        self.assertEqual((profile.done.status, profile.done.stdout), (0, b"ok\n"), repr(profile.done))
        return profile

    def test_nobody_allocates_from_within_its_mmap(self):
        self.own("own_malloc")

    def test_nor_under_a_lock_that_it_holds_around_mmap(self):
        self.own("own_malloc_locked")

    def test_the_report_says_that_malloc_was_not_seen(self):
        for subject in ("own_malloc", "own_malloc_locked"):
            report = self.own(subject).report
            self.assertRegex(said_of(report), MALLOC_WORD)
            self.assertIn(subject, said_of(report))

    def test_its_maps_are_recorded(self):
        report = self.own("own_malloc_locked").report
        live = report["spaces"]["mmap"]["live_bytes"]
        self.assertGreater(live, 38 * MIB)
        self.assertLess(live, 60 * MIB)

    def test_a_shell_that_starts_one_is_seen_as_ever(self):
        script = "for i in 1 2 3; do %s; done" % self.subject("own_malloc_locked")
        profile = self.run_seep(["sh", "-c", script])
        self.assertEqual(profile.done.stdout, b"ok\n" * 3)
        self.assertRegex(said_of(profile.report), MALLOC_WORD)
        names = [os.path.basename(p["argv"][0]) for p in profile.report["processes"] if p["argv"]]
        self.assertEqual((names.count("own_malloc_locked"), names.count("sh")), (3, 1), names)


if __name__ == "__main__":
    unittest.main()
