"""`seep run --merge`: when a job ends, the `seep run` of each rank meets the others over MPI, and one digest and one summary stand for all ranks.
With each MPI here; whatever goes wrong, the job's output and status are its own."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from tests.cli.test_mpi_merge import program
from tests.e2e.support import NO_LOOKS, SEEP, SYSTEM_PYTHON, SeepCase, job_env

RANK = 'int(os.environ.get("PMIX_RANK") or os.environ["PMI_RANK"])'
LEAKS = """
import os, seep
kept = []
for step in range(40):
    part = bytearray(200_000)
    if %s == 2:
        kept.append(part)
    seep.step()
print("ran")
""" % RANK
USES_MPI = """
import ctypes, ctypes.util
mpi = ctypes.CDLL("%s", mode=ctypes.RTLD_GLOBAL)
if mpi.MPI_Init(None, None) or mpi.MPI_Finalize():
    raise SystemExit(9)
print("ran")
"""
ATTEMPTS = 5
SHELL_RANK = "[ $PMIX_RANK$PMI_RANK = %d ]"


def beside(folder, kind):
    """A seep beside which the seep-mpi of this MPI lies."""
    build = os.path.dirname(SEEP)
    shutil.copy(SEEP, os.path.join(folder, "seep"))
    for name in ("libseep.so", "python"):
        os.symlink(os.path.join(build, name), os.path.join(folder, name))
    os.symlink(program(kind), os.path.join(folder, "seep-mpi"))
    return os.path.join(folder, "seep")


class MergeCase:
    """A case for each MPI: `kind`, its library, another kind, and what its launcher needs."""
    options, variables = (), {}
    hosts = "1 host"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for kind in (cls.kind, cls.other):
            if not shutil.which("mpiexec." + kind) or not os.path.exists(program(kind)):
                raise unittest.SkipTest("no %s: ./bootstrap check installs it, make tests builds seep-mpi with it" % kind)
        started = subprocess.run(["mpiexec." + cls.kind, *cls.options, "-n", "2", "true"], env=job_env(**cls.variables),
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if started.returncode:
            raise unittest.SkipTest("%s's launcher starts nothing here: %s" % (cls.kind, started.stdout[-300:]))
        cls.root = tempfile.mkdtemp(prefix="seep-merge-")
        cls.beside = beside(cls.root, cls.kind)

    @classmethod
    def tearDownClass(cls):
        if hasattr(cls, "root"):
            shutil.rmtree(cls.root)

    def start(self, n, argv, **env):
        """Runs n ranks of it."""
        return self.command(["mpiexec." + self.kind, *self.options, "-n", str(n), *argv], timeout=300,
                            env=job_env(**self.variables, **env), cwd=self.dir)

    def launch(self, n, *command, seep=None, options=(), out=None, **env):
        return self.start(n, [seep or self.beside, "run", *NO_LOOKS, "--merge", *options, "-o", out or self.path("run"), "--",
                              *command], **env)

    def leaks(self, n=4, **how):
        return self.launch(n, SYSTEM_PYTHON, "-c", LEAKS, **how)

    def assert_ran(self, done, text):
        """Lines of ranks may mix."""
        self.assertEqual((done.status, sorted(done.stdout.decode())), (0, sorted(text)), done)

    def said(self, done):
        """What seep said; the libraries of MPI have warnings of their own, as about a container."""
        return [line for line in done.err.splitlines() if line.startswith("seep")]

    def digest(self, name="job.digest"):
        with open(self.path("run", name)) as f:
            return json.load(f)

    def test_one_digest_and_one_summary_stand_for_all_ranks(self):
        done = self.leaks()
        self.assert_ran(done, "ran\n" * 4)
        self.assertEqual(done.err.count("seep: 1 finding in 40 steps\nF1"), 1, "one summary, with its last lines")
        self.assertIn("- In rank 2 (process ", done.err)
        self.assertIn("4 processes in 4 folders of %s; 4 of 4 ranks" % self.hosts, done.err)
        self.assertIn("seep view " + self.path("run", "job.digest"), done.err)
        merged = self.seep("merge", self.path("run"), "-o", self.path("merged"))
        self.assertEqual(merged.status, 0, merged)
        with open(self.path("run", "job.digest"), "rb") as a, open(self.path("merged"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        for part in (name for name in os.listdir(self.path("run")) if name != "job.digest"):
            self.assertIn("report.json", os.listdir(self.path("run", part)))

    def test_an_earlier_digest_stays_and_a_restart_has_its_own(self):
        for name in ("job.digest", "job.2.digest"):
            done = self.leaks(2, options=["-q"])
            self.assertEqual(done.status, 0, done)
            self.assertEqual(self.digest(name)["numbers"]["folders"], 2)
        self.assertEqual(len(os.listdir(self.path("run"))), 2 * 2 + 2)

    def test_a_rank_that_failed_is_merged_and_its_status_stays(self):
        done = self.launch(3, "sh", "-c", SHELL_RANK % 1 + " && exit 7; exit 0", options=["-q"])
        self.assertEqual(done.status, 7, done)
        self.assertEqual(self.digest()["numbers"]["folders"], 3)

    def test_ranks_wait_for_one_that_takes_longer(self):
        done = self.launch(3, "sh", "-c", SHELL_RANK % 1 + " && sleep 2; exit 0", options=["-q"])
        self.assertEqual((done.status, self.said(done)), (0, []), done)
        self.assertEqual(self.digest()["numbers"]["folders"], 3)

    def test_a_rank_that_is_told_to_gives_up(self):
        done = self.launch(2, "sh", "-c", SHELL_RANK % 1 + " && sleep 60; exit 0", options=["-q", "--merge-within", "1"])
        self.assertIn("seep: rank 0 did not take part in merging (others have not ended in time): use `seep merge %s -o"
                      % self.path("run"), done.err)
        self.assertFalse(os.path.exists(self.path("run", "job.digest")))

    def test_a_job_that_uses_mpi_is_left_alone(self):
        done = self.launch(3, SYSTEM_PYTHON, "-c", USES_MPI % self.library, options=["-q"])
        self.assert_ran(done, "ran\n" * 3)
        told = self.said(done)
        self.assertEqual(len(told), 1, told)
        self.assertIn("seep: nothing is merged, for the job uses MPI itself", told[0])
        self.assertFalse(os.path.exists(self.path("run", "job.digest")))

    def test_a_rank_that_records_nothing_is_missed_and_holds_up_nobody(self):
        wrapped = self.path("wrapped")
        with open(wrapped, "w") as f:
            f.write("#!/bin/sh\n%s && shift 4 && exec %s run -q --merge -o /proc/none \"$@\"\nexec %s \"$@\"\n"
                    % (SHELL_RANK % 1, self.beside, self.beside))
        os.chmod(wrapped, 0o755)
        done = self.start(3, [wrapped, "run", "-q", "-o", self.path("run"), "--merge", "--", SYSTEM_PYTHON, "-c",
                              "print('ran')"])
        self.assert_ran(done, "ran\n" * 3)
        self.assertEqual(self.digest()["numbers"]["folders"], 2)
        self.assertIn("1 of 3 ranks have no profile here: 1", self.seep("report", self.path("run", "job.digest")).stdout.decode())

    def test_a_seep_mpi_of_another_mpi_is_told_and_the_job_is_as_it_was(self):
        folder = self.path("other")
        os.mkdir(folder)
        seep = beside(folder, self.other)
        for _ in range(ATTEMPTS):
            done = self.leaks(2, seep=seep, options=["-q"])
            self.assert_ran(done, "ran\n" * 2)
            if "orte_session_dir failed" not in done.err:  # two ranks of Open MPI that made its folder at once
                break
        self.assertEqual(done.err.count("MPI_Init() finds one rank: this seep-mpi is of another MPI than the launcher"), 2,
                         done.err)
        self.assertFalse(os.path.exists(self.path("run", "job.digest")))


class OpenMpi(MergeCase, SeepCase):
    kind, other, library = "openmpi", "mpich", "libmpi.so.40"
    options = ("--oversubscribe",)
    variables = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}


class Mpich(MergeCase, SeepCase):
    kind, other, library = "mpich", "openmpi", "libmpich.so.12"


class WithoutMpi(SeepCase):
    def test_it_is_told_before_the_job_and_the_summary_is_printed(self):
        done = self.command([SEEP, "run", *NO_LOOKS, "--merge", "-o", self.path("run"), "--", "sh", "-c", "echo ran"],
                            env=job_env(PMIX_RANK=None, PMI_RANK=None), cwd=self.dir)
        self.assertEqual((done.status, done.stdout.decode()), (0, "ran\n"), done)
        self.assertIn("seep: --merge has no effect: the launcher offers no MPI", done.err)
        self.assertIn("seep: too short to tell", done.err)

    def test_without_seep_mpi_it_says_so(self):
        folder = self.path("alone")
        os.mkdir(folder)
        shutil.copy(SEEP, os.path.join(folder, "seep"))
        os.symlink(os.path.join(os.path.dirname(SEEP), "libseep.so"), os.path.join(folder, "libseep.so"))
        done = self.command([os.path.join(folder, "seep"), "run", "-q", *NO_LOOKS, "--merge", "-o", self.path("run"), "--",
                             "/bin/true"], env=job_env(PMI_RANK=0, PATH="/usr/bin/none"), cwd=self.dir)
        self.assertEqual(done.status, 0, done)
        self.assertIn("seep: --merge has no effect: seep-mpi is neither beside seep nor in PATH", done.err)

    def test_an_mpi_that_cannot_begin_is_told(self):
        """Open MPI exits with 1 then, as under `srun --mpi=pmi2`."""
        folder = self.path("failing")
        os.mkdir(folder)
        shutil.copy(SEEP, os.path.join(folder, "seep"))
        os.symlink(os.path.join(os.path.dirname(SEEP), "libseep.so"), os.path.join(folder, "libseep.so"))
        with open(os.path.join(folder, "seep-mpi"), "w") as f:
            f.write("#!/bin/sh\nexit 1\n")
        os.chmod(f.name, 0o755)
        for rank in (0, 1):
            done = self.command([os.path.join(folder, "seep"), "run", "-q", *NO_LOOKS, "--merge", "-o", self.fresh(), "--",
                                 "/bin/true"], env=job_env(PMI_RANK=rank), cwd=self.dir)
            self.assertEqual(done.status, 0, done)
            self.assertIn("seep: rank %d did not take part in merging (seep-mpi failed)" % rank, done.err)

    def test_what_is_no_number_of_seconds_is_an_error(self):
        done = self.seep("run", "--merge-within", "0", "--", "true")
        self.assertEqual(done.status, 125)
        self.assertIn("seep: --merge-within 0 is not a number of seconds: choose one from 1 to 604800", done.err)


if __name__ == "__main__":
    unittest.main()
