"""A look document that nobody took: a process that leaks into a dict, and what else there can be."""
MIB = 1 << 20
TYPES = ("module", "Annotations", "dict", "list", "deque")


def hop(kind, name=None, type=None, length=None):
    return {"kind": kind, "name": name, "type": type, "length": length}


def look(n, rss, held, lost=0, round=None):
    """After n minutes; RSS, what is held and what is lost in MiB. 5 MiB are files, and what is left is not live."""
    return {"t_s": 60.0 * n, "round": n if round is None else round, "way": "copy", "why": None, "complete": True, "incomplete": None,
            "stop_ns": 12 * 10 ** 6, "rss_bytes": rss * MIB, "file_bytes": 5 * MIB, "pss_bytes": rss * MIB - MIB, "objects": 12345,
            "live_bytes": (held + lost) * MIB, "held_bytes": held * MIB, "cycle_bytes": 0, "reference_bytes": 0, "lost_bytes": lost * MIB}


def made_by(function):
    """The lines that made a holder's memory: one of Python, one of a library without symbols."""
    return [{"frame": {"kind": "python", "function": function, "file": "/home/user/train.py", "line": 9}, "bytes": 13 * MIB},
            {"frame": {"kind": "native", "function": None, "file": None, "line": None, "module": "/usr/lib/libtorch.so", "offset": 4096},
             "bytes": MIB}]


def holder(key, text, root, hops, mib, lengths=None, within=None, state="held", growth="no", bound=None, made_at=None):
    """Its bytes by look in MiB."""
    lengths = lengths or [None] * len(mib)
    first, last = mib[0] or 0, mib[-1] or 0
    return {"key": "%016x" % key, "state": state, "type": hops[-1]["type"] if hops else None, "length": lengths[-1], "bound": bound,
            "within": within, "retained_bytes": last * MIB, "objects": 1, "path": {"text": text, "root": root, "hops": hops}, "made_at": made_at,
            "growth": growth, "growth_bytes_per_minute": (last - first) * MIB / max(len(mib) - 1, 1), "by_another": False,
            "retained_by_look": [None if n is None else n * MIB for n in mib], "length_by_look": lengths}


def root(kind, name=None, function=None, file=None):
    return {"kind": kind, "name": name, "function": function, "file": file}


def holders(names=("notes", "by_name", "history")):
    """A module's object with a dict in it that grows, a local deque that is full, and something lost."""
    notes, by_name, history = names
    main, path = root("module", "__main__"), [hop("self", type="module"), hop("attribute", notes, "Annotations")]
    return [
        holder(1, "module __main__.%s (Annotations)" % notes, main, path, [12, 16, 20], growth="steady"),
        holder(2, "module __main__.%s (Annotations).%s (dict)" % (notes, by_name), main, path + [hop("attribute", by_name, "dict", 80)],
               [6, 10, 14], [40, 60, 80], within=0, growth="endless", made_at=made_by("make_" + by_name)),
        holder(3, "local '%s' of main() (deque)" % history, root("local", history, "main", "/home/user/train.py"), [hop("self", type="deque")],
               [None, 4, 2], [None, 90, 50], bound=100),
        holder(4, "nobody (Tensor)", root("nobody"), [hop("self", type="Tensor")], [1, 1, 2], state="lost")]


def document(**more):
    looks = [look(0, 30, 18, 2), look(1, 37, 23, 2), look(2, 40, 24, 3)]
    return {"format": "seep-look", "version": 1, "seep": "1.0", "pid": 4711, "parent": 1, "command": "python3 /home/user/train.py", "core": None,
            "looked_unix_s": 1.7e9, "limit": {"bytes": 1024 * MIB, "kind": "cgroup"}, "looks": looks, "holders": holders(), "error": None, **more}


def document_of_a_core(**more):
    whole = document(limit=None, core={"file": "cores/core.4711", "bytes": 50 * MIB}, **more)
    whole["looks"] = [dict(whole["looks"][-1], way="core", rss_bytes=None, file_bytes=None, pss_bytes=None, stop_ns=0)]
    for one in whole["holders"]:
        one.update({key: one[key][-1:] for key in ("retained_by_look", "length_by_look")}, growth="no", growth_bytes_per_minute=0.0)
    return whole


def document_of_gpus(device="cuda:0", **more):
    """The same under another malloc: the dict's tensors have 100, 200 and 300 MiB on a GPU, what is lost has nothing there."""
    whole = document(**more)
    for n, one in enumerate(whole["looks"]):
        one.update(allocator="jemalloc", device_bytes={device: (n + 1) * 100 * MIB})
    for one in whole["holders"]:
        series = [(n + 1) * 100 * MIB for n in range(3)] if one["within"] == 0 else [0, 0, 0]
        one.update(device_bytes={device: series[-1]}, device_growth_bytes_per_minute={device: (series[-1] - series[0]) / 2},
                   device_bytes_by_look={device: series})
    return whole


def document_of_a_tree(whole=None):
    """The same, with a child in which the dict is as large, and one that could not be looked at."""
    whole = whole or document()
    process = {key: whole[key] for key in ("pid", "parent", "command", "looks", "holders", "error")}
    child = {**process, "pid": 4712, "parent": 4711, "looks": whole["looks"][1:],
             "holders": [{**one, "retained_by_look": one["retained_by_look"][1:], "length_by_look": one["length_by_look"][1:],
                          "device_bytes_by_look": {name: series[1:] for name, series in one.get("device_bytes_by_look", {}).items()}}
                         for one in whole["holders"]]}
    gone = {**process, "pid": 4713, "looks": [], "holders": [], "error": "it has ended"}
    merged = [{**one, "retained_bytes": 2 * one["retained_bytes"], "pids": [4711, 4712]} for one in whole["holders"]]
    return {**whole, "tree": {"processes": [process, child, gone], "holders": merged, "complete": True}}
