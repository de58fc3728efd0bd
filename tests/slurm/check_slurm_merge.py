"""`seep run --merge` and `seep-mpi merge` under Slurm: the cases of tests/cli/test_run_merge.py with srun as the launcher,
by PMIx with Open MPI and by PMI 2 with MPICH. Part of `make check-slurm`."""
import os
import tempfile
import unittest

from tests.cli import test_run_merge
from tests.cli.test_mpi_merge import program
from tests.e2e.support import NO_LOOKS, SEEP, SYSTEM_PYTHON
from tests.slurm.cluster import SlurmCase


class SrunMergeCase(test_run_merge.MergeCase):
    """The ranks are on both nodes."""
    hosts = "2 hosts"

    @classmethod
    def setUpClass(cls):
        for kind in (cls.kind, cls.other):
            if not os.path.exists(program(kind)):
                raise unittest.SkipTest("no %s: make tests builds it where mpicc.%s is" % (program(kind), kind))
        super(test_run_merge.MergeCase, cls).setUpClass()
        cls.root = tempfile.mkdtemp(prefix="seep-merge-")
        cls.beside = test_run_merge.beside(cls.root, cls.kind)

    def start(self, n, argv, **env):
        nodes = str(min(n, 2))
        return self.slurm("srun", "--mpi", self.mpi, "-N", nodes, "-n", str(n), *argv, **{k: str(v) for k, v in env.items()})

    def test_what_becomes_of_the_others_jobs_where_one_leaves_mpi_init(self):
        """Rank 1's job ends a seep-mpi of another rank, once it waits. It sees the processes of this check only."""
        ended = self.path("ended")
        done = self.launch(3, "sh", "-c", "%s || exit 0; until [ $(pgrep -cx seep-mpi) = 2 ]; do sleep 0.2; done; sleep 1; "
                           "kill -KILL $(pgrep -nx seep-mpi); sleep 4; echo ended >%s" %
                           (test_run_merge.SHELL_RANK % 1, ended), options=["-q", "--merge-within", "15"])
        self.assertEqual((os.path.exists(ended), done.status), (not self.ends_all, 137 if self.ends_all else 0), done)

    def test_a_rank_that_dies_while_merging(self):
        done = self.start(3, [SEEP, "run", "-q", *NO_LOOKS, "-o", self.path("run"), "--", SYSTEM_PYTHON, "-c",
                              test_run_merge.LEAKS])
        self.assertEqual(done.status, 0, done)
        parts = [self.path("run", name) for name in sorted(os.listdir(self.path("run")))]
        done = self.start(3, [program(self.kind), "merge", "--patience", "2", "-o", self.path("job.digest"), *parts],
                          SEEP_MPI_FALL="1:9")
        self.assertEqual((os.path.exists(self.path("job.digest")), done.status), (not self.ends_all, 137), done)
        self.assertEqual("seep: rank 1 on n1 does not answer: others have read its digests" in done.err, not self.ends_all)

    def test_others_wait_for_a_rank_that_was_killed(self):
        """srun does not end them, so they wait as long as they are told to."""
        done = self.launch(2, "sh", "-c", test_run_merge.SHELL_RANK % 1 + " && kill -KILL $PPID; exit 0",
                           options=["-q", "--merge-within", "5"])
        self.assertEqual(done.status, 137, done)
        self.assertIn("rank 0 did not take part in merging (others have not ended in time)", done.err)

    def test_merging_as_a_step_of_its_own(self):
        done = self.start(4, [SEEP, "run", "-q", *NO_LOOKS, "-o", self.path("run"), "--", SYSTEM_PYTHON, "-c",
                              test_run_merge.LEAKS])
        self.assertEqual(done.status, 0, done)
        done = self.start(2, ["sh", "-c", "exec %s merge --local %s/$(hostname)-* -o %s" %
                              (program(self.kind), self.path("run"), self.path("job.digest"))])
        self.assertEqual(done.status, 0, done)
        self.assertEqual(self.seep("merge", self.path("run"), "-o", self.path("merged")).status, 0)
        with open(self.path("job.digest"), "rb") as a, open(self.path("merged"), "rb") as b:
            self.assertEqual(a.read(), b.read())


class OpenMpiByPmix(SrunMergeCase, SlurmCase):
    mpi, kind, other, library = "pmix", "openmpi", "mpich", "libmpi.so.40"
    ends_all = True  # Slurm's PMIx cancels the step


class MpichByPmi2(SrunMergeCase, SlurmCase):
    mpi, kind, other, library = "pmi2", "mpich", "openmpi", "libmpich.so.12"
    ends_all = False

    def test_a_seep_mpi_of_another_mpi_is_told_and_the_job_is_as_it_was(self):
        """Debian's Open MPI cannot begin with PMI 2, and exits."""
        folder = self.path("other")
        os.mkdir(folder)
        done = self.leaks(2, seep=test_run_merge.beside(folder, self.other), options=["-q"])
        self.assert_ran(done, "ran\n" * 2)
        for rank in (0, 1):
            self.assertIn("seep: rank %d did not take part in merging (seep-mpi failed)" % rank, done.err)
        self.assertFalse(os.path.exists(self.path("run", "job.digest")))


if __name__ == "__main__":
    unittest.main()
