"""One job recorded by several tools, and the pages that they make of it. Nothing here asks a network."""
import base64
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEP = os.path.abspath(os.environ.get("SEEP", str(ROOT / "build/seep")))
MEMRAY = pathlib.Path(os.environ.get("MEMRAY", str(ROOT / "build/peers/venv/bin/memray")))
TORCH = ROOT / "build/gpu-torch/cu13"
STANDIN = ROOT / "build/tests/standin/13"
VIZ = pathlib.Path(os.environ.get("MEMORY_VIZ", str(ROOT / "build/peers/memory_viz")))
VIZ_SCRIPTS = ("process_alloc_data.js", "MemoryViz.js")  # of PyTorch's torch/utils/viz; what is imported comes first
HOST_JOB = ("tests/zoo/annotation_cache.py", "--epochs", "3", "--images", "600")
WORKERS_JOB = ("tests/zoo/pointgroup_workers.py", "leaky", "--epochs", "6")
GROWING_JOB = ("tests/zoo/prediction_history.py", "leaky")
GPU_JOB = ("tests/zoo/gpu/g06_instances_oom.py",)

# memray's reports by name: each is a command of its own.
REPORTS = {
    "flame graph": ("flamegraph",), "flame graph, --leaks": ("flamegraph", "--leaks"),
    "flame graph, --temporal": ("flamegraph", "--temporal", "--leaks"),
    "flame graph, --temporary-allocations": ("flamegraph", "--temporary-allocations"),
    "flame graph, --inverted": ("flamegraph", "--inverted"), "table": ("table",),
}
OTHER_REPORTS = [name for name in REPORTS if name != "flame graph"]


def quiet(argv, statuses=(0,), **env):
    done = subprocess.run([str(a) for a in argv], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1", **env})
    if done.returncode not in statuses:
        raise SystemExit("questions: %s ended with %d:\n%s" % (argv[0], done.returncode, done.stdout[-2000:]))
    return done.stdout


def lacking():
    """{what is not here: how it gets here}, of the peers."""
    return {what: how for what, how, there in (
        ("memray", "make peers", MEMRAY.exists()),
        ("PyTorch with CUDA on the stand-in", "make gpu-torch", (TORCH / "venv/bin/python").exists()),
        ("memory_viz", "put %s of PyTorch's torch/utils/viz into %s" % (" and ".join(VIZ_SCRIPTS), VIZ),
         all((VIZ / name).exists() for name in VIZ_SCRIPTS))) if not there}


def versions():
    def line(*argv):
        return quiet(argv).strip().splitlines()[-1]

    found = [line(SEEP, "--version")]
    if MEMRAY.exists():
        python = MEMRAY.parent / "python"
        found += ["memray " + line(python, "-c", "import memray; print(memray.__version__)"),
                  "PyTorch %s for the host" % line(python, "-c", "import torch; print(torch.__version__)")]
    found += [path.name.replace("ready-", "PyTorch ") + " for the device" for path in TORCH.glob("ready-*")]
    return found


class Pages:
    """Made in a folder when first asked for, unless they lie there; the names are of tools and reports."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()

    def once(self, name, make):
        path = self.folder / re.sub(r"[^\w.]+", "_", name)
        if not path.exists():
            make(path)
        return path

    def profile(self, job):
        python, env, statuses = self.python(job)
        return self.once("profile of " + job[0], lambda path: quiet(
            [SEEP, "run", "-q", "-o", path, "--", python, *job], statuses, **env))

    def python(self, job):
        if job is GPU_JOB:  # it ends by having no room, with 1
            return TORCH / "venv/bin/python", {"LD_LIBRARY_PATH": "%s:%s" % (STANDIN, TORCH / "lib")}, (0, 1)
        return MEMRAY.parent / "python" if MEMRAY.exists() else "/usr/bin/python3", {}, (0,)

    def seep(self, job):
        return self.once("seep of %s.html" % job[0], lambda path: quiet([SEEP, "view", self.profile(job), "-o", path]))

    def memray_records(self, job, *options):
        """A folder: with --follow-fork there is a file for each process."""
        def make(path):
            path.mkdir()
            quiet([MEMRAY, "run", "-q", *options, "-o", path / "job.bin", *job])
        return sorted(self.once("memray " + " ".join((job[0],) + options), make).iterdir())

    def memray(self, job, report):
        record = self.memray_records(job)[0]
        return self.once("memray %s %s.html" % (report, job[0]), lambda path: quiet(
            [MEMRAY, REPORTS[report][0], "--no-web", *REPORTS[report][1:], "-o", path, record]))

    def memray_stats(self, job):
        return quiet([MEMRAY, "stats", self.memray_records(job)[0]])

    def snapshot(self, job):
        python, env, statuses = self.python(job)
        history = ROOT / "tests/peers/history.py"
        return self.once("snapshot of " + job[0], lambda path: quiet([python, history, path, *job], statuses, **env))

    def seep_snapshot(self, job):
        return self.once("seep's snapshot of " + job[0], lambda path: quiet(
            [SEEP, "export", self.profile(job), "--format", "snapshot", "-o", path]))

    def memory_viz(self, snapshot):
        return self.once("memory_viz %s.html" % snapshot.name, lambda path: path.write_text(memory_viz_page(snapshot)))


def memory_viz_page(snapshot):
    """What `python -m torch.cuda._memory_viz trace_plot` writes, with the scripts it loads from the network inside;
    memray brings the d3 that they want."""
    assets = next(MEMRAY.parent.parent.glob("lib/python3*/site-packages/memray/reporters/templates/assets/vendor"))
    script = "".join(re.sub(r"^(import\s[^;]*;|export \{[^}]*\};)$", "", (VIZ / name).read_text(), flags=re.M)
                     for name in VIZ_SCRIPTS).replace("export function", "function").replace("</script", "<\\/script")
    data = snapshot.read_bytes()
    files = [{"name": snapshot.name, "base64": base64.b64encode(data + b"\0" * (-len(data) % 3)).decode()}]
    return "\n".join((
        "<!DOCTYPE html><html><head><meta charset='utf-8'></head><body><script>", (assets / "d3.min.js").read_text(),
        "</script><script>{", "const {axisLeft, scaleLinear, zoom, zoomIdentity, brushX} = d3;", script,
        "add_local_files(%s, 'Active Memory Timeline');" % json.dumps(files), "}</script></body></html>"))
