"""Slurm with two nodes on one machine: configuration, keys, state, logs and ports are its own, below build/. `make
check-slurm` starts Python in namespaces of its own, with which all of it ends, and so may give names to the nodes."""
import atexit
import os
import socket
import subprocess
import tempfile
import time
import unittest

from tests.e2e.support import ROOT, SEEP, SeepCase, job_env

NODES = ("n1", "n2")
STARTS_WITHIN_S = 120
CONFIGURATION = """
ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=20
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort={port}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdSpoolDir={folder}/spool-%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
TmpFS={folder}/tmp-%n
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
ReturnToService=2
MpiDefault=none
NodeName=n1 NodeHostname=n1 NodeAddr=n1 Port={port_1} CPUs=8
NodeName=n2 NodeHostname=n2 NodeAddr=n2 Port={port_2} CPUs=8
PartitionName=all Nodes=n1,n2 Default=YES State=UP MaxTime=INFINITE
"""
HOSTS = "127.0.0.1 localhost %s n1 n2\n"  # one address: tasks call back where their request came from


def free_ports(n):
    held = [socket.socket() for _ in range(n)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class Cluster:
    def __init__(self):
        """Its folder stays, with the logs of the last check."""
        self.folder = str(ROOT / "build/slurm")
        self.daemons = []
        subprocess.run(["rm", "-rf", self.folder], check=True)
        for name in ("", "munge", "state", *("%s-%s" % (kind, node) for kind in ("spool", "tmp") for node in NODES)):
            os.mkdir(self.path(name), 0o755)
        self.write("hosts", HOSTS % socket.gethostname())
        port, port_1, port_2 = free_ports(3)
        self.write("slurm.conf", CONFIGURATION.format(
            host=socket.gethostname(), user=os.getuid(), folder=self.folder, port=port, port_1=port_1, port_2=port_2))
        self.write("key", os.urandom(128))
        self.environment = dict(job_env(), SLURM_CONF=self.path("slurm.conf"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, what):
        with open(self.path(name), "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
            f.write(what if isinstance(what, bytes) else what.encode())

    def daemon(self, name, *argv):
        with open(self.path(name + ".out"), "wb") as out:
            self.daemons.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                 env=self.environment, start_new_session=True))

    def until(self, what, is_so):
        end = time.monotonic() + STARTS_WITHIN_S
        while not is_so():
            if time.monotonic() > end or any(d.poll() is not None for d in self.daemons):
                raise RuntimeError("Slurm does not start, waiting for %s: see the logs in %s" % (what, self.folder))
            time.sleep(0.1)

    def start(self):
        os.environ["PATH"] += ":/usr/sbin"
        self.environment["PATH"] = os.environ["PATH"]
        subprocess.run(["mount", "--bind", self.path("hosts"), "/etc/hosts"], check=True)
        socket_path = self.path("munge/socket")
        self.daemon("munged", "munged", "--foreground", "--force", "--key-file", self.path("key"), "--socket", socket_path,
                    "--pid-file", self.path("munged.pid"), "--log-file", self.path("munged.log"), "--seed-file",
                    self.path("munged.seed"))
        self.until("munged", lambda: os.path.exists(socket_path))
        self.daemon("slurmctld", "slurmctld", "-D")
        for node in NODES:
            self.daemon(node, "unshare", "--uts", "sh", "-c", "hostname %s && exec slurmd -D -N %s" % (node, node))
        self.until("nodes", lambda: self.output("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * len(NODES))

    def output(self, *argv):
        return subprocess.run(argv, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout

    def stop(self):
        self.output("scancel", "--user", str(os.getuid()), "--signal", "KILL")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


_cluster = None


def cluster():
    """The one of this check; it is started once."""
    global _cluster
    if not os.environ.get("SEEP_SLURM"):
        raise unittest.SkipTest("it would not be alone: `make check-slurm` starts it in namespaces of its own")
    if _cluster is None:
        _cluster = Cluster()
        atexit.register(_cluster.stop)
        _cluster.start()
    return _cluster


class SlurmCase(SeepCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = cluster()

    def slurm(self, *argv, timeout=120, **variables):
        return self.command(argv, timeout=timeout, env=dict(self.cluster.environment, **variables), cwd=self.dir)

    def batch(self, text, *options):
        """What the script wrote, and its status."""
        with open(self.path("script"), "w") as f:
            f.write("#!/bin/sh\n" + text)
        done = self.slurm("sbatch", "--wait", "--parsable", "-o", self.path("written"), *options, self.path("script"))
        with open(self.path("written")) as f:
            return f.read(), done

    def seep_in_path(self):
        return "PATH=%s:$PATH\n" % os.path.dirname(SEEP)
