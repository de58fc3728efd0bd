"""`seep run -o DIR` under Slurm: folders and places are as docs/clusters.md says, in steps and in batch scripts, and in
what is started within them. Part of `make check-slurm`."""
import os
import shutil
import unittest

from tests.e2e.support import MODULES, NO_LOOKS, SEEP, SHIM, SYSTEM_PYTHON
from tests.slurm.cluster import SlurmCase, free_ports

JOB = "import seep\nkept = []\nfor _ in range(20):\n    kept.append(bytearray(100_000))\n    seep.step()\n"
PLACE = ("rank", "local_rank", "node", "world_size", "local_size", "restart")
TASKS = ["n1-0", "n1-1", "n2-0", "n2-1"]
MPIRUN = "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi"


class PlacesCase(SlurmCase):
    def setUp(self):
        super().setUp()
        with open(self.path("job.py"), "w") as f:
            f.write(JOB)
        self.run = " ".join([SEEP, "run", "-q", *NO_LOOKS, "-o", self.path("run"), "--"])
        self.job = "%s %s %s" % (self.run, SYSTEM_PYTHON, self.path("job.py"))

    def srun(self, *options):
        done = self.slurm("srun", *options, *self.job.split())
        self.assertEqual(done.status, 0, done)

    def assert_places(self, folders, places, job_id=None):
        """`places`: of the processes that made steps, by rank."""
        self.assertEqual(sorted(os.listdir(self.path("run"))), sorted(folders))
        report = self.report(self.path("run"))
        made = [p for p in report["processes"] if p["steps"]]
        self.assertEqual(sorted((tuple(p[name] for name in PLACE) for p in made), key=str), places)
        ids = {p["job_id"] for p in made}
        self.assertEqual(len(ids), 1)
        if job_id:
            self.assertEqual(ids, {job_id})


class Steps(PlacesCase):
    PLACES = [(0, 0, 0, 4, None, None), (1, 1, 0, 4, None, None), (2, 0, 1, 4, None, None), (3, 1, 1, 4, None, None)]

    def test_each_task_has_a_folder_and_its_place(self):
        for kind in ("none", "pmi2", "pmix"):
            with self.subTest(kind):
                shutil.rmtree(self.path("run"), ignore_errors=True)
                self.srun("-N", "2", "-n", "4", "--mpi", kind)
                self.assert_places(TASKS, self.PLACES)

    def test_ranks_that_lie_cyclically_have_their_places(self):
        self.srun("-N", "2", "-n", "4", "-m", "cyclic")
        self.assert_places(TASKS, [(0, 0, 0, 4, None, None), (1, 0, 1, 4, None, None), (2, 1, 0, 4, None, None),
                                   (3, 1, 1, 4, None, None)])

    def test_a_task_alone_has_the_folder_itself(self):
        for kind in ("none", "pmi2", "pmix"):
            with self.subTest(kind):
                shutil.rmtree(self.path("run"), ignore_errors=True)
                self.srun("-n", "1", "--mpi", kind)
                self.assertIn("report.json", os.listdir(self.path("run")))

    def test_without_o_the_tasks_of_a_step_find_one_folder(self):
        argv = self.job.replace("-o %s" % self.path("run"), "")
        done = self.slurm("srun", "-N", "2", "-n", "4", *argv.split())
        self.assertEqual(done.status, 0, done)
        folders = [name for name in os.listdir(self.dir) if name.endswith(".0.d")]
        self.assertEqual(len(folders), 1, folders)
        self.assertEqual(sorted(os.listdir(self.path(folders[0]))), TASKS)

    def test_without_seep_run_the_library_makes_the_folders(self):
        given = "ALL,LD_PRELOAD=%s,PYTHONPATH=%s,SEEP_OUT=%s" % (SHIM, MODULES, self.path("run"))
        done = self.slurm("srun", "-N", "2", "-n", "4", "--export", given, SYSTEM_PYTHON, self.path("job.py"))
        self.assertEqual(done.status, 0, done)
        self.assert_places(TASKS, self.PLACES)

    def test_torchrun_in_a_task_of_each_node(self):
        inner = ["--nnodes", "2", "--nproc_per_node", "2", "--rdzv_backend", "c10d", "--rdzv_id", "trial", "--rdzv_endpoint",
                 "127.0.0.1:%d" % free_ports(1)[0], "--redirects", "1", "--tee", "1", "--log_dir", self.path("logs")]
        done = self.slurm("srun", "-N", "2", "--ntasks-per-node", "1", *self.run.split(), SYSTEM_PYTHON, "-m",
                          "torch.distributed.run", *inner, self.path("job.py"))
        self.assertEqual(done.status, 0, done)
        self.assertEqual(sorted(os.listdir(self.path("run"))), ["n1-0", "n2-0"])
        made = [p for p in self.report(self.path("run"))["processes"] if p["steps"]]
        # The nodes have their numbers as they met.
        self.assertEqual(sorted((p["rank"], p["local_rank"], p["node"], p["world_size"], p["local_size"]) for p in made),
                         [(r, r % 2, r // 2, 4, 2) for r in range(4)])


class Batches(PlacesCase):
    def test_what_a_script_runs_itself_writes_the_folder_itself(self):
        written, done = self.batch(self.job + "\n", "-N", "2", "-n", "4")
        self.assertEqual((written, done.status), ("", 0), done)
        self.assertIn("report.json", os.listdir(self.path("run")))

    def test_a_step_of_a_script_has_a_folder_for_each_task(self):
        written, done = self.batch("srun %s\n%s check %s\n" % (self.job, SEEP, self.path("run")), "-N", "2", "-n", "4")
        self.assertIn("seep check", written)
        self.assert_places(TASKS, Steps.PLACES, done.stdout.decode().strip())

    def test_a_requeued_job_has_a_folder_beside_the_first(self):
        written, done = self.batch(
            "srun %s\n[ \"$SLURM_RESTART_COUNT\" ] || { scontrol requeue $SLURM_JOB_ID; sleep 600; }\n" % self.job,
            "-N", "1", "-n", "2", "--requeue", "--open-mode", "append")
        self.assertEqual(done.status, 0, done)
        self.assert_places(["n1-0", "n1-0.2", "n1-1", "n1-1.2"],
                           sorted([(r, r, 0, 2, None, again) for r in (0, 1) for again in (None, 1)], key=str))

    def test_mpirun_of_open_mpi(self):
        written, done = self.batch("%s %s\n" % (MPIRUN, self.job), "-N", "2", "-n", "4")
        self.assertEqual(done.status, 0, written)
        self.assert_places(TASKS, [(r, r % 2, None, 4, 2, None) for r in range(4)])

    def test_mpiexec_of_mpich(self):
        written, done = self.batch("mpiexec.hydra %s\n" % self.job, "-N", "2", "-n", "4")
        self.assertEqual(done.status, 0, written)
        self.assert_places(TASKS, [(r, r % 2, r // 2, 4, 2, None) for r in range(4)])


if __name__ == "__main__":
    unittest.main()
