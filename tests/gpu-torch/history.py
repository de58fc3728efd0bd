"""Holds what seep counted of PyTorch's blocks against the history that PyTorch's allocator itself writes of them
(torch.cuda.memory._record_memory_history()).

A device's allocator holds its lock from the change of a block over the entry in its history to the report, which
brings the allocator's new total along; so entries and reports are in one order. At each report seep adds the size of a
block that is made, or takes off the size that it knows at the address of one that goes, and compares: the drift. A
report that is lost, invented, out of its turn, or of another size makes the totals differ, and so does a free at whose
address seep knows no block, or one of another size. What the drift alone does not show is what cancels out: a block
that is made and freed between two reports is missing in the counts; one such turn in the place of another, from the
same total to the same total, or a free that meets another block of the same size, in neither.

Where the log of reports.c is there, that is ruled out, too: it lies in front of seep in the same calls, and each of
its reports is held against the history's entry in the same place, by what happened, address and bytes as asked for.
Then the blocks that it leaves must be those that PyTorch says are live, by address and size, and as many as seep has
live, of as many bytes."""
import collections
import pathlib
import struct

REPORT = struct.Struct("<QqQQ")  # of reports.c: address, bytes, the allocator's total after it, device
BATCH = 64 << 10  # with more threads than one a space's peak may be off by so much for each (docs/profile-format.md)
DONE = {"alloc": "allocations", "free_requested": "frees"}  # a block is reported when it is let go, not when it is free
TAKEN = ("segment_alloc", "segment_map")


def counted(spaces, device, row):
    """What differs between the counts of the spaces and those of the history, as texts."""
    entries, blocks = row["history"][device], row["blocks"][device]
    number = collections.Counter(action for action, _, _ in entries)
    tensors, segments = (spaces.get("%s:%d" % (tier, device), collections.Counter()) for tier in ("tensor", "device"))
    pairs = [(what, tensors[what], number[action]) for action, what in DONE.items()]
    pairs += [("live blocks", tensors["allocations"] - tensors["frees"], len(blocks)),
              ("live bytes", tensors["live_bytes"], sum(size for _, size in blocks)),
              ("bytes of segments", segments["allocated_bytes"], sum(e[2] for e in entries if e[0] in TAKEN))]
    wrong = ["%s are %d, %d by the history" % pair for pair in pairs if pair[1] != pair[2]]
    off = abs(tensors["peak_bytes"] - row["peak"][device])
    return wrong + (["the peak is off by %d" % off] if off > BATCH * row["other_threads"] else [])


def in_turn(reports, entries, blocks):
    """The first thing that differs between reports and entries one by one, or in what they leave, as a list."""
    entries = [e for e in entries if e[0] in DONE]
    if len(reports) != len(entries):
        return ["%d reports of %d entries" % (len(reports), len(entries))]
    live, total = {}, 0
    for n, ((at, size, allocated), (action, address, asked)) in enumerate(zip(reports, entries)):
        total += size
        made = action == "alloc"
        fits = size >= asked and at not in live if made else live.pop(at, None) == (-size, asked)
        if at != address or allocated != total or (size > 0) != made or not fits:
            return ["report %d, %d bytes at %#x, total %d (%d by the sizes), is no %s of %d at %#x"
                    % (n, size, at, allocated, total, action, asked, address)]
        if made:
            live[at] = (size, asked)
    same = sorted((at, size) for at, (size, _) in live.items()) == sorted(map(tuple, blocks))
    return [] if same else ["other blocks are left than are live"]


def reports_of(path, device):
    """(address, bytes, the allocator's total) of each, in the order in which they came."""
    return [report[:3] for report in REPORT.iter_unpack(pathlib.Path(path).read_bytes()) if report[3] == device]


def differences(report, row):
    """At the end of a step, while the job waits; the row is the job's."""
    wrong = []
    for device, entries in enumerate(row["history"]):
        found = counted(report["spaces"], device, row)
        if row["reports"]:
            found += in_turn(reports_of(row["reports"], device), entries, row["blocks"][device])
        wrong += ["device %d: %s" % (device, said) for said in found]
    return wrong
