"""Pages that no job here has written, made of one that has."""
import json
import re


def rewritten(page, change):
    """The page with its data as change(data) leaves them."""
    head, text, tail = re.fullmatch(r'(.* id="data">\n)(.*?)(</script>.*)', page, re.S).groups()
    data = json.loads(text)
    change(data)
    return head + json.dumps(data, separators=(",", ":")).replace("<", "\\u003c") + tail


def blown_up(page, n):
    """The page with n sites: its own, again and again, each below a caller of its own."""
    def change(data):
        sites, stacks = data["sites"], data["stacks"]
        own = len(sites["id"])
        for column in sites.values():
            column.extend(column[i % own] for i in range(own, n))
        frames = len(data["frames"]["name"])
        for i in range(own, n):
            sites["id"][i] = len(data["texts"])
            data["texts"].append("S%d" % (1000000 + i))
            stacks["parent"].append(sites["stack"][i % own])
            stacks["frame"].append(i % frames)
            sites["stack"][i] = len(stacks["parent"]) - 1
    return rewritten(page, change)


def with_a_device(data):
    """What the host has is a device's: the driver gave twice of it, and half is used by nobody knows what until late."""
    line, host = data["timeline"], data["timeline"]["spaces"]["host"]["live_bytes"]
    for name, factor in (("tensor:0", 1), ("device:0", 2)):
        data["spaces"][name] = data["spaces"]["host"]
        line["spaces"][name] = {"live_bytes": [factor * n for n in host]}
    half = len(host) // 2
    line["devices"] = {"0": {"used_bytes": [None] * half + [3 * n for n in host[half:]]}}


def many_processes(data):
    """Sixty-four of the second process, all children of the first."""
    first, child = data["processes"][:2]
    line = data["timeline"]
    for column in [line["rss_bytes"]] + [space["live_bytes"] for space in line["spaces"].values()]:
        column[:] = [64 * n for n in column]
    data["processes"] = [first] + [dict(child, pid=10 ** 6 + i, ppid=first["pid"], role="rank", rank=i, timeline=first["timeline"])
                                   for i in range(63)]


def with_nothing(data):
    """A job of which nothing was seen."""
    data.update(findings=[], processes=[], spaces={}, sites={}, others={}, excerpts=[], stacks={"parent": [], "frame": []},
                frames={key: [] for key in data["frames"]}, timeline={"t_s": [], "step": [], "spaces": {}, "rss_bytes": []})
    data["coverage"]["rss"] = None
    data["job"].update(steps=0, epochs=None)


def just_begun(data):
    """A job that has made its first steps."""
    data.update(findings=[])
    data["job"].update(steps=2, judged_steps=0)


def with_a_start(data):
    """A second before the first step, in slices of 100 ms: the first site has 30 MiB from the first to the sixth."""
    line, n = data["timeline"], 10
    for space in line["spaces"]:
        most = 30 << 20 if space == data["texts"][data["sites"]["space"][0]] else 0
        line["spaces"][space]["live_bytes"][:0] = [most] * 6 + [0] * (n - 6)
    line["rss_bytes"][:0] = [40 << 20] * n
    line["t_s"] = [0.05 + i / 10 for i in range(n)] + [1 + t for t in line["t_s"]]
    line["step"] = [0] * n + [max(1, step) for step in line["step"]]
    data["sites"]["series"][0] = [-9, 30 << 20, 6, -(30 << 20)]


def with_broad_numbers(data):
    """Every size has as many digits as one can have."""
    sites, n = data["sites"], len(data["sites"]["id"])
    for column in ("retained_bytes", "live_bytes", "peak_bytes", "allocated_bytes"):
        sites[column] = [int(1022.9 * (1 << 20))] * n
    sites.update(growth=[-1022.9 * 1024] * n, allocations=[123456789] * n)


def with_a_near_limit(data):
    """The job may use little more than it did, and so may its device."""
    with_a_device(data)
    data["job"]["limit_bytes"] = int(1.2 * max(data["timeline"]["rss_bytes"]))
    data["devices"] = [{"device": 0, "capacity_bytes": 4 * max(data["timeline"]["spaces"]["host"]["live_bytes"])}]
