"""Outside of the process that seep records: starts one for a test, takes over its reports, lets `seep check` judge."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import types
import zlib

import pytest

from seep.command import find_seep, unrecorded
from seep.pytest_plugin import ORDER, SESSION
from seep.sizes import size_text

TAIL = 3000
LONG = 200  # steps in which a growth shows that is small beside what changes from one to the next


def seep_command():
    try:
        return find_seep()
    except FileNotFoundError as e:
        raise pytest.UsageError(str(e)) from None


def profiles_folder(config):
    """Made where it is missing; git and pytest look away then. What was there before may have its own .gitignore."""
    given = config.getoption("seep_dir")
    folder = (os.path.join(str(config.invocation_params.dir), given) if given
              else os.path.join(str(config.rootpath), ".seep"))
    try:
        os.makedirs(folder)
    except FileExistsError:
        return folder
    with open(os.path.join(folder, ".gitignore"), "w") as f:
        f.write("*\n")
    return folder


def folder_of_test(item):
    """Workers of xdist have one each to put it in."""
    name = re.sub(r"[^\w.-]+", "-", item.nodeid, flags=re.ASCII)[-100:]
    if name != item.nodeid:
        name += "-%08x" % zlib.crc32(item.nodeid.encode("utf-8", "surrogatepass"))
    return os.path.join(profiles_folder(item.config), getattr(item.config, "workerinput", {}).get("workerid", ""), name)


def pytest_command(config):
    """The same pytest again, in the same folder and with the same arguments."""
    worker = getattr(config, "workerinput", {})
    args = worker.get("seep_args") or [str(a) for a in config.invocation_params.args]
    if config.pluginmanager.hasplugin("pytest_cov"):
        args = ["--no-cov"] + args
    if {"", os.getcwd(), str(config.invocation_params.dir)} & set(sys.path):
        return [sys.executable, "-m", "pytest"] + args
    start = "import sys; sys.path[:1] == [''] and sys.path.pop(0); import pytest; sys.exit(pytest.console_main())"
    return [sys.executable, "-c", start] + args


def child_environment(**changes):
    """The package must be found where only a path that pytest was given leads to it; last, so that it hides nothing.
    seep's own commands stay out of a recorded session; `seep run` records its job anyway."""
    env = {k: v for k, v in unrecorded().items() if k not in (ORDER, SESSION, "PYTEST_CURRENT_TEST")}
    folder = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    paths = [p for p in env.get("PYTHONPATH", "").split(os.pathsep) if p]
    if folder not in paths and "-packages" not in folder:
        env["PYTHONPATH"] = os.pathsep.join(paths + [folder])
    env.update(changes)
    return env


def limits_of(item):
    """{"steps": number, "growth": {space: size}, "peak": {space: size}}"""
    option = item.config.getoption
    growth, peak = marks_of(item, "seep_growth"), marks_of(item, "seep_peak")
    limits = {"steps": 1, "growth": {}, "peak": {}}
    for mark in growth:  # the closest comes first
        size, steps, space = read_mark(of_growth, mark)
        if space not in limits["growth"]:
            limits["growth"][space] = size
            limits["steps"] = max(limits["steps"], steps or option("seep_steps"))
    for mark in peak:
        size, space = read_mark(of_peak, mark)
        limits["peak"].setdefault(space, size)
    if option("seep_growth") and not growth:
        limits["growth"]["host"] = option("seep_growth")
        limits["steps"] = option("seep_steps")
    if option("seep_peak") and not peak:
        limits["peak"]["host"] = option("seep_peak")
    return limits


def marks_of(item, name):
    """Of one parameter's value (pytest.param(…, marks=…)) first: pytest has those of the function before them."""
    own = [m for m in getattr(getattr(item, "callspec", None), "marks", ()) if m.name == name]
    return own + list(item.iter_markers(name))


def of_growth(size, steps=None, space="host"):
    if steps is not None and (not isinstance(steps, int) or steps < 1):
        raise TypeError("steps=%r is no number of steps" % (steps,))
    return str(size), steps, space


def of_peak(size, space="host"):
    return str(size), space


def read_mark(reader, mark):
    try:
        return reader(*mark.args, **mark.kwargs)
    except TypeError as e:
        pytest.fail("%s: %s; see pytest --markers" % (mark.name, str(e).partition("() ")[2] or e), pytrace=False)


def run_test(item, nextitem):
    """Stands for pytest's own protocol of one test."""
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    began = time.monotonic()
    call = pytest.CallInfo.from_call(lambda: reports_of(item), when="call",
                                     reraise=(pytest.exit.Exception, KeyboardInterrupt))
    reports = call.result if call.excinfo is None else [hook.pytest_runtest_makereport(item=item, call=call)]
    count_all(reports, time.monotonic() - began)
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    leave_fixtures(item, nextitem)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def count_all(reports, seconds):
    """The test took as long as its processes: --durations and JUnit's times are to show it."""
    for report in reports:
        if report.when == "call":
            report.duration += max(0.0, seconds - sum(r.duration for r in reports))


def leave_fixtures(item, nextitem):
    """The test before may have left fixtures of its module or class for this one, which has not used them; the next
    test may be in another module."""
    call = pytest.CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), when="teardown",
                                     reraise=(pytest.exit.Exception, KeyboardInterrupt))
    if call.excinfo is not None:
        item.ihook.pytest_runtest_logreport(report=item.ihook.pytest_runtest_makereport(item=item, call=call))


class Run:
    """One run of a test: its reports; whether its memory was too much, and the words for it; whether small objects
    became more from step to step."""
    def __init__(self):
        self.reports, self.too_much, self.words, self.small_objects_grow = [], False, None, False


def reports_of(item):
    """A test whose memory grows runs once more, for what takes too long for every test: who holds the memory, and small
    objects one by one (arenas come by the megabyte, which says nothing of a few KiB a step)."""
    limits = limits_of(item)
    run = run_and_judge(item, limits, ["--holders", "off"])
    grows = run.too_much or run.small_objects_grow and not any(r.failed for r in run.reports)
    if limits["growth"] and grows and limits["steps"] > 1:
        options = ["--holders", "%d,%d" % (limits["steps"] // 2, limits["steps"] - 1)]
        if run.small_objects_grow:
            options.append("--python-allocators")
        closer = run_and_judge(item, limits, options)
        if closer.too_much or not run.too_much:
            run = closer
    if run.words:
        with open(os.path.join(folder_of_test(item), "failure.txt"), "w", encoding="utf-8") as f:  # for CI, to show it
            f.write(item.nodeid + "\n\n" + run.words + "\n")
    return run.reports


def run_and_judge(item, limits, options):
    """What a run before has left goes."""
    folder = folder_of_test(item)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    run, profile, seep = Run(), os.path.join(folder, "profile.d"), seep_command()
    status = run_child(item, limits, folder, [seep, "run", "-q", "--no-report", "-o", profile] + options + ["--"])
    if_failed = read_results(item.config, os.path.join(folder, "results"), run)
    if not any(r.when == "teardown" for r in run.reports):
        pytest.fail("the process of the test ended early, with status %d\n%s"
                    % (status, tail_of(os.path.join(folder, "output.txt"))), pytrace=False)
    if not any(r.failed for r in run.reports if r.when != "call"):
        for report in run.reports:
            if report.when == "call" and (report.passed or if_failed):
                judge(run, report, if_failed, check_command(seep, profile, limits, status), limits,
                      hasattr(item.config, "workerinput"))
    if not any(r.failed for r in run.reports):
        shutil.rmtree(os.path.join(folder, "tmp"), ignore_errors=True)
    return run


def run_child(item, limits, folder, recorder):
    config = item.config
    worker = {k: v for k, v in getattr(config, "workerinput", {}).items() if isinstance(v, (str, int, list))}
    order = {"nodeid": item.nodeid, "test": "%s::%s" % (item.path, item.nodeid.partition("::")[2]),
             "steps": limits["steps"], "results": os.path.join(folder, "results"), "tmp": os.path.join(folder, "tmp"),
             "worker": worker}
    path = os.path.join(folder, "order.json")
    with open(path, "w") as f:
        json.dump(order, f)
    command = recorder + pytest_command(config)
    output = os.path.join(folder, "output.txt")
    env = child_environment(**{ORDER: path})
    with open(output, "wb") as out:
        child = subprocess.Popen(command, env=env, cwd=str(config.invocation_params.dir),
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        status = status_of(child)
    if config.getoption("capture") == "no":
        with open(output, errors="replace") as f:
            sys.stdout.write(f.read())
    return status


def status_of(child):
    """Waits for it. What ends pytest, or the wait, ends the child."""
    told = []

    def pass_on(number, _):
        told.append(number)
        child.terminate()

    try:
        before = signal.signal(signal.SIGTERM, pass_on)
    except ValueError:  # not the main thread
        before = None
    try:
        return child.wait()
    except BaseException:  # a timeout of another plugin, Ctrl-C
        child.terminate()
        child.wait()
        raise
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
        for number in told[:1]:
            os.kill(os.getpid(), number)


def read_results(config, path, run):
    """Into `run`; what the report would be if the test failed, or None."""
    if_failed = None
    if os.path.exists(path):
        with open(path) as f:
            for line in f:
                if not line.endswith("\n"):
                    break  # cut off where the process died
                kind, data = json.loads(line)
                if kind == "small objects grow":
                    run.small_objects_grow = True
                    continue
                report = config.hook.pytest_report_from_serializable(config=config, data=data)
                for name in ("longrepr", "location"):  # JSON has no tuples
                    if isinstance(getattr(report, name), list):
                        setattr(report, name, tuple(getattr(report, name)))
                report.user_properties = [tuple(p) for p in report.user_properties]
                if kind == "report":
                    run.reports.append(report)
                else:
                    if_failed = report
    return if_failed


class Words(str):
    """A failure's text. pytest's short summary, and JUnit's message, are `reprcrash.message` of it. Workers of xdist send
    plain texts only."""
    def __new__(cls, text, message):
        words = super().__new__(cls, text)
        words.reprcrash = types.SimpleNamespace(message=message)
        return words


def check_command(seep, profile, limits, status):
    """The process of a test that passes fails where that was not expected of it (xfail, strict)."""
    command = [seep, "check", profile] + (["--allow-incomplete"] if status else [])
    for kind in ("growth", "peak"):
        for space, size in limits[kind].items():
            command += ["--max-" + kind, "%s=%s" % (space, size)]
    return command


def check(command):
    return subprocess.run(command, env=unrecorded(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def place_of(frame):
    known = frame and frame.get("file") and frame.get("line")
    return " at %s:%d" % (os.path.relpath(frame["file"]), frame["line"]) if known else ""


def message_of(judged):
    """One line: "grows 52.1 KiB a step (limit 4.0 KiB) at mylib/features.py:9"."""
    for line in judged["lines"]:
        if line["verdict"] == "violated" and line["kind"] in ("growth", "peak"):
            kept = [f["kept_at"][0] for f in judged["findings"] if f["frame"] == line.get("frame") and len(f.get("kept_at") or []) == 1]
            does = "grows %s a step" if line["kind"] == "growth" else "holds %s"
            return (does + " (limit %s)%s") % (size_text(line["value"]), size_text(line["limit"]),
                                               place_of(kept[0] if kept else line.get("frame")))
    return judged.get("reason")


def judge(run, report, if_failed, command, limits, is_worker):
    """Makes a failure of the report if the memory was too much, or could not be judged."""
    done, profile = check(command), command[2]
    if done.returncode == 0:
        return
    run.too_much, run.words = done.returncode == 1, done.stdout.decode("utf-8", "replace").strip()
    if not run.too_much:
        run.words = "its memory was not judged\n" + done.stderr.decode("utf-8", "replace").strip()
    try:
        judged = json.loads(check(command + ["--format", "json"]).stdout)
    except ValueError:  # nothing could be judged, as with a limit that is none
        judged = {"lines": [], "findings": []}
    if judged.get("reason") and limits["growth"] and limits["steps"] < LONG:
        run.words += "\nRepeat it more often: steps=%d" % LONG
    text = "%s\n\nIn a browser: seep view %s" % (run.words, os.path.relpath(profile))
    message = message_of(judged)
    if message and not is_worker:
        text = Words(text, message)
    if if_failed is None:
        report.outcome, report.longrepr = "failed", text
    else:
        report.outcome, report.longrepr = if_failed.outcome, text
        report.__dict__.pop("wasxfail", None)
        if hasattr(if_failed, "wasxfail"):
            report.wasxfail = if_failed.wasxfail


def tail_of(path):
    with open(path, errors="replace") as f:
        return f.read()[-TAIL:]
