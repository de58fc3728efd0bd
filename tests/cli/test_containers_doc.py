"""docs/install.md, "A container image": its files are what they say, its commands are seep's, and a job in a container is
recorded."""
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import unittest

import yaml

from tests.cli.ci_jobs import JOB
from tests.e2e.support import ROOT, SEEP, SeepCase, children_of, job_env, needs, needs_to_read_children
from tests.pages import blocks, section

PAGE = section("install.md", "A container image")
INSTRUCTIONS = {"FROM", "COPY", "RUN", "WORKDIR", "VOLUME", "ENTRYPOINT", "CMD"}
# As far as seep could notice: it is the first process, root without the rights that Docker takes from root.
CONTAINER = ["unshare", "--mount", "--pid", "--fork", "--ipc", "--mount-proc",
             "setpriv", "--bounding-set", "-sys_ptrace,-sys_admin"]


def block(language):
    found, = blocks(PAGE, language)
    return found


def dockerfile():
    """[(instruction, rest of its line)]"""
    return [tuple(line.split(" ", 1)) for line in block("dockerfile").splitlines()]


def commands_of_seep():
    """Each as words, from `seep` on, with what the shell would put in its place."""
    prose = re.sub(r"(?ms)^```.*?^```$", "", PAGE)
    pod = yaml.safe_load(block("yaml"))
    found = [json.loads(dict(dockerfile())["ENTRYPOINT"]) + json.loads(dict(dockerfile())["CMD"])]
    found += [c["command"] for c in pod["spec"]["containers"] if c["command"][0] == "seep"]
    for line in block("sh").splitlines():
        if "--entrypoint seep" in line:
            found.append(["seep"] + line.partition(" training-seep ")[2].split())
    for text in re.findall(r"`([^`]*\bseep (?:look|top|doctor|view)\b[^`]*)`", prose):
        words = shlex.split(re.sub(r"\$\([^)]*\)", "1", text))
        found.append(words[words.index("seep"):])
    return found


def can_make_containers():
    return os.geteuid() == 0 and subprocess.run([*CONTAINER, "true"], stderr=subprocess.DEVNULL).returncode == 0


class Files(SeepCase):
    def test_the_dockerfile_is_short_and_one(self):
        lines = dockerfile()
        self.assertLessEqual(len(lines), 10)
        self.assertEqual({name for name, _ in lines} - INSTRUCTIONS, set())
        self.assertEqual([lines[0][0], lines[-2][0], lines[-1][0]], ["FROM", "ENTRYPOINT", "CMD"])
        wheel = next(rest.split()[0] for name, rest in lines if name == "COPY")
        self.assertIn(wheel, (ROOT / "docs/install.md").read_text())
        folder = dict(lines)["VOLUME"]
        self.assertTrue(json.loads(dict(lines)["ENTRYPOINT"])[3].startswith(folder + "/"))
        self.assertIn(":%s\"" % folder, block("sh"))

    def test_the_pod_has_what_the_page_says(self):
        spec = yaml.safe_load(block("yaml"))["spec"]
        trains, looks = spec["containers"]
        self.assertIs(spec["shareProcessNamespace"], True)
        self.assertNotIn("securityContext", trains)
        self.assertEqual(looks["securityContext"], {"runAsUser": 0, "capabilities": {"add": ["SYS_PTRACE"]}})
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        self.assertEqual(volumes["shm"]["emptyDir"], {"medium": "Memory", "sizeLimit": "8Gi"})
        for mount in trains["volumeMounts"] + looks["volumeMounts"]:
            self.assertIn(mount["name"], volumes)
        self.assertIn({"name": "shm", "mountPath": "/dev/shm"}, trains["volumeMounts"])

    def test_its_commands_are_seep_s(self):
        commands = commands_of_seep()
        self.assertGreaterEqual(len(commands), 7)
        self.assertEqual({words[1] for words in commands}, {"run", "view", "top", "look", "doctor"})
        for words in commands:
            with self.subTest(words):
                end = words.index("--") if "--" in words else len(words)
                done = self.seep(*words[1:end], "--help")
                self.assertEqual((done.status, done.err), (0, ""), repr(done))
        for variable in re.findall(r"\bSEEP_[A-Z_]+", PAGE):
            self.assertIn(variable, self.seep("help", "run").stdout.decode())
        self.assertIn("--holders", self.seep("help", "run").stdout.decode())


@needs(can_make_containers(), "no namespaces can be made here: run as root")
@needs_to_read_children
class Container(SeepCase):
    def argv(self, *job):
        with open(self.path("train.py"), "w") as f:
            f.write(JOB)
        self.folder = self.path("run.d")
        return [*CONTAINER, SEEP, "run", "-q", "-o", self.folder, "--", sys.executable, "train.py", *job]

    def test_it_records_and_finds_who_holds_the_memory(self):
        done = self.command(self.argv("leak"), cwd=self.dir)
        self.assertEqual(done.status, 0, repr(done))
        report = self.report(self.folder)
        self.assertEqual(report["findings"][0]["pattern"], "unbounded-growth")
        self.assertEqual(report["findings"][0]["holders"]["paths"][0]["text"].split("[")[0], "module __main__.kept")
        self.assertEqual(report["coverage"]["holders"]["refused"], {})

    def test_stopped_it_leaves_a_whole_profile(self):
        argv = self.argv("leak", "--hang")
        with subprocess.Popen(argv, cwd=self.dir, stdout=subprocess.PIPE, env=job_env()) as container:
            self.until(container.stdout.fileno(), b"ready", seconds=60)
            first, = children_of(container.pid)
            os.kill(first, signal.SIGTERM)
            self.assertEqual(container.wait(60), 128 + signal.SIGTERM)
        job = self.report(self.folder)["job"]
        self.assertEqual((job["exit"]["kind"], job["exit"]["value"]), ("signal", signal.SIGTERM))
        self.assertTrue(job["complete"])


if __name__ == "__main__":
    unittest.main()
