#!/bin/sh
# polars 2.1.0: estimated_size() of a slice tells the slice's share, while the slice keeps the buffers of the whole frame.
# A job that keeps the first rows of each table it reads (frame.head(), frame[:8]) so keeps every table, and the sum of
# estimated_size(), which is the only size that polars tells, says kilobytes. rechunk() of such a slice does not copy it;
# a gather (frame[[0, 1, …]]) does. Seen (Linux x86-64, CPython 3.11 and 3.12), 8 frames of
# 16 MB, of which 8 rows each are kept, in MiB of RSS above the start:
#
#   head            says under 0.01 MiB, RSS + 122
#   head, rechunk   says under 0.01 MiB, RSS + 122
#   gather          says under 0.01 MiB, RSS + 0
#
# Exits 1 if any of that has changed.
# usage: findings/polars-slice-keeps-frame.sh [PYTHON]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${1:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check polars==2.1.0
cat > "$folder/slices.py" <<'PYTHON'
import sys
import time

import polars as pl

ROWS = 2_000_000
CUTS = {
    "head": lambda frame: frame.head(8),
    "rechunk": lambda frame: frame.head(8).rechunk(),
    "gather": lambda frame: frame[[0, 1, 2, 3, 4, 5, 6, 7]],
}


def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) / 256


cut = CUTS[sys.argv[1]]
cut(pl.DataFrame({"x": pl.int_range(ROWS, eager=True).cast(pl.Float64)}))
start = rss()
kept = []
for k in range(8):
    kept.append(cut(pl.DataFrame({"x": pl.int_range(ROWS, eager=True).cast(pl.Float64) + k})))
time.sleep(3)
said = sum(frame.estimated_size("mb") for frame in kept)
more = rss() - start
print(pl.__version__, sys.argv[1], "says %.2f" % said, "RSS + %d" % more, "keeps", "all" if more > 100 else "little" if more < 40 else "some")
PYTHON
changed=0
for wanted in "head keeps all" "rechunk keeps all" "gather keeps little"; do
    line=$(_RJEM_MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0 "$folder/venv/bin/python" "$folder/slices.py" "${wanted%% *}")
    echo "$line"
    case $line in
    "2.1.0 ${wanted%% *} says 0.00 RSS "*"${wanted#* }") ;;
    *)
        echo "changed: expected '$wanted'" >&2
        changed=1
        ;;
    esac
done
exit $changed
