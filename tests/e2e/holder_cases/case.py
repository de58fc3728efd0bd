"""What cases share: each makes N blocks of 20,000 bytes on a line of its own, and calls what comes next while it holds
them.

A case says what seep must answer: the state, and the path; several paths where what is shared may be told in either
order. `since` gives versions of Python a path of their own, from that one on; `bound` is the holder's; `whole`: the path explains all of it.

`seep look` names the container that its blocks go with, which is the path up to where it has many: "look" says what it
names instead, None that it names nothing. What it retains is what the case has allocated by Python's own account, but
for a share of "apart": what the case makes beside, or the allocators round."""
import re

N = 40
CASES = []
TABLE = {}  # name: Expected


class Holder:
    def __init__(self):
        self.cache = {}
        self.first = None


class Expected:
    def __init__(self, state, paths, since, bound, needs, whole, look, apart):
        self.state, self.all_paths, self.since, self.bound, self.needs = state, paths, since or {}, bound, needs
        self.whole, self.look, self.apart = whole, look, apart

    def paths(self, version):
        """What is right for that version: the latest row that it has reached."""
        rows = [v for v in self.since if v <= version[:2]]
        return [self.since[max(rows)]] if rows else self.all_paths

    def containers(self, version):
        """What `seep look` must name: one of these, or nothing."""
        if self.state != "held" or self.look is None:
            return []
        return [self.look] if self.look else [container(path) for path in self.paths(version)]


def container(path):
    """The path up to where it leads on to many."""
    for place in re.finditer(r"\[(\d+)( keys)?\]|\{\d+\}| a key", path):
        if not place.group(1) or int(place.group(1)) > 1:
            return path[:place.start()]
    return path


def case(state, *paths, since=None, bound=None, needs=None, whole=False, look="", apart=0.02):
    def add(function):
        assert function.__name__ not in TABLE, function.__name__
        TABLE[function.__name__] = Expected(state, list(paths), since, bound, needs, whole, look, apart)
        CASES.append(function)
        return function
    return add
