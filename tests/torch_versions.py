"""What each version of PyTorch writes into a memory snapshot: the one table of it. `make snapshot-versions` holds it to
what PyTorch's own wheels write, docs/snapshots.md shows it, and the made-up snapshots of torch_snapshots.py are made by
it."""
import functools

READ = {"1.13.1": 11, "2.0.1": 11, "2.1.2": 12, "2.2.2": 12, "2.3.1": 12, "2.4.1": 12, "2.5.1": 12, "2.6.0": 12, "2.7.1": 12,
        "2.8.0": 12, "2.9.1": 12, "2.10.0": 12, "2.11.0": 13, "2.12.1": 13, "2.13.0": 13, "2.14.1": 13,
        "2.15.0": 13}  # the wheels that the table was read off, with their CUDA

# (place, what it has, its type, since, until: the first version without it). "?" is not in each of its kind. What is of
# type "word" is what a text can be.
ROWS = [
    ("snapshot", "segments", "list", "2.0", None),
    ("snapshot", "device_traces", "list", "2.0", None),
    ("snapshot", "allocator_settings", "dict", "2.3", None),
    ("snapshot", "external_annotations", "list", "2.5", None),
    ("snapshot", "host_segments", "list", "2.14", None),
    ("snapshot", "host_traces", "list", "2.14", None),
    ("segment", "device", "int", "1.13", None),
    ("segment", "address", "int", "1.13", None),
    ("segment", "total_size", "int", "1.13", None),
    ("segment", "allocated_size", "int", "1.13", None),
    ("segment", "active_size", "int", "1.13", None),
    ("segment", "requested_size", "int", "2.0", None),
    ("segment", "stream", "int", "1.13", None),
    ("segment", "segment_type", "str", "1.13", None),
    ("segment", "segment_pool_id", "(int, int)", "2.1", None),
    ("segment", "is_expandable", "bool", "2.1", None),
    ("segment", "frames", "list", "2.1", None),
    ("segment", "blocks", "list", "1.13", None),
    ("segment_type", "small", "word", "1.13", None),
    ("segment_type", "large", "word", "1.13", None),
    ("block", "address", "int", "2.1", None),
    ("block", "size", "int", "1.13", None),
    ("block", "requested_size", "int", "2.0", None),
    ("block", "state", "str", "1.13", None),
    ("block", "history", "list?", "1.13", "2.1"),
    ("block", "frames", "list", "2.1", None),
    ("state", "active_allocated", "word", "1.13", None),
    ("state", "active_pending_free", "word", "1.13", None),
    ("state", "inactive", "word", "1.13", None),
    ("history", "addr", "int", "1.13", "2.1"),
    ("history", "real_size", "int", "1.13", "2.1"),
    ("history", "frames", "list", "1.13", "2.1"),
    ("frame", "filename", "str", "1.13", None),
    ("frame", "line", "int", "1.13", None),
    ("frame", "name", "str", "1.13", None),
    ("event", "action", "str", "2.0", None),
    ("event", "addr", "int?", "2.0", None),
    ("event", "device_free", "int?", "2.0", None),
    ("event", "size", "int", "2.0", None),
    ("event", "stream", "int", "2.0", None),
    ("event", "time_us", "int", "2.2", None),
    ("event", "compile_context", "str", "2.8", None),
    ("event", "user_metadata", "str", "2.10", None),
    ("event", "pool_id", "(int, int)", "2.12", None),
    ("event", "frames", "list?", "2.0", None),
    ("action", "alloc", "word", "2.0", None),
    ("action", "free_requested", "word", "2.0", None),
    ("action", "free_completed", "word", "2.0", None),
    ("action", "segment_alloc", "word", "2.0", None),
    ("action", "segment_free", "word", "2.0", None),
    ("action", "segment_map", "word", "2.1", None),
    ("action", "segment_unmap", "word", "2.1", None),
    ("action", "oom", "word", "2.0", None),
    ("action", "snapshot", "word", "2.0", None),
    ("action", "annotate", "word", "2.14", None),
    ("annotation", "stage", "str", "2.5", None),
    ("annotation", "name", "str", "2.5", None),
    ("annotation", "device", "int", "2.5", None),
    ("annotation", "time_us", "int", "2.5", None),
    ("stage", "START", "word", "2.5", None),
    ("stage", "END", "word", "2.5", None),
    ("settings", "PYTORCH_CUDA_ALLOC_CONF", "str", "2.3", None),
    ("settings", "max_split_size", "int", "2.3", None),
    ("settings", "garbage_collection_threshold", "float", "2.3", None),
    ("settings", "expandable_segments", "bool", "2.3", None),
    ("settings", "pinned_num_register_threads", "int", "2.3", None),
    ("settings", "release_lock_on_cudamalloc", "bool", "2.3", None),
    ("settings", "pinned_use_cuda_host_register", "bool", "2.3", None),
    ("settings", "graph_capture_record_stream_reuse", "bool", "2.9", None),
    ("settings", "max_round_threshold", "int", "2.13", None),
    ("settings", "max_cached_size", "int", "2.13", None),
    ("settings", "roundup_power2_divisions", "dict", "2.3", None),
]

# What the rows do not say, for the reader of docs/snapshots.md.
NOTES = {
    "1.13": "A list of segments. Blocks have no address: they lie one after the other. The newest part of a block's history "
            "is first, and is what it holds; its `real_size` is what the program asked for. No events. Only the current "
            "device is recorded",
    "2.0": "A dict. `device_traces` has a list for each GPU, but still only the current device is recorded. An event's "
           "`size` is what the program asked for, that of an `oom` is rounded; it has `device_free` instead of `addr`",
    "2.1": "All devices are recorded. Until 2.3 `segment_free` and `segment_unmap` have no frames; `snapshot` never has",
    "2.2": "In older ones seep puts events a millisecond apart",
    "2.5": "Annotations of the thread that asked for the recording; of all threads from 2.8 on, with "
           "`global_record_annotations=True`",
}
PLACES = {"snapshot": "the whole", "segment": "segments", "segment_type": "their types", "block": "blocks", "state": "their states",
          "history": "a block's history", "frame": "frames", "event": "events", "action": "their actions",
          "annotation": "annotations", "stage": "their stages", "settings": "settings"}

# Where records lie: of what place, in which of its lists or dicts, of what place they are.
BELOW = [("snapshot", "segments", "segment"), ("snapshot", "host_segments", "segment"), ("snapshot", "device_traces", "trace"),
         ("snapshot", "host_traces", "event"), ("trace", None, "event"), ("snapshot", "external_annotations", "annotation"),
         ("snapshot", "allocator_settings", "settings"), ("segment", "blocks", "block"), ("segment", "frames", "frame"),
         ("block", "frames", "frame"), ("block", "history", "history"), ("history", "frames", "frame"),
         ("event", "frames", "frame")]
WORDS = ("segment_type", "state", "action", "stage")


def number(version):
    return tuple(int(part) for part in version.split(".")[:2])


def rows_of(version):
    for place, what, type_, since, until in ROWS:
        if number(since) <= number(version) and (until is None or number(version) < number(until)):
            yield place, what, type_


@functools.cache
def keys_of(version, place):
    """The types of what a record has; not to be changed."""
    return {what: type_ for its, what, type_ in rows_of(version) if its == place}


def type_of(value):
    return "(%s)" % ", ".join(map(type_of, value)) if isinstance(value, tuple) else type(value).__name__


def records_of(snapshot):
    """(place, dict) of each record."""
    waiting = [("segment", s) for s in snapshot] if isinstance(snapshot, list) else [("snapshot", snapshot)]
    while waiting:
        place, its = waiting.pop()
        if isinstance(its, dict):
            yield place, its
        for of, key, below in BELOW:
            found = (its if key is None else its.get(key, [])) if of == place else []
            waiting += [(below, f) for f in (found if isinstance(found, list) else [found])]


def rows_in(snapshots):
    """What snapshots have, as rows_of() says it."""
    seen, totals = {}, {}
    for place, its in (found for s in snapshots for found in records_of(s)):
        totals[place] = totals.get(place, 0) + 1
        for key, value in its.items():
            types, n = seen.setdefault((place, key), (set(), 0))
            seen[place, key] = types | {type_of(value)}, n + 1
            if key in WORDS:
                seen[key, value] = {"word"}, 0
    for (place, what), (types, n) in seen.items():
        yield place, what, "/".join(sorted(types)) + ("?" if 0 < n < totals[place] else "")


def differences(version, snapshots):
    """Between the table and what the snapshots have in all, as texts."""
    known, seen = set(rows_of(version)), set(rows_in(snapshots))
    return ["%s: the table has %s.%s (%s), which is not written" % (version, *row) for row in sorted(known - seen)] + \
           ["%s: %s.%s (%s) is not in the table" % (version, *row) for row in sorted(seen - known)]


def named(rows):
    """Rows as a page has them: each place with what it has."""
    places = {place: ["`%s`" % what for its, what, *_ in rows if its == place] for place in PLACES}
    return "; ".join("%s: %s" % (PLACES[place], ", ".join(names)) for place, names in places.items() if names)


def page_table():
    """The table of docs/snapshots.md."""
    lines = ["| since | what it means | what is new | what is gone |", "| --- | --- | --- | --- |"]
    for version in sorted({row[3] for row in ROWS} | {row[4] for row in ROWS if row[4]}, key=number):
        new, gone = (named([row for row in ROWS if row[of] == version]) for of in (3, 4))
        lines.append("| %s | %s | %s | %s |" % (version, NOTES.get(version, ""), new, gone))
    return "\n".join(lines) + "\n"
