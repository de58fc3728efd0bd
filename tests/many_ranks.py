"""Made-up digests of very many ranks (docs/digest.schema.json), from a real digest of one.

many_ranks(digest, nodes, per_node, leaking) has a rank for each local rank of each node. All have what the one has,
each with an RSS and spaces of its own; only the rank `leaking` has its leaks, and the sites at their lines."""
import collections
import copy
import math

MOST_CELLS, MOST_HOSTS, MOST_SOURCES, TOPS = 2048, 10 * 1024, 1 << 14, 8
RSS, GPU, GROWTH, COLLECTIVE, STEPS = ("rss_peak_bytes", "gpu_peak_bytes", "growth_millibytes_per_step",
                                       "collective_peak_bytes", "steps")
MEASURES = (RSS, GPU, GROWTH, COLLECTIVE, STEPS)  # in the order of a cell's columns


class Ranks:
    """Who the ranks are, and which of them are there."""

    def __init__(self, nodes, per_node, missing=()):
        self.nodes, self.per_node, self.world = nodes, per_node, nodes * per_node
        self.numbers = [rank for rank in range(self.world) if rank not in set(missing)]

    def host(self, rank):
        return "node%05d" % (rank // self.per_node)

    def who(self, rank, value):
        local = rank % self.per_node
        return {"value": value, "rank": rank, "local_rank": local, "host": self.host(rank), "pid": 1000 + local}


def share(rank):
    """Of what the real rank has, between 0.9 and 1.1; the same each time."""
    return 0.9 + 0.2 * (rank * 2654435761 % 1009) / 1008


def rows_of(ranks, values, row):
    """A row for each bucket, from [(rank, value), …]."""
    buckets = collections.defaultdict(list)
    for rank, value in values:
        buckets[value.bit_length()].append((value, rank))
    for bucket, own in sorted(buckets.items()):
        most = max(value for value, _ in own)
        yield {**copy.deepcopy(row), "bucket": bucket, "n": len(own), "sum": sum(value for value, _ in own),
               "max": ranks.who(min(rank for value, rank in own if value == most), most)}


def times(row, n):
    """The row of as many ranks that have the same."""
    made = copy.deepcopy(row)
    made["n"], made["sum"] = row["n"] * n, row["sum"] * n
    if "course" in row:
        made["course"] = [cell * n for cell in row["course"]]
    return made


def values_of(digest, ranks, leaking):
    """{measure: [(rank, value), …]}."""
    own = {row["of"]: row["max"]["value"] for row in digest["processes"] if row["role"] == "rank"}
    values = {RSS: [(rank, int(own[RSS] * (3 if rank == leaking else share(rank)))) for rank in ranks.numbers],
              STEPS: [(rank, own[STEPS]) for rank in ranks.numbers],
              GROWTH: [(leaking, own.get(GROWTH, 0))]}
    if own.get(GPU):
        values[GPU] = [(rank, int(own[GPU] * share(rank))) for rank in ranks.numbers]
    return values


def tops_of(ranks, values):
    tops = []
    for measure, own in values.items():
        for end, sign in (("most", -1), ("least", 1)):
            first = sorted(own, key=lambda one: (sign * one[1], one[0]))[:TOPS]
            tops.append({"role": "rank", "of": measure, "end": end, "processes": [ranks.who(*one) for one in first]})
    return tops


def cells_of(ranks, values):
    """The cells, and how many nodes are in each, as a power of two."""
    shift = max(0, math.ceil(math.log2(ranks.nodes * ranks.per_node / MOST_CELLS)))
    cells = {}
    for rank in ranks.numbers:
        cell = cells.setdefault((rank // ranks.per_node >> shift, rank % ranks.per_node), [0] * (1 + 2 * len(MEASURES)))
        cell[0] += 1
    for k, measure in enumerate(MEASURES):
        for rank, value in values.get(measure, ()):
            cell = cells[rank // ranks.per_node >> shift, rank % ranks.per_node]
            cell[1 + 2 * k] += value
            cell[2 + 2 * k] = max(cell[2 + 2 * k], value)
    return [[*place, *cell] for place, cell in sorted(cells.items())], shift


def bits_of(numbers):
    """In hex, rank 0 in the lowest bit of the first digit."""
    fours = [0] * (max(numbers) // 4 + 1)
    for rank in numbers:
        fours[rank // 4] |= 1 << rank % 4
    return "".join("%x" % four for four in fours)


def found_in(ranks, row, numbers):
    n, hosts = len(numbers), [ranks.host(rank) for rank in numbers]
    growth = row["growth_sum_millibytes_per_step"]
    return {**times(row, n), "max": ranks.who(numbers[0], row["max"]["value"]), "ranks": n, "blocks": row["blocks"] * n,
            "growth_sum_millibytes_per_step": growth * n, "least_rank": numbers[0], "most_rank": numbers[-1],
            "least_host": min(hosts), "most_host": max(hosts)}


def spaces_of(digest, ranks, is_leak):
    """Their courses are those of a rank that does not leak."""
    rows = []
    for space in digest["spaces"]:
        values = [(rank, int(space["max"]["value"] * share(rank))) for rank in ranks.numbers]
        leaks = [site["course"] for site in digest["sites"] if site["of"] == space["of"] and is_leak(site)]
        course = [max(0, cell - sum(leak[k] for leak in leaks if k < len(leak)))
                  for k, cell in enumerate(space["course"])]
        for row in rows_of(ranks, values, space) if space["role"] == "rank" else ():
            rows.append({**row, "course": [cell * row["n"] for cell in course]})
    return rows


def sites_of(digest, ranks, is_leak, leaking):
    own = [row for row in digest["sites"] if row["role"] == "rank"]
    return [{**copy.deepcopy(row), "max": ranks.who(leaking, row["max"]["value"])} if is_leak(row)
            else times(row, len(ranks.numbers)) for row in own]


def ends_of(ranks, killed):
    groups = (("exit 0", [rank for rank in ranks.numbers if rank != killed]),
              ("signal 9", [] if killed is None else [killed]))
    return [{"role": "rank", "of": end, "n": len(own), "sum": 0, "max": ranks.who(own[0], 0)}
            for end, own in groups if own]


def many_ranks(digest, nodes, per_node, leaking, missing=(), killed=None):
    """missing: ranks without a profile; killed: one that SIGKILL ended."""
    ranks = Ranks(nodes, per_node, missing)
    values, n = values_of(digest, ranks, leaking), len(ranks.numbers)
    lines = {(row["frame"], row["space"]) for row in digest["findings"] if row["severity"] == "leak"}

    def is_leak(row):
        return (look_at_of(digest, row), row["of"]) in lines

    made = copy.deepcopy(digest)
    made["processes"] = [row for measure, own in values.items()
                         for row in rows_of(ranks, own, {"role": "rank", "of": measure})]
    made["spaces"] = spaces_of(digest, ranks, is_leak)
    made["sites"] = sites_of(digest, ranks, is_leak, leaking)
    made["rest"] = [times(row, n) for row in digest["rest"] if row["role"] == "rank"]
    made["findings"] = [found_in(ranks, row, [leaking] if row["severity"] == "leak" else ranks.numbers)
                        for row in digest["findings"]]
    made["ends"] = ends_of(ranks, killed)
    made["tops"] = tops_of(ranks, values)
    made["cells"], made["levels"]["node_shift"] = cells_of(ranks, values)
    made["hosts"] = sorted({ranks.host(rank) for rank in ranks.numbers})[:MOST_HOSTS]
    made["sources"] = list(range(1, min(n, MOST_SOURCES) + 1))
    made["ranks"] = bits_of(ranks.numbers)
    made["numbers"].update(folders=n, folders_complete=n, processes=n, world_size=ranks.world)
    return made


def look_at_of(digest, row):
    """The frame of a site's line."""
    stack = digest["stacks"][row["stack"]]
    return None if stack["look_at"] is None else stack["frames"][stack["look_at"]]
