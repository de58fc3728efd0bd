#!/bin/sh
# step.sh FOLDER N WHAT: says that step N of `make wheel` begins, and how long it has taken so far: since FOLDER/began was
# written. With ZIG_MACHINE it is step N of that machine's wheel; what both need comes before these.
# `step.sh FOLDER end WHEEL...` says each wheel's size.
set -eu
machines="x86_64 aarch64"
shared=2
of_each=9
seconds=$(($(date +%s) - $(stat -c %Y "$1/began")))
elapsed="$((seconds / 60)) min $((seconds % 60)) s"
if [ "$2" = end ]; then
    shift 2
    for wheel; do
        bytes=$(stat -c %s "$wheel")
        echo "  WHEEL    $wheel: $bytes bytes, $((bytes * 10 / 1048576 / 10)).$((bytes * 10 / 1048576 % 10)) MiB; it took $elapsed"
    done
    exit
fi
before=$shared
total=$shared
for machine in $machines; do
    [ "$machine" != "${ZIG_MACHINE-}" ] || before=$total
    total=$((total + of_each))
done
[ -n "${ZIG_MACHINE-}" ] || before=0
echo "  STEP     $((before + $2)) of $total, after $elapsed: ${ZIG_MACHINE:+$ZIG_MACHINE: }$3"
