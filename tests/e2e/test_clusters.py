"""Jobs of several ranks: each launcher's variables give each `seep run` a folder of its own, each process its place in
the launch, and the parent folder is one job. No launcher is needed: what counts is what it puts into the environment."""
import os
import shutil
import socket
import struct
import subprocess
import unittest

from tests.e2e.support import MODULES, NO_LOOKS, SEEP, SHIM, SYSTEM_PYTHON, SeepCase, job_env, said_of

JOB = """
import os, sys, seep
kept = []
for step in range(20):
    kept.append(bytearray(100_000))
    seep.step()
sys.stdout.write("ran %s" % os.environ.get("WHO", ""))
"""
NAMES = ("RANK", "LOCAL_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID",
         "TORCHELASTIC_RESTART_COUNT", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE",
         "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
         "MPI_LOCALNRANKS", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID",
         "SLURM_STEP_ID", "SLURM_RESTART_COUNT", "JOB_COMPLETION_INDEX")
HOST = socket.gethostname()
PLACE = ("rank", "local_rank", "node", "world_size", "local_size", "job_id", "restart")


def plain_env(**changes):
    return job_env(**dict(dict.fromkeys(NAMES), **changes))


def torchrun(rank):
    return {"RANK": rank, "LOCAL_RANK": rank, "GROUP_RANK": 0, "WORLD_SIZE": 8, "LOCAL_WORLD_SIZE": 8,
            "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": 1}


def slurm(rank):
    return {"SLURM_PROCID": rank, "SLURM_LOCALID": rank, "SLURM_NODEID": 0, "SLURM_STEP_NUM_TASKS": 8,
            "SLURM_NTASKS": 8, "SLURM_JOB_ID": 4711, "SLURM_STEP_ID": 2, "SLURM_RESTART_COUNT": 3}


def open_mpi(rank):
    return {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_LOCAL_RANK": rank, "OMPI_COMM_WORLD_SIZE": 8,
            "OMPI_COMM_WORLD_LOCAL_SIZE": 8, "PMIX_NAMESPACE": "prterun-node-7@1", "PMIX_RANK": rank}


def mpich(rank):
    return {"PMI_RANK": rank, "MPI_LOCALRANKID": rank, "PMI_SIZE": 8, "MPI_LOCALNRANKS": 8}


def kubernetes(index):
    return {"JOB_COMPLETION_INDEX": index}


# What each says of rank r: (rank, local_rank, node, world_size, local_size, job_id, restart)
LAUNCHERS = [
    (torchrun, lambda r: (r, r, 0, 8, 8, None, 1)),
    (slurm, lambda r: (r, r, 0, 8, None, "4711", 3)),
    (open_mpi, lambda r: (r, r, None, 8, 8, "prterun-node-7@1", None)),
    (mpich, lambda r: (r, r, None, 8, 8, None, None)),
    (kubernetes, lambda r: (r, None, r, None, None, None, None)),
]


class ClusterCase(SeepCase):
    def start(self, options, variables, **how):
        return subprocess.Popen([SEEP, "run", *NO_LOOKS, *options, "--", SYSTEM_PYTHON, "-c", JOB], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=plain_env(**variables), **how)

    def finish(self, ranks):
        """All have run the job, whatever became of the record."""
        told = []
        for p in ranks:
            out, err = p.communicate(timeout=240)
            self.assertEqual((p.returncode, out.decode()), (0, "ran "), err.decode())
            told.append(err.decode())
        return told

    def places(self, report):
        return sorted((tuple(p[name] for name in PLACE) for p in report["processes"]), key=str)


class Launchers(ClusterCase):
    def test_eight_ranks_at_once_have_a_folder_each_and_the_parent_has_them_all(self):
        for launcher, place in LAUNCHERS:
            with self.subTest(launcher.__name__):
                folder = self.path("runs", launcher.__name__)
                told = self.finish([self.start(["-o", folder], launcher(r)) for r in range(8)])
                names = ["%s-%d" % (HOST, r) for r in range(8)]
                self.assertEqual(sorted(os.listdir(folder)), names)
                for name, text in zip(names, told):
                    self.assertIn(os.path.join(folder, name), text.splitlines()[-1], "the summary's last line")
                report = self.report(folder)
                self.assertEqual(self.places(report), sorted(map(place, range(8)), key=str))
                self.assertTrue(report["job"]["complete"])

    def test_without_o_ranks_of_a_step_find_one_folder(self):
        self.finish([self.start([], slurm(r), cwd=self.dir) for r in range(2)])
        folder = self.path("seep.job.4711.2.d")
        if not os.path.isdir(folder):
            folder = self.path(*[name for name in os.listdir(self.dir) if name.endswith(".4711.2.d")])
        self.assertEqual(sorted(os.listdir(folder)), ["%s-0" % HOST, "%s-1" % HOST])

    def test_restarts_lie_beside_what_they_restart(self):
        folder = self.fresh()
        for _ in range(2):
            self.finish([self.start(["-q", "-o", folder], slurm(r)) for r in range(2)])
        self.assertEqual(sorted(os.listdir(folder)), [HOST + end for end in ("-0", "-0.2", "-1", "-1.2")])
        self.assertEqual(len(self.report(folder)["processes"]), 4)

    def test_a_rank_alone_and_a_batch_script_have_the_folder_itself(self):
        batch = {"SLURM_PROCID": 0, "SLURM_LOCALID": 0, "SLURM_NODEID": 0, "SLURM_NTASKS": 8, "SLURM_JOB_ID": 4711}
        alone = dict(slurm(0), SLURM_STEP_NUM_TASKS=1, PMIX_RANK=0)
        for variables in (batch, alone, dict(torchrun(0), WORLD_SIZE=1), {"RANK": 3}):
            folder = self.fresh()
            self.finish([self.start(["-q", "-o", folder], variables)])
            self.assertIn("report.json", os.listdir(folder))

    def test_ranks_that_the_job_numbers_itself_have_no_local_rank_of_the_task_around_them(self):
        folder = self.fresh()
        inner = "import os\nos.environ['RANK'] = '5'\nos.environ['WORLD_SIZE'] = '16'\n" + JOB.replace(
            "step in range(20):", "step in range(2):")
        done = self.seep("run", "-q", "-o", folder, *NO_LOOKS, "--", SYSTEM_PYTHON, "-c", inner,
                         env=plain_env(**dict(slurm(1), SLURM_NODEID=1)))
        self.assertEqual(done.status, 0, repr(done))
        self.assertEqual(self.places(self.report(folder)), [(5, None, 1, 16, None, "4711", 3)])


class Parents(ClusterCase):
    def record(self, folder, host=None, **variables):
        """One rank, on a machine of that name."""
        as_host = ["unshare", "-u", "sh", "-c", "hostname %s; exec \"$@\"" % host, "sh"] if host else []
        done = self.command([*as_host, SEEP, "run", "-q", "-o", folder, *NO_LOOKS, "--", SYSTEM_PYTHON, "-c", JOB],
                            env=plain_env(**variables))
        self.assertEqual(done.status, 0, repr(done))

    def test_every_command_takes_the_parent(self):
        folder = self.fresh()
        for rank in range(2):
            self.record(folder, **slurm(rank))
        whole = self.seep("report", folder)
        self.assertIn("on 1 host: %s" % HOST, whole.stdout.decode(), repr(whole))
        for args, statuses in ((("check", folder), (0, 1)), (("verify", folder, folder), (0, 1)), (("diff", folder, folder), (0,)),
                               (("top", "--once", folder), (0,)), (("view", folder), (0,)),
                               (("export", folder, "--format", "collapsed", "--measure", "allocated"), (0,))):
            done = self.seep(*args)
            self.assertIn(done.status, statuses, repr(done))
        self.assertTrue(os.path.exists(os.path.join(folder, "view.html")))
        self.assertEqual(len(self.report(folder)["processes"]), 2, "what is written there is not in the way")

    def test_folders_may_lie_one_deeper(self):
        parent = self.fresh()
        for rank in range(2):
            self.record(os.path.join(parent, "attempt"), **slurm(rank))
        self.assertEqual(len(self.report(parent)["processes"]), 2)

    @unittest.skipIf(os.geteuid() == 0, "root can read any folder")
    def test_a_folder_that_cannot_be_read_is_named(self):
        folder = self.fresh()
        for rank in range(2):
            self.record(folder, **slurm(rank))
        lost = os.path.join(folder, "%s-1" % HOST)
        os.chmod(lost, 0)
        self.addCleanup(os.chmod, lost, 0o700)
        done = self.seep("report", folder)
        self.assertEqual(done.status, 0, repr(done))
        self.assertIn(lost, done.err)

    def test_a_damaged_part_is_named_and_the_others_are_reported(self):
        folder = self.fresh()
        for rank in range(2):
            self.record(folder, **slurm(rank))
        lost = os.path.join(folder, "%s-1" % HOST)
        for name in os.listdir(lost):
            if name.endswith(".seep"):
                os.truncate(os.path.join(lost, name), 100)
        report = self.report(folder)
        self.assertEqual(len([p for p in report["processes"] if p["rank"] == 0]), 1)
        self.assertFalse(report["job"]["complete"])

    def test_a_folder_with_a_profile_is_not_mixed_with_others_in_it(self):
        outer = self.fresh()
        self.record(outer)
        self.record(os.path.join(outer, "other.d"))
        self.assertEqual(len(self.report(outer)["processes"]), 1)

    def test_a_folder_of_folders_without_profiles_is_an_error_of_one_line(self):
        os.makedirs(self.path("empty", "below"))
        done = self.seep("report", self.path("empty"))
        self.assertEqual(done.status, 2)
        self.one_line_error(done)

    @unittest.skipUnless(shutil.which("unshare") and os.geteuid() == 0, "a machine's name needs unshare -u, by root")
    def test_two_nodes_are_one_report(self):
        folder = self.fresh()
        for rank in range(4):
            self.record(folder, host="node%d" % (rank // 2),
                        **dict(slurm(rank), SLURM_LOCALID=rank % 2, SLURM_NODEID=rank // 2, SLURM_STEP_NUM_TASKS=4))
        self.assertEqual(sorted(os.listdir(folder)), ["node0-0", "node0-1", "node1-0", "node1-1"])
        report = self.report(folder)
        self.assertEqual({(p["host"], p["node"], p["local_rank"], p["rank"]) for p in report["processes"]},
                         {("node%d" % (r // 2), r // 2, r % 2, r) for r in range(4)})
        text = self.seep("report", folder).stdout.decode()
        self.assertRegex(text, r"ranks +\d of 4 with steps, on 2 hosts: node0, node1")


def boot_of(table):
    """Where a table of ours says which boot it is of."""
    with open("/proc/sys/kernel/random/boot_id") as f:
        number = struct.pack("<Q", int(f.read().replace("-", "")[:16], 16))
    at = table.index(number)
    return at, at + 8


class Strangers(ClusterCase):
    """Another machine's table in the folder that SEEP_OUT names."""

    def preloaded(self, folder, **variables):
        done = self.command([SYSTEM_PYTHON, "-c", JOB], env=plain_env(LD_PRELOAD=SHIM, SEEP_OUT=folder, PYTHONPATH=MODULES, **variables))
        self.assertEqual((done.status, done.stdout), (0, b"ran "), repr(done))

    def foreign(self, boot=b"strange!", host=b"elsewhere"):
        """A folder with a profile of another machine; returns it and its table's bytes."""
        folder = self.fresh()
        self.run_seep([SYSTEM_PYTHON, "-c", JOB], NO_LOOKS, folder=folder, env=plain_env())
        path = os.path.join(folder, "job.seepjob")
        with open(path, "r+b") as f:
            table = f.read()
            first, last = boot_of(table)
            f.seek(first)
            f.write(boot)
            f.seek(table.index(HOST.encode() + b"\0"))
            f.write(host.ljust(64, b"\0"))
        os.remove(os.path.join(folder, "report.json"))
        with open(path, "rb") as f:
            return folder, f.read()

    def assert_apart(self, folder, table, *names):
        with open(os.path.join(folder, "job.seepjob"), "rb") as f:
            self.assertEqual(f.read(), table, "the other machine's table was written to")
        self.assertEqual(sorted(n for n in os.listdir(folder) if os.path.isdir(os.path.join(folder, n))), sorted(names))

    def test_a_process_of_another_machine_records_in_a_folder_in_there(self):
        folder, table = self.foreign()
        self.preloaded(folder)
        self.preloaded(folder)  # the second finds the first's
        self.assert_apart(folder, table, HOST)
        report = self.report(folder)
        self.assertEqual(len(report["processes"]), 3, "both machines' are in the report of the folder")
        self.assertIn("host %s: " % HOST, said_of(report))

    def test_an_equal_name_does_not_make_it_the_same_machine(self):
        folder, table = self.foreign(host=HOST.encode())
        self.preloaded(folder)
        self.assert_apart(folder, table, HOST)

    def test_names_decide_where_boots_are_not_known(self):
        folder, table = self.foreign(boot=bytes(8))
        self.preloaded(folder)
        self.assert_apart(folder, table, HOST)
        folder, _ = self.foreign(boot=bytes(8), host=HOST.encode())
        self.preloaded(folder)
        self.assertFalse(os.path.exists(os.path.join(folder, HOST)))

    def test_an_older_boot_of_the_same_folder_is_passed_over(self):
        folder, table = self.foreign()
        shutil.copytree(folder, os.path.join(folder, HOST))
        self.preloaded(folder)
        self.assert_apart(folder, table, HOST, HOST + ".2")

    @unittest.skipIf(os.geteuid() == 0, "root can write to any folder")
    def test_where_no_folder_can_be_made_the_job_runs(self):
        folder, table = self.foreign()
        os.chmod(folder, 0o500)
        self.addCleanup(os.chmod, folder, 0o700)
        self.preloaded(folder)
        self.assert_apart(folder, table)

    def test_preloaded_ranks_have_a_folder_each_as_under_seep_run(self):
        folder = self.fresh()
        for rank in range(2):
            self.preloaded(folder, **slurm(rank))
        self.assertEqual(sorted(os.listdir(folder)), ["%s-0" % HOST, "%s-1" % HOST])
        self.assertEqual(sorted(p["rank"] for p in self.report(folder)["processes"]), [0, 1])

    def test_ranks_of_a_launcher_that_is_recorded_stay_with_it(self):
        rank = "exec env %s %s -c '%s'" % (" ".join("%s=%s" % item for item in torchrun(0).items()), SYSTEM_PYTHON, JOB)
        folder = self.fresh()
        self.run_seep(["sh", "-c", rank], NO_LOOKS, folder=folder, env=plain_env())
        self.assertFalse(os.path.exists(os.path.join(folder, HOST + "-0")))
        self.assertIn((0, 0), [(p["rank"], p["local_rank"]) for p in self.report(folder)["processes"]])


class RealLaunchers(ClusterCase):
    def assert_three(self, launcher):
        folder = self.fresh()
        more = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1,
                "OMPI_MCA_rmaps_base_oversubscribe": 1, "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
        done = self.command([launcher, "-n", "3", SEEP, "run", "-q", "-o", folder, *NO_LOOKS, "--", SYSTEM_PYTHON, "-c", JOB],
                            env=plain_env(**more), timeout=240)
        self.assertEqual(done.status, 0, repr(done))
        self.assertEqual(sorted(os.listdir(folder)), ["%s-%d" % (HOST, r) for r in range(3)])
        report = self.report(folder)
        self.assertEqual(sorted((p["rank"], p["local_rank"], p["world_size"]) for p in report["processes"]),
                         [(r, r, 3) for r in range(3)])

    def test_mpiexec_of_mpich_and_of_open_mpi(self):
        launchers = {os.path.realpath(path) for path in map(shutil.which, ("mpiexec.hydra", "mpirun", "mpiexec")) if path}
        if not launchers:
            self.skipTest("no mpiexec: the packages mpich and openmpi-bin have one")
        for launcher in launchers:
            with self.subTest(launcher):
                self.assert_three(launcher)

    def torchrun(self, *command):
        if subprocess.call([SYSTEM_PYTHON, "-c", "import torch.distributed.run"], stderr=subprocess.DEVNULL):
            self.skipTest("%s has no PyTorch: the package python3-torch has it" % SYSTEM_PYTHON)
        # Of numbers for --redirects PyTorch 1.13 knows only 1 and 2 on Python 3.11.
        return [SYSTEM_PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "--redirects", "1",
                "--tee", "1", "--log_dir", self.path("logs"), *command]

    def assert_two(self, folder):
        ranks = [p for p in self.report(folder)["processes"] if p["steps"]]
        self.assertEqual(sorted((p["rank"], p["local_rank"], p["node"], p["world_size"], p["local_size"], p["restart"])
                                for p in ranks), [(r, r, 0, 2, 2, 0) for r in range(2)])

    def test_torchrun_in_seep_run_has_one_folder(self):
        script = self.path("job.py")
        with open(script, "w") as f:
            f.write(JOB)
        folder = self.fresh()
        self.run_seep(self.torchrun(script), NO_LOOKS, folder=folder, env=plain_env(), timeout=240)
        self.assertEqual([n for n in os.listdir(folder) if os.path.isdir(os.path.join(folder, n))], [])
        self.assert_two(folder)

    def test_seep_run_in_torchrun_has_one_folder_a_rank(self):
        folder = self.fresh()
        done = self.command(self.torchrun("--no_python", SEEP, "run", "-q", "-o", folder, *NO_LOOKS, "--", SYSTEM_PYTHON,
                                          "-c", JOB), env=plain_env(), timeout=240)
        self.assertEqual(done.status, 0, repr(done))
        self.assertEqual(sorted(os.listdir(folder)), ["%s-0" % HOST, "%s-1" % HOST])
        self.assert_two(folder)


if __name__ == "__main__":
    unittest.main()
