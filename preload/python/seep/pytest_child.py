"""In the process that seep records: one test, its body repeated as steps, its reports written for the pytest that
started it."""
import array
import gc
import json
import sys

import pytest

import seep

# The pytest outside distributes, writes files about the session and debugs; here there is one test.
OFF = {"numprocesses": 0, "dist": "no", "tx": [], "looponfail": False, "xmlpath": None, "htmlpath": None,
       "lf": False, "failedfirst": False, "newfirst": False, "stepwise": False, "stepwise_skip": False,
       "pastebin": None, "pyargs": False, "maxfail": 0, "no_header": True, "no_summary": True, "verbose": -2}


class Child:
    def __init__(self, config, path):
        with open(path) as f:
            self.order = json.load(f)
        for name, value in OFF.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)
        config.option.basetemp = self.order["tmp"]
        config.args = [self.order["test"]]
        if self.order["worker"]:
            config.workerinput = self.order["worker"]
        self.config, self.item, self.inside, self.passed = config, None, False, False
        self.blocks = array.array("q")  # of Python's own allocator, at the end of each step; itself it takes none
        self.results = open(self.order["results"], "a")

    def write(self, kind, report):
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.results.write(json.dumps([kind, data], default=repr) + "\n")
        self.results.flush()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        """Others may reorder and mark, but not drop the one test: pytest outside has chosen it."""
        chosen = [i for i in items if i.nodeid == self.order["nodeid"]]
        yield
        items[:] = chosen
        self.item = chosen[0] if chosen else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        """Each step asks all plugins again, so that whoever runs coroutines runs each."""
        if self.inside:
            return None
        self.inside = True
        gc.freeze()
        try:
            for done in range(self.order["steps"]):
                self.step(done, lambda: pyfuncitem.ihook.pytest_pyfunc_call(pyfuncitem=pyfuncitem))
        finally:
            self.inside = False
        return True

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self, item):
        """unittest's tests run with their setUp and tearDown. The first step is over, and a failure is only noted."""
        unittest = sys.modules.get("unittest")
        cls = getattr(item, "cls", None)
        if not unittest or not cls or not issubclass(cls, unittest.TestCase):
            return
        gc.freeze()
        self.end_step()
        for done in range(1, self.order["steps"]):
            if getattr(item, "_excinfo", None):
                break
            self.step(done, item.runtest)

    def step(self, done, body):
        try:
            body()
        except BaseException:
            if done:
                self.item.add_report_section("call", "seep", "in step %d of %d" % (done + 1, self.order["steps"]))
            raise
        self.end_step()

    def end_step(self):
        """Garbage in cycles is no growth. What lived before the first step is frozen, so this is quick."""
        gc.collect()
        self.blocks.append(sys.getallocatedblocks())
        seep.step()

    def pytest_runtest_logreport(self, report):
        self.write("report", report)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call):
        yield
        if call.when == "call":
            self.passed = call.excinfo is None

    def pytest_runtest_logfinish(self):
        """What the report would be if the test failed: a mark of xfail decides that, and only here is it known."""
        if self.passed and self.item.get_closest_marker("xfail"):
            self.passed = False
            call = pytest.CallInfo.from_call(lambda: pytest.fail("seep", pytrace=False), when="call")
            self.write("if failed", self.item.ihook.pytest_runtest_makereport(item=self.item, call=call))

    def pytest_sessionfinish(self):
        late = self.blocks[len(self.blocks) // 2:]
        rises = sorted(b - a for a, b in zip(late, late[1:]))
        if rises and rises[len(rises) // 2] > 0:
            self.results.write(json.dumps(["small objects grow", None]) + "\n")
        self.results.close()
