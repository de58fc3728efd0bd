"""check_arm.py FOLDER UNIT... -- UNIT... -- UNIT...: runs seep for 64-bit Arm, as FOLDER/seep has it: unit tests under qemu;
suites from outside in FOLDER/root, whose programs the kernel starts in qemu; in machines of their own (arm_machine.py) the
second unit tests, the suites that look at processes, and thirty jobs of the zoo; the second and third unit tests, suites and
two jobs again in machines with larger pages. What passed is not run again until seep or the suite changes: FOLDER/results
has each result and its log. Prints a line for each, and at the end a table, which is also FOLDER/table.md.

  SUITES="tests.e2e.test_counts"   other suites from outside
  MACHINE_SUITES="tests.e2e.test_look_holders"   and in the machine
  PAGES_SUITES="tests.e2e.test_rss"   and with larger pages
  ZOO="kept_batches small_arrays"   other jobs of the zoo"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for what the tests share, also when this runs as a script

from tests import own_root  # noqa: E402
from tests.arm import arm_kernel, arm_machine  # noqa: E402

SUITES = "tests.e2e.test_kill tests.e2e.test_transparent tests.e2e.test_python_stacks " \
    "tests.e2e.test_fork tests.e2e.test_native tests.e2e.test_noalloc tests.e2e.test_contexts"
MACHINE_SUITES = "tests.e2e.test_counts tests.e2e.test_look_holders tests.e2e.test_look_owners tests.e2e.test_holders " \
    "tests.e2e.test_sandbox"
PAGES = ("16k", "64k")
PAGES_SUITES = "tests.e2e.test_counts tests.e2e.test_native tests.e2e.test_fork tests.e2e.test_rss tests.e2e.test_look_holders"
PAGES_ZOO = ("small_arrays", "kept_batches")
ZOO = "annotation_cache changed_rows checkpoint_copies decoded_masks doubling_index epoch_outputs " \
    "eval_without_no_grad featdepth_logs forward_hooks image_shapes kept_batches kept_errors leaked_references " \
    "lru_cached_decode native_buffers native_rare_loss one_call own_pool prediction_history rare_collections " \
    "replay_buffer short_run small_arrays total_loss worker_targets healthy_accumulation healthy_loss_history " \
    "healthy_lru_decode healthy_ring_replay healthy_two_workers"
SLOWER = "10"  # than programs of the machine itself
MACHINE_SLOWER = "4"  # by its own clock
MACHINE_S = 4 * 3600  # that a machine may run
COUNTED = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
VERDICT = re.compile(r"^(ok  |BAD ) ", re.M)


def counts_of_tests(said):
    found = COUNTED.findall(said)
    return [int(n or 0) for n in found[-1]] if found else [0, 1, 0]


def counts_of_jobs(said):
    words = VERDICT.findall(said)
    return [words.count("ok  "), words.count("BAD ") or int(not words), 0]


class Part:
    """A row of the table: what is run, and the files that its result depends on."""

    def __init__(self, kind, name, files, run, counts):
        self.kind, self.name, self.files, self.run, self.counts = kind, name, files, run, counts

    def key(self):
        return hashlib.sha256(b"".join(hashlib.sha256(pathlib.Path(f).read_bytes()).digest() for f in self.files)).hexdigest()

    def result(self, folder):
        """(the result, whether it was kept)"""
        kept, key = folder / (self.name + ".json"), self.key()
        if kept.exists():
            result = json.loads(kept.read_text())
            if result["key"] == key and not result["failed"]:
                return result, True
        began, log = time.monotonic(), folder / (self.name + ".log")
        with open(log, "wb") as out:
            status = self.run(out)
        passed, failed, skipped = self.counts(log.read_text(errors="replace"))
        result = {"key": key, "passed": passed, "failed": failed or int(status != 0 or not passed + skipped),
                  "skipped": skipped, "seconds": time.monotonic() - began}
        kept.write_text(json.dumps(result))
        return result, False


def parts(folder, units, of_machine, of_pages):
    seep = [folder / "seep/seep", folder / "seep/libseep.so"]
    put = [(ROOT, "src"), (folder / "seep", "src/build")]

    def in_root(*command):
        return lambda out: own_root.inside(folder / "root", " ".join(command), out, put, SEEP_TEST_SLOWER=SLOWER)

    def in_machine(*command, pages="4k"):
        return lambda out: arm_machine.run(folder, " ".join(command), out, pages, MACHINE_S, SEEP_TEST_SLOWER=MACHINE_SLOWER,
                                           SEEP_TEST_TIMEOUT=MACHINE_S)

    def units_of(which, pages):
        inside = [str(pathlib.Path("build", pathlib.Path(unit).relative_to("build/arm/seep"))) for unit in which]
        return in_machine("python3", "tests/run-all", "-j", "2", *inside, pages=pages)

    def job(name, pages):
        files = [*seep, *(ROOT / "tests/zoo" / (name + end) for end in (".py", ".toml"))]
        return files, in_machine("python3", "tests/zoo/zoo.py", "--jobs", "1", name, pages=pages)

    def here(out):
        return subprocess.run([sys.executable, ROOT / "tests/run-all", *units], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT).returncode
    yield Part("unit tests", "unit", [ROOT / unit for unit in units], here, counts_of_tests)
    for name in os.environ.get("SUITES", SUITES).split():
        path = name.replace(".", "/") + ".py"
        yield Part("suite", name, [*seep, ROOT / path], in_root("python3", "tests/run-all", "-j", "1", path), counts_of_tests)
    yield Part("unit tests", "machine", [ROOT / unit for unit in of_machine], units_of(of_machine, "4k"), counts_of_tests)
    for name in os.environ.get("MACHINE_SUITES", MACHINE_SUITES).split():
        path = name.replace(".", "/") + ".py"
        yield Part("suite in the machine", name, [*seep, ROOT / path], in_machine("python3", "tests/run-all", path),
                   counts_of_tests)
    for pages in PAGES:
        both = [*of_machine, *of_pages]
        yield Part("unit tests", "pages-" + pages, [ROOT / unit for unit in both], units_of(both, pages), counts_of_tests)
        for name in os.environ.get("PAGES_SUITES", PAGES_SUITES).split():
            path = name.replace(".", "/") + ".py"
            yield Part("suite, pages of " + pages, "%s-%s" % (name, pages), [*seep, ROOT / path],
                       in_machine("python3", "tests/run-all", path, pages=pages), counts_of_tests)
        for name in PAGES_ZOO:
            yield Part("job, pages of " + pages, "%s-%s" % (name, pages), *job(name, pages), counts_of_jobs)
    for name in os.environ.get("ZOO", ZOO).split():
        yield Part("job", name, *job(name, "4k"), counts_of_jobs)


def main():
    folder, *lists = pathlib.Path(sys.argv[1]).resolve(), *" ".join(sys.argv[2:]).split("--")
    if os.geteuid() != 0:
        sys.exit("only root may enter a root of its own: sudo make check-arm")
    results = folder / "results"
    results.mkdir(exist_ok=True)
    first, *others = todo = list(parts(folder, *(units.split() for units in lists)))
    rows = {}

    def take(part, result, kept):
        rows[part] = result
        print("%-4s %d of %d: %s %s, %d passed, %d failed, %d skipped, %.0f s%s" % (
            "FAIL" if result["failed"] else "ok", len(rows), len(todo), part.kind, part.name, result["passed"],
            result["failed"], result["skipped"], result["seconds"], ", kept" if kept else ""), flush=True)
        if result["failed"]:
            print("     %s" % (results / (part.name + ".log")), flush=True)

    for pages in ("4k", *PAGES):
        arm_kernel.kernel(folder, pages)
    take(first, *first.result(results))  # which uses all CPUs; the others use one each
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        at = {pool.submit(part.result, results): part for part in others}
        for done in concurrent.futures.as_completed(at):
            take(at[done], *done.result())
    table = "".join(["| what | | passed | failed | skipped | s |\n| --- | --- | --- | --- | --- | --- |\n"] + [
        "| %s | %s | %d | %d | %d | %.0f |\n" % (p.kind, p.name, r["passed"], r["failed"], r["skipped"], r["seconds"])
        for p, r in ((part, rows[part]) for part in todo)])
    (folder / "table.md").write_text(table)
    print("\n" + table, flush=True)
    sys.exit(1 if any(r["failed"] for r in rows.values()) else 0)


if __name__ == "__main__":
    main()
