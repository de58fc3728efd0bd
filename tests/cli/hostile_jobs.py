"""Jobs whose functions and files have harmful names."""

JOB = '''import sys
import types
import seep

kept = []
names = NAMES
source = "def f(kept, n):\\n    kept.append(bytearray(n))\\n"
for step in range(60):
    for name in names:
        space = {}
        exec(compile(source, name + ".py", "exec"), space)
        code = space["f"].__code__.replace(co_name=name)
        if hasattr(code, "co_qualname"):
            code = code.replace(co_qualname=name)
        types.FunctionType(code, space)(kept, 70000 if sys.argv[1:] == ["after"] else 100000)
    seep.step()
'''


def hostile_job(names):
    """The script of a job that keeps memory under each of these names; `names` is the source of a list. After its "fix"
    (argument "after") it keeps less."""
    return JOB.replace("NAMES", names)
