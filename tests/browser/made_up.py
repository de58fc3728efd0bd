"""Made-up pages, derived from one that a job has written."""
import collections
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
    half = next(i for i in range(len(host)) if all(line[axis][i] >= (line[axis][0] + line[axis][-1]) / 2 for axis in ("t_s", "step")))
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
    data.update(findings=[], processes=[], spaces={}, sites={}, small={}, excerpts=[], stacks={"parent": [], "frame": []},
                frames={key: [] for key in data["frames"]}, timeline={"t_s": [], "step": [], "spaces": {}, "rss_bytes": []})
    data["coverage"]["rss"] = None
    data["job"].update(steps=0, epochs=None)


def just_begun(data):
    """A job that has made its first steps."""
    data.update(findings=[])
    data["job"].update(steps=2, judged_steps=0)


def with_a_start(data):
    """A second before the first step, in slices of 100 ms: the first site has 30 MiB from the first to the sixth, and
    the others nothing: on a slow machine the job's own start has as many slices."""
    line, n = data["timeline"], 10
    for space in line["spaces"]:
        most = 30 << 20 if space == data["texts"][data["sites"]["space"][0]] else 0
        line["spaces"][space]["live_bytes"][:0] = [most] * 6 + [0] * (n - 6)
    line["rss_bytes"][:0] = [40 << 20] * n
    line["t_s"] = [0.05 + i / 10 for i in range(n)] + [1 + t for t in line["t_s"]]
    line["step"] = [0] * n + [max(1, step) for step in line["step"]]
    data["sites"]["series"] = [[] for _ in data["sites"]["series"]]
    data["sites"]["series"][0] = [-9, 30 << 20, 6, -(30 << 20)]


def with_broad_numbers(data):
    """Every size of a line has as many digits as one can have."""
    sites, of_line = data["sites"], collections.Counter(data["sites"]["look_at"])
    shares = [1 / of_line[f] for f in sites["look_at"]]
    for column in ("retained_bytes", "live_bytes", "peak_bytes", "allocated_bytes"):
        sites[column] = [int(1022.9 * (1 << 20) * share) for share in shares]
    sites.update(growth=[-1022.9 * 1024 * share for share in shares], allocations=[int(123456789 * share) for share in shares])


def with_a_near_limit(data):
    """The job may use little more than it did, and so may its device."""
    with_a_device(data)
    data["job"]["limit_bytes"] = int(1.2 * max(data["timeline"]["rss_bytes"]))
    data["devices"] = [{"device": 0, "capacity_bytes": 4 * max(data["timeline"]["spaces"]["host"]["live_bytes"])}]


def a_finding_like(first, number, **other):
    return dict(first, id="F%d" % number, **other)


def with_shared_sites(data):
    """F1 ran out of memory in the sites of F2, and in those of nine more."""
    first, own = data["findings"][0], set(data["findings"][0]["sites"])
    sites = data["sites"]
    others = [data["texts"][t] for t, space, kept in zip(sites["id"], sites["space"], sites["retained_bytes"])
              if kept and data["texts"][space] == "host" and data["texts"][t] not in own][:9]
    shortage = a_finding_like(first, 1, pattern="out-of-memory", sites=[*first["sites"], *others],
                              advice="Fix F2 first: it fills host. See F2, not F77 nor F2.py.", evidence=["most of it is F2's"])
    data["findings"] = [shortage, a_finding_like(first, 2),
                        *(a_finding_like(first, 3 + n, sites=[one]) for n, one in enumerate(others))]


def with_findings_that_ended(data):
    """F1 is gone by step 60 and kept nothing; F2 never lived until the end of a step."""
    first, sites = data["findings"][0], data["sites"]
    number = {data["texts"][t]: i for i, t in enumerate(sites["id"])}
    for finding_id in first["sites"]:
        i = number[finding_id]
        sites["series"][i] = [1, 1 << 20, 49, 9 << 20, 10, -(10 << 20)]
        sites["retained_bytes"][i] = sites["live_bytes"][i] = 0
    brief = next(i for i in number.values() if i not in [number[s] for s in first["sites"]] and
                 data["texts"][sites["space"][i]] == "host")
    sites["series"][brief] = []
    sites["retained_bytes"][brief] = sites["live_bytes"][brief] = 0
    sites["peak_bytes"][brief] = 3 << 20
    data["findings"] = [first, a_finding_like(first, 2, sites=[data["texts"][sites["id"][brief]]])]


def sample(step):
    """What a process of 10 MiB was made of."""
    return {"peak_bytes": 10 << 20, "step": step, "explained": {"heap_live": 4 << 20, "heap_free": 1 << 20, "maps": 1 << 20, "shm": 0,
            "stacks": 1 << 18, "files": 2 << 20}, "seep_bytes": 1 << 20, "unexplained_bytes": 3 << 18,
            "unexplained_growth_bytes_per_step": None}


def with_samples(data, job, *steps):
    """The job was looked into at this step, and its processes at theirs; a page that both have counts in parts."""
    data["job"]["pss_peak_bytes"] = 9 << 20
    data["coverage"]["rss"] = {**sample(job), "highest_bytes": 11 << 20}
    for process, step in zip(data["processes"], steps):
        process.update(rss=sample(step) if step else None, pss_peak_bytes=9 << 20)


def with_one_sample(data):
    with_samples(data, 40, 40, None)


def with_samples_of_two(data):
    """Each at an instant of its own."""
    with_samples(data, None, 40, 1)
    data["coverage"]["rss"].update(peak_bytes=None, explained=None, seep_bytes=None, unexplained_bytes=None)


def with_a_late_sample(data):
    after = data["timeline"]["step"][-1] + 1
    with_samples(data, after, after, None)


def with_a_killed_job(data):
    ended = {"kind": "signal", "value": 9, "failed": True, "text": "killed by SIGKILL"}
    data["job"]["exit"] = data["processes"][0]["exit"] = ended
    data["processes"][1]["exit"] = {"kind": "signal", "value": 15, "failed": False, "text": "terminated by its parent"}


def with_an_exec(data):
    """Before it was the trainer the process ran another program."""
    ended = {"kind": "exit", "value": 0, "failed": False, "text": "replaced by exec"}
    data["processes"].insert(0, {**data["processes"][0], "role": "helper", "exit": ended})


def with_spaces_in_turn(data):
    """First malloc has 40 MiB and then maps have them, of which no site is known, nor what RSS was made of."""
    data["coverage"]["rss"] = None
    data["sites"]["series"] = [[] for _ in data["sites"]["series"]]
    data["small"] = {}
    line, half = data["timeline"], len(data["timeline"]["step"]) // 2
    rest = len(line["step"]) - half
    line["spaces"] = {"host": {"live_bytes": [40 << 20] * half + [0] * rest}, "mmap": {"live_bytes": [0] * half + [40 << 20] * rest}}
    data["spaces"]["mmap"] = {**data["spaces"]["host"], "peak_bytes": 40 << 20}
    data["spaces"]["host"] = {**data["spaces"]["host"], "peak_bytes": 40 << 20}


def with_small_sites(data):
    """Below the caller of the first site, of whose memory nothing else is: 7 MiB at the end."""
    sites, mib = data["sites"], 1 << 20
    data["small"] = {"space": [sites["space"][0]], "stack": [data["stacks"]["parent"][sites["stack"][0]]], "sites": [5000],
                     "allocations": [9000], "frees": [0], "allocated_bytes": [9 * mib], "live_bytes": [7 * mib], "peak_bytes": [8 * mib],
                     "retained_bytes": [6 * mib], "growth": [0], "series": [[1, 2 * mib, 30, 5 * mib]]}
