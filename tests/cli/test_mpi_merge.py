"""`seep-mpi merge`: what N ranks merge is what `seep merge` makes of the same digests, with each MPI here; ranks that
die or hang, and digests that are damaged, are told."""
import copy
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from tests.cli.test_digest import recorded_ranks
from tests.e2e.support import SEEP, SeepCase, job_env

DIGESTS = 11


def program(kind):
    return os.path.join(os.path.dirname(SEEP), "mpi", kind, "seep-mpi")


class MpiCase:
    """A case for each MPI: `kind`, and what its launcher needs."""
    options, outlive, variables = (), (), {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not shutil.which("mpiexec." + cls.kind) or not os.path.exists(program(cls.kind)):
            raise unittest.SkipTest("no %s: ./bootstrap check installs it, make tests builds seep-mpi with it"
                                    % cls.kind)
        started = subprocess.run(["mpiexec." + cls.kind, *cls.options, "-n", "2", "true"], env=job_env(**cls.variables),
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if started.returncode:
            raise unittest.SkipTest("%s's launcher starts nothing here: %s" % (cls.kind, started.stdout[-300:]))
        cls.root = tempfile.mkdtemp(prefix="seep-mpi-")
        cls.profile = recorded_ranks(cls.root)
        cls.names = cls.made_up()

    @classmethod
    def tearDownClass(cls):
        if hasattr(cls, "root"):
            shutil.rmtree(cls.root)

    @classmethod
    def made_up(cls):
        """Digests of nodes that are not there, from that of a job that is: other ranks, hosts and values."""
        out = os.path.join(cls.root, "one.digest")
        if os.system("%s digest %s -o %s" % (SEEP, cls.profile, out)):
            raise RuntimeError("no digest")
        with open(out) as f:
            one = json.load(f)
        names = []
        for i in range(DIGESTS):
            made = copy.deepcopy(one)
            made["hosts"], made["sources"] = ["node%d" % i], [1000 + i]
            for row in made["sites"]:
                row["sum"] += i
            names.append(os.path.join(cls.root, "%d.digest" % i))
            with open(names[-1], "w") as f:
                json.dump(made, f, separators=(",", ":"))
        return names

    def env(self, **changes):
        return job_env(**self.variables, **changes)

    def launch(self, parts, *options, timeout=300, **env):
        """parts: (ranks, arguments) each."""
        argv = ["mpiexec." + self.kind, *self.options, *options]
        for i, (n, args) in enumerate(parts):
            argv += [":"] * (i > 0) + ["-n", n, program(self.kind), "merge", *args]
        return self.command(argv, timeout=timeout, env=self.env(**env), cwd=self.dir)

    def merged(self, *names):
        """The bytes of `seep merge`."""
        done = self.seep("merge", *names, "-o", self.path("expected"))
        self.assertEqual(done.status, 0, done)
        return self.read("expected")

    def said(self, done):
        """What seep said; the libraries of MPI have warnings of their own, as about a container."""
        return [line for line in done.err.splitlines() if line.startswith("seep")]

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def changed(self, name, change):
        with open(self.names[0], "rb") as f:
            data = f.read()
        with open(self.path(name), "wb") as f:
            f.write(change(data))
        return self.path(name)

    # ---- all ranks live -------------------------------------------------------------------------------------------

    def test_any_number_of_ranks_makes_the_bytes_of_seep_merge(self):
        expected = self.merged(*self.names)
        for n in (1, 3, 8):
            done = self.launch([(n, [*self.names, "-o", "out"])])
            self.assertEqual((done.status, self.said(done)), (0, []), done)
            self.assertEqual(self.read("out"), expected, n)
            os.unlink(self.path("out"))

    def test_more_ranks_than_digests(self):
        done = self.launch([(8, [*self.names[:3], "-o", "out"])])
        self.assertEqual((done.status, self.read("out")), (0, self.merged(*self.names[:3])), done)

    def test_profiles_of_one_folder_are_summed_up_by_the_ranks(self):
        done = self.launch([(3, [self.profile, "-o", "out"])])
        self.assertEqual((done.status, self.said(done)), (0, []), done)
        self.assertEqual(self.read("out"), self.merged(os.path.join(self.root, "one.digest")))

    def test_ranks_of_a_node_divide_what_is_on_its_disk(self):
        done = self.launch([(4, ["--local", *self.names, "-o", "out"])])
        self.assertEqual((done.status, self.read("out")), (0, self.merged(*self.names)), done)

    def test_damaged_digests_are_told_and_counted_and_the_rest_is_merged(self):
        cut = self.changed("cut", lambda data: data[:len(data) // 2])
        newer = self.changed("newer", lambda data: data.replace(b'"version":1', b'"version":2', 1))
        names = [cut, *self.names[:4], newer, *self.names[4:], self.path("none")]
        done = self.launch([(8, [*names, "-o", "out"])])
        self.assertEqual((done.status, self.read("out")), (0, self.merged(*names)), done)
        self.assertEqual(json.loads(self.read("out"))["numbers"]["digests_not_merged"], 3)
        for said in (cut + ": is cut short", newer + ": is a digest of another version",
                     self.path("none") + ": cannot be read"):
            self.assertIn("seep: " + said, done.err)

    def test_a_digest_counts_once_whichever_ranks_read_its_copies(self):
        twin = self.changed("twin", lambda data: data)
        done = self.launch([(8, [*self.names, twin, "-o", "out"])])
        self.assertEqual((done.status, self.read("out")), (0, self.merged(*self.names)), done)
        self.assertIn("is in it already", done.err)

    def test_where_nothing_can_be_read_there_is_no_digest(self):
        done = self.launch([(3, [self.path("none"), "-o", "out"])])
        self.assertNotEqual(done.status, 0)
        self.assertIn("nothing is left to make a digest of", done.err)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_it_says_how_much_was_sent(self):
        done = self.launch([(8, ["--verbose", *self.names, "-o", "out"])])
        self.assertRegex(done.err, r"seep: ranks: 8; depth of the tree: 3; sent by a rank: \d+\.\d+ MiB on average, ")

    # ---- a rank falls ---------------------------------------------------------------------------------------------

    def end_what_hangs(self):
        """Open MPI's launcher leaves a rank that hangs behind."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink("/proc/%s/cwd" % pid) == self.dir:
                    os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass

    def fall(self, rank, how, parts, **env):
        """Until somebody has told of it: a launcher that ends all ranks may lose what they said last."""
        self.addCleanup(self.end_what_hangs)
        for _ in range(4):
            done = self.launch(parts, *self.outlive, SEEP_MPI_FALL="%d:%d" % (rank, how), **env)
            if "does not answer" in done.err and os.path.exists(self.path("out")):
                break
        return done

    def test_a_rank_that_hangs_is_named_and_others_read_its_digests(self):
        expected = self.merged(*self.names)
        for rank in (4, 7):  # one with ranks below it in the tree, and one without
            done = self.fall(rank, signal.SIGSTOP, [(8, ["--patience", "2", *self.names, "-o", "out"])])
            self.assertEqual(self.read("out"), expected, done)
            self.assertIn("seep: rank %d on %s does not answer: others have read its digests"
                          % (rank, os.uname().nodename), done.err)
            os.unlink(self.path("out"))

    def test_where_rank_0_hangs_the_others_end(self):
        """After ten times the patience; whichever comes first ends them all."""
        self.addCleanup(self.end_what_hangs)
        began = time.monotonic()
        done = self.launch([(3, ["--patience", "0.5", *self.names[:3], "-o", "out"])], SEEP_MPI_FALL="0:%d" % signal.SIGSTOP,
                           timeout=120)
        self.assertNotEqual(done.status, 0)
        self.assertGreaterEqual(time.monotonic() - began, 5)
        if os.path.exists(self.path("out")):  # the launcher wakes rank 0 to end it, and there was time to write
            self.assertEqual(self.read("out"), self.merged(*self.names[:3]))


class OpenMpi(MpiCase, SeepCase):
    kind = "openmpi"
    options, outlive = ("--oversubscribe",), ("--enable-recovery",)
    variables = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}

    def test_a_rank_that_is_killed_is_named_and_others_read_its_digests(self):
        done = self.fall(4, signal.SIGKILL, [(8, ["--patience", "2", *self.names, "-o", "out"])])
        self.assertEqual(self.read("out"), self.merged(*self.names), done)
        self.assertIn("seep: rank 4 on %s does not answer" % os.uname().nodename, done.err)


class Mpich(MpiCase, SeepCase):
    """Its launcher may end all ranks when one is killed, whatever it is told: so here ranks only hang."""
    kind = "mpich"
    outlive = ("-disable-auto-cleanup",)
    TWO_NODES = {"MPIR_CVAR_ODD_EVEN_CLIQUES": 1}  # ranks with odd numbers are on another node

    def two_nodes(self, n, *options):
        """n ranks of two nodes, each of which has a disk of its own."""
        left = [*options, "--local", *self.names[:5], "-o", "out"]
        right = [*options, "--local", *self.names[5:], "-o", "out"]
        return [(1, left if i % 2 == 0 else right) for i in range(n)]

    def test_each_node_merges_what_is_on_its_own_disk(self):
        done = self.launch(self.two_nodes(5), **self.TWO_NODES)
        self.assertEqual((done.status, self.read("out")), (0, self.merged(*self.names)), done)

    def test_another_rank_of_its_node_reads_for_one_that_hangs(self):
        done = self.fall(3, signal.SIGSTOP, self.two_nodes(4, "--patience", "8"), **self.TWO_NODES)
        self.assertEqual(self.read("out"), self.merged(*self.names), done)
        self.assertRegex(done.err, r"seep: rank 3 on \S+ does not answer: others have read its digests")

    def test_what_only_a_rank_that_hangs_could_read_is_counted(self):
        done = self.fall(1, signal.SIGSTOP, self.two_nodes(2, "--patience", "2"), **self.TWO_NODES)
        self.assertRegex(done.err, r"seep: rank 1 on \S+ does not answer: %d of its digests are not merged"
                         % (DIGESTS - 5))
        numbers = json.loads(self.read("out"))["numbers"]
        self.assertEqual(numbers["digests_not_merged"], DIGESTS - 5)
        self.assertEqual(numbers["folders"], json.loads(self.merged(*self.names[:5]))["numbers"]["folders"])


if __name__ == "__main__":
    unittest.main()
