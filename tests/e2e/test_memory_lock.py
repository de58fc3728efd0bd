"""mlockall() under RLIMIT_MEMLOCK: a job can lock as much as without seep."""
import os
import resource
import unittest

from tests.e2e.support import SHIM, SeepCase, job_env, needs, needs_others_to_reach_the_build

NOBODY = 65534
PAGES = 256 << 10  # more and less than the limit by so much: a stack may be longer by some pages


def become_nobody(limit):
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


@needs(os.geteuid() == 0, "only root can become somebody whose memory is limited")
@needs_others_to_reach_the_build
class MemoryLock(SeepCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o777)

    def run_both(self, limit, *args):
        """What the subject says without the shim and with it."""
        said = []
        for env in (job_env(), job_env(LD_PRELOAD=SHIM, SEEP_OUT=self.fresh())):
            done = self.command([self.subject("lock_all"), *args], env=env, preexec_fn=lambda: become_nobody(limit))
            self.assertEqual(done.status, 0, repr(done))
            said.append(done.stdout.decode().split())
        return said

    def test_what_fits_is_locked_and_what_does_not_is_refused(self):
        size = int(self.run_both(0, "size")[0][0])
        hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
        if hard != resource.RLIM_INFINITY and hard < size + PAGES:
            self.skipTest("the limit here is below what a small program has: %d" % hard)
        for flags in ((), ("onfault",), ("future",)):
            plain, seep = self.run_both(size + PAGES, "current", *flags)
            self.assertEqual((plain[0], seep[0]), ("locked", "locked"), flags)
            # All that is the job's, and next to nothing of seep's.
            self.assertLess(abs(int(seep[1]) - int(plain[1])), PAGES, flags)
            self.assertEqual(self.run_both(size - PAGES, "current", *flags), [["errno", "12"]] * 2, flags)


if __name__ == "__main__":
    unittest.main()
