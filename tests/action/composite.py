"""Runs a composite action of GitHub's as its runner does: steps in order, `run` by bash, outputs through files, and the
expressions that our action has. What it does not know is an error. Of an action that a step uses it notes what it was
given; actions/cache works, within a store of the test's."""
import collections
import os
import pathlib
import re
import shutil
import subprocess

import yaml

# Of GitHub's metadata syntax, what composite actions may have.
TOP_KEYS = {"name", "description", "author", "branding", "inputs", "outputs", "runs"}
INPUT_KEYS = {"description", "required", "default", "deprecationMessage"}
RUN_KEYS = {"name", "id", "if", "env", "run", "shell", "working-directory", "continue-on-error"}
USES_KEYS = {"name", "id", "if", "env", "uses", "with", "continue-on-error"}
# The inputs of what is used here.
WITH_KEYS = {
    "actions/cache/restore@v4": {"path", "key", "restore-keys", "fail-on-cache-miss", "lookup-only"},
    "actions/cache/save@v4": {"path", "key", "upload-chunk-size"},
    "actions/upload-artifact@v4": {"name", "path", "if-no-files-found", "retention-days", "compression-level",
                                   "overwrite", "include-hidden-files"},
    "github/codeql-action/upload-sarif@v3": {"sarif_file", "checkout_path", "ref", "sha", "token", "category",
                                             "wait-for-processing"},
}
NAME = r"[A-Za-z_][\w-]*"
VALUE = re.compile(r"^(?:inputs\.(%s)|steps\.(%s)\.outputs\.(%s))$" % (NAME, NAME, NAME))
COMPARISON = re.compile(r"^(\S+) (==|!=) '([^']*)'$")
EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")

Step = collections.namedtuple("Step", "name status given")  # status: None of a step that was skipped


class Unknown(Exception):
    """Something that this runner, or GitHub, does not know."""


def keys_known(where, mapping, allowed, needed=()):
    for wrong in sorted(set(mapping) - allowed) + sorted(set(needed) - set(mapping)):
        raise Unknown("%s: %s" % (where, wrong))


class Action:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.data = yaml.safe_load(self.path.read_text())
        self.check()

    @property
    def steps(self):
        return self.data["runs"]["steps"]

    def check(self):
        data = self.data
        keys_known("action", data, TOP_KEYS, ("name", "description", "runs"))
        keys_known("runs", data["runs"], {"using", "steps"}, ("using", "steps"))
        if data["runs"]["using"] != "composite":
            raise Unknown("runs.using: " + data["runs"]["using"])
        for name, one in data["inputs"].items():
            keys_known("inputs." + name, one, INPUT_KEYS, ("description",))
            if not isinstance(one.get("default", ""), str):
                raise Unknown("inputs.%s.default is no text" % name)
        for name, one in data["outputs"].items():
            keys_known("outputs." + name, one, {"description", "value"}, ("description", "value"))
        for step in self.steps:
            self.check_step(step)
        ids = [step["id"] for step in self.steps if "id" in step]
        if len(set(ids)) != len(ids):
            raise Unknown("ids of steps: %s" % ids)
        self.check_references(ids)

    @staticmethod
    def check_step(step):
        where = "step " + step.get("name", "?")
        if "run" in step:
            keys_known(where, step, RUN_KEYS, ("name", "shell"))
            if step["shell"] != "bash":
                raise Unknown("%s: shell: %s" % (where, step["shell"]))
            if "${{" in step["run"]:
                raise Unknown("%s: an expression becomes part of its script" % where)
        else:
            keys_known(where, step, USES_KEYS, ("name", "uses"))
            if step["uses"] not in WITH_KEYS:
                raise Unknown("%s: uses: %s" % (where, step["uses"]))
            keys_known(where, step.get("with", {}), WITH_KEYS[step["uses"]])
        if not all(isinstance(v, str) for v in {**step.get("env", {}), **step.get("with", {})}.values()):
            raise Unknown("%s: a value that is no text" % where)

    def check_references(self, ids):
        """Inputs and steps that are named exist; a step has run before it is asked."""
        before = []
        texts = []
        for step in self.steps:
            texts += [(before[:], text) for key, text in step.items() if key == "if"]
            texts += [(before[:], "${{ %s }}" % e) for text in self.texts_of(step) for e in EXPRESSION.findall(text)]
            before += [step["id"]] if "id" in step else []
        texts += [(ids, output["value"]) for output in self.data["outputs"].values()]
        for known, text in texts:
            for name in re.findall(r"\binputs\.(%s)" % NAME, text):
                if name not in self.data["inputs"]:
                    raise Unknown("inputs." + name)
            for name in re.findall(r"\bsteps\.(%s)" % NAME, text):
                if name not in known:
                    raise Unknown("steps.%s, which has not run by then" % name)

    @staticmethod
    def texts_of(step):
        return [*step.get("env", {}).values(), *step.get("with", {}).values(), step.get("working-directory", "")]


class Runner:
    """One use of an action. `env` is what the workflow's job has, with the variables of GitHub in it."""

    def __init__(self, action, inputs, env, workspace, temp, cache):
        keys_known("with", inputs, set(action.data["inputs"]))
        self.action, self.workspace, self.temp, self.cache = action, workspace, temp, cache
        self.inputs = {name: inputs.get(name, one.get("default", "")) for name, one in action.data["inputs"].items()}
        self.env = dict(env, GITHUB_ACTION_PATH=str(action.path.parent), GITHUB_WORKSPACE=workspace, RUNNER_TEMP=temp)
        self.step_outputs, self.ran, self.failed, self.log, self.summary = {}, [], False, "", ""

    def value(self, text):
        match = VALUE.match(text)
        if not match:
            raise Unknown("expression: " + text)
        name, step, output = match.groups()
        return self.inputs[name] if name else self.step_outputs.get(step, {}).get(output, "")

    def fill(self, text):
        filled = EXPRESSION.sub(lambda match: self.value(match.group(1)).replace("${{", "$\0{{"), text)
        if "${{" in filled:
            raise Unknown("expression: " + text)
        return filled.replace("$\0{{", "${{")

    def holds(self, condition):
        always = False
        result = True
        for term in str(condition).split(" && "):
            comparison = COMPARISON.match(term)
            if term == "always()":
                always = True
            elif comparison:
                equal = self.value(comparison.group(1)) == comparison.group(3)
                result = result and equal == (comparison.group(2) == "==")
            else:
                raise Unknown("if: " + term)
        return result and (always or not self.failed)

    def run(self):
        """The status of the first step that failed, or 0."""
        status = 0
        for step in self.action.steps:
            if not (self.holds(step["if"]) if "if" in step else not self.failed):
                self.ran.append(Step(step["name"], None, None))
                continue
            given = {key: self.fill(text) for key, text in step.get("with", {}).items()}
            done = self.bash(step) if "run" in step else self.use(step, given)
            self.ran.append(Step(step["name"], done, given))
            if done and not step.get("continue-on-error"):
                self.failed, status = True, status or done
        self.outputs = {name: self.fill(one["value"]) for name, one in self.action.data["outputs"].items()}
        return status

    def bash(self, step):
        files = {name: os.path.join(self.temp, name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV",
                                                                  "GITHUB_PATH")}
        for path in files.values():
            open(path, "w").close()
        script = os.path.join(self.temp, "script.sh")
        with open(script, "w") as f:
            f.write(step["run"])
        env = dict(self.env, **files, **{name: self.fill(text) for name, text in step.get("env", {}).items()})
        where = os.path.join(self.workspace, self.fill(step.get("working-directory", "")))
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=where, env=env,
                              timeout=300, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.log += done.stdout.decode("utf-8", "replace")
        self.take(step, files)
        return done.returncode

    def take(self, step, files):
        text = {name: pathlib.Path(path).read_text() for name, path in files.items()}
        self.summary += text["GITHUB_STEP_SUMMARY"]
        for line in text["GITHUB_OUTPUT"].splitlines():
            if not re.match(r"^%s=" % NAME, line):
                raise Unknown("%s: GITHUB_OUTPUT: %s" % (step["name"], line))
            name, _, value = line.partition("=")
            self.step_outputs.setdefault(step["id"], {})[name] = value
        self.env.update(line.split("=", 1) for line in text["GITHUB_ENV"].splitlines())
        self.env["PATH"] = ":".join(text["GITHUB_PATH"].splitlines() + [self.env["PATH"]])

    def use(self, step, given):
        if step["uses"].startswith("actions/cache/"):
            if "," in given["key"] or len(given["key"]) > 512:
                raise Unknown("a key of a cache: " + given["key"])
            (self.cache.save if "/save@" in step["uses"] else self.cache.restore)(**{
                name.replace("-", "_"): value for name, value in given.items()})
        return 0

    def given(self, uses):
        """What a used action got; None if it was skipped."""
        names = [step["name"] for step in self.action.steps if step.get("uses", "").startswith(uses)]
        return [step for step in self.ran if step.name in names][0].given


class Cache:
    """actions/cache: the newest entry whose key begins with a restore key, of the same path."""

    def __init__(self, folder):
        self.folder, self.entries = folder, []

    def save(self, path, key):
        if not os.path.exists(path):
            raise Unknown("nothing to save at " + path)
        if (path, key) in self.entries:
            raise Unknown("an entry cannot be replaced: " + key)
        shutil.copytree(path, os.path.join(self.folder, str(len(self.entries))))
        self.entries.append((path, key))

    def restore(self, path, key, restore_keys=""):
        for wanted in [key] + restore_keys.splitlines():
            for number in reversed(range(len(self.entries))):
                its_path, its_key = self.entries[number]
                if its_path == path and its_key.startswith(wanted):
                    shutil.copytree(os.path.join(self.folder, str(number)), path)
                    return
