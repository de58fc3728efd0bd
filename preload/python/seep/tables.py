"""The tables of a digest, for pandas, DuckDB, Spark and the like.

    python3 -m seep.tables JOB.digest -o TABLES

writes a Parquet file for each table into the folder TABLES (pyarrow is needed: pip install pyarrow). In Python,
tables() gives the same as columns:

    pandas.DataFrame(seep.tables.tables("JOB.digest")["findings"])

Sizes are in bytes, growth is in bytes a step. `bucket` is the number of bits of the values in a row: they
lie from 2**(bucket - 1) to below 2**bucket. `max_…` is the process with the largest value. A course is the mean live
memory of all processes of the row together, in each of the cells of `course_steps` steps. CPython 3.8 and later."""

__all__ = ["tables", "write_parquet"]

ROWS = ("processes", "ends", "spaces", "sites", "rest", "findings", "folded")
CELL = ("node", "local_rank", "ranks", "rss_peak_sum", "rss_peak_most", "gpu_peak_sum", "gpu_peak_most",
        "growth_millibytes_per_step_sum", "growth_millibytes_per_step_most", "collective_peak_sum",
        "collective_peak_most", "steps_sum", "steps_most")
TEXTS = frozenset(("role", "of", "end", "host", "max_host", "least_host", "most_host", "severity", "pattern", "space",
                   "part", "frame", "line", "title", "advice", "command"))
REALS = frozenset(("growth_sum_bytes_per_step", "growth_most_bytes_per_step"))


def _frame_text(frame):
    """file:line in function, or the like of native code."""
    if frame is None:
        return None
    function = frame.get("qualname") or frame.get("function")
    if frame.get("file"):
        where = "%s:%s" % (frame["file"], frame["line"]) if frame.get("line") else frame["file"]
        return "%s in %s" % (where, function) if function else where
    module = "%s+0x%x" % (frame.get("module") or "?", frame.get("offset") or 0)
    return "%s in %s" % (module, function) if function else module


def _course(row, digest):
    """Bytes in each cell; the cells are 2**step_shift steps long, the last one perhaps less."""
    wide, last = 1 << digest["levels"]["step_shift"], digest["numbers"]["steps_most"]
    return [cell * 1024 / (min(last, (i + 1) * wide) - i * wide)
            for i, cell in enumerate(row["course"]) if i * wide < last]


def _row(row, digest):
    flat = {}
    for key, value in row.items():
        if key == "max":
            flat.update(("max_" + name, value[name]) for name in ("value", "rank", "local_rank", "host", "pid"))
        elif key == "course":
            flat["course"] = _course(row, digest)
        elif key == "frame":
            flat["frame"] = _frame_text(digest["frames"][value] if value is not None else None)
        elif key == "stack":
            stack = digest["stacks"][value]
            frames = [_frame_text(digest["frames"][i]) for i in stack["frames"]]
            line = stack["look_at"]
            flat.update(part=stack["part"], stack=frames, line=frames[line] if line is not None else None)
        elif key == "example":
            flat.update(title=(value or {}).get("title"), advice=(value or {}).get("advice"))
        elif key.endswith("_millibytes_per_step"):
            flat[key.replace("millibytes", "bytes")] = value / 1000
        else:
            flat[key] = value
    return flat


def _columns(rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def tables(path):
    """{table: {column: [value of each row]}} of the digest in the file `path`. Raises ValueError if it is none."""
    import json

    with open(path, encoding="utf-8") as f:
        digest = json.load(f)
    if not isinstance(digest, dict) or digest.get("format") != "seep-digest" or digest.get("version") != 1:
        raise ValueError("%s is no digest of version 1: make one with `seep digest DIR`" % path)
    found = {kind: _columns([_row(row, digest) for row in digest[kind]]) for kind in ROWS}
    found["extremes"] = _columns([dict(who, role=top["role"], of=top["of"], end=top["end"], place=place)
                                  for top in digest["tops"] for place, who in enumerate(top["processes"])])
    cells = [dict(zip(CELL, cell)) for cell in digest["cells"]]
    for cell in cells:
        cell["node"] <<= digest["levels"]["node_shift"]
    found["nodes"] = _columns(cells)
    found["job"] = _columns([dict(digest["numbers"], course_steps=1 << digest["levels"]["step_shift"],
                                  hosts=len(digest["hosts"]), command=" ".join(digest["commands"][:1]))])
    return found


def write_parquet(path, folder):
    """Writes each table that has rows to folder/TABLE.parquet. Returns their paths."""
    import os

    import pyarrow
    import pyarrow.parquet

    def type_of(name):  # the same in the files of all digests, whatever is null in one
        if name in TEXTS:
            return pyarrow.string()
        if name in ("stack", "course"):
            return pyarrow.list_(pyarrow.string() if name == "stack" else pyarrow.float64())
        return pyarrow.float64() if name in REALS else pyarrow.int64()

    os.makedirs(folder, exist_ok=True)
    written = []
    for table, columns in tables(path).items():
        if not columns:
            continue
        schema = pyarrow.schema([(name, type_of(name)) for name in columns])
        written.append(os.path.join(folder, table + ".parquet"))
        pyarrow.parquet.write_table(pyarrow.table(columns, schema=schema), written[-1])
    return written


def main():
    """The command line. Returns its exit status."""
    import argparse
    import sys

    options = argparse.ArgumentParser(prog="python3 -m seep.tables", description="Writes a digest as Parquet files.")
    options.add_argument("digest")
    options.add_argument("-o", "--output", default="tables", metavar="DIR", help="where to (default: tables)")
    options = options.parse_args()
    try:
        for path in write_parquet(options.digest, options.output):
            print(path)
    except ImportError:
        print("seep: pyarrow is not installed: pip install pyarrow", file=sys.stderr)
        return 2
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        print("seep: %s: %s" % (options.digest, error), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    import sys

    sys.exit(main())
