"""What cases share: each makes N blocks of 20,000 bytes on a line of its own, and calls what comes next while it holds
them.

A case says what seep must answer: the state, and the path; several paths where what is shared may be told in either
order. `since` gives versions of Python a path of their own, from that one on; `bound` is the holder's; `whole`: the path explains all of it."""
N = 40
CASES = []
TABLE = {}  # name: Expected


class Holder:
    def __init__(self):
        self.cache = {}
        self.first = None


class Expected:
    def __init__(self, state, paths, since, bound, needs, whole):
        self.state, self.all_paths, self.since, self.bound, self.needs = state, paths, since or {}, bound, needs
        self.whole = whole

    def paths(self, version):
        """What is right for that version: the latest row that it has reached."""
        rows = [v for v in self.since if v <= version[:2]]
        return [self.since[max(rows)]] if rows else self.all_paths


def case(state, *paths, since=None, bound=None, needs=None, whole=False):
    def add(function):
        assert function.__name__ not in TABLE, function.__name__
        TABLE[function.__name__] = Expected(state, list(paths), since, bound, needs, whole)
        CASES.append(function)
        return function
    return add
