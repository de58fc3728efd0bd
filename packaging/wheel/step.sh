#!/bin/sh
# step.sh FOLDER N WHAT: says that step N of `make wheel` begins, and how long it has taken so far: since FOLDER/began was
# written. `step.sh FOLDER end WHEEL` says the wheel's size.
set -eu
steps=11
seconds=$(($(date +%s) - $(stat -c %Y "$1/began")))
elapsed="$((seconds / 60)) min $((seconds % 60)) s"
if [ "$2" = end ]; then
    bytes=$(stat -c %s "$3")
    echo "  WHEEL    $3: $bytes bytes, $((bytes * 10 / 1048576 / 10)).$((bytes * 10 / 1048576 % 10)) MiB; it took $elapsed"
else
    echo "  STEP     $2 of $steps, after $elapsed: $3"
fi
