"""Runs one of CPython's own test modules and writes each test's outcome: {id: "ok|FAIL|ERROR|skip"}.

usage: cpython_runner.py MODULE OUTCOMES.json"""
import json
import sys
import unittest


class Outcomes(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.seen = {}

    def note(self, test, outcome):
        if self.seen.get(test.id()) not in ("FAIL", "ERROR"):
            self.seen[test.id()] = outcome

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "ok")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "FAIL")

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "ERROR")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skip")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.note(test, "expected failure")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "unexpected success")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, "FAIL")


def main():
    from test import support
    support.use_resources = []
    support.verbose = 0
    result = Outcomes()
    unittest.defaultTestLoader.loadTestsFromName("test." + sys.argv[1]).run(result)
    problems = {test.id(): text for test, text in result.failures + result.errors}
    with open(sys.argv[2], "w") as f:
        json.dump({"outcomes": result.seen, "problems": problems}, f)


if __name__ == "__main__":
    main()
