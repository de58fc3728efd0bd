#!/bin/sh
# Holds the Python stack reader, and the heap's offsets, against every CPython found: offsets, stacks, and no crash
# when it is called from every allocation from start to end. Exit status 1 when anything differs.
#   tests/pyframe/run.sh [--bench] [PYTHON…]
# BUILD names the folder for what is built (default build/pyframe), CC the compiler.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build/pyframe}
CC=${CC:-gcc}
mkdir -p "$BUILD"

bench=
if [ "${1:-}" = --bench ]; then
    bench=1
    shift
fi
if [ $# -eq 0 ]; then
    set -- /usr/bin/python3
    for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
        [ -x "$python" ] && set -- "$@" "$python"
    done
fi

$CC -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -fPIC -shared -fvisibility=hidden -pthread -I. \
    -o "$BUILD/probe.so" tests/pyframe/probe.c preload/python/pyframe*.c preload/objects/loader.c preload/objects/elf_find.c libprof/runtime/store/os*.c libprof/runtime/store/vdso.c libprof/runtime/store/own_pages.c || exit 1

$CC -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -fPIC -shared -fvisibility=hidden -pthread -I. \
    -DPRETEND_314 -o "$BUILD/probe314.so" tests/pyframe/probe.c preload/python/pyframe_*.c preload/objects/loader.c preload/objects/elf_find.c libprof/runtime/store/os*.c libprof/runtime/store/vdso.c libprof/runtime/store/own_pages.c || exit 1

# The minor versions that have a layout.
minors=$(sed -n 's/^static const struct seep_python_layout seep_python_layout_3\([0-9]*\) = {/\1/p' \
    libprof/format/python_layout.h | tr '\n' ' ')

# A version that cannot be read, or a build without a GIL, is known by its number, and has no frames.
unsupported() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2>/dev/null || return 0
    "$1" -c '
import ctypes, sys
probe, out = ctypes.CDLL(sys.argv[1]), ctypes.create_string_buffer(9999)
probe.probe_attach()
left_alone = probe.probe_stack(out, ctypes.c_size_t(9999)) == 0
ok = left_alone and (probe.probe_version() & 0xffffffff) >> 8 == sys.hexversion >> 8
print("%-8s %s" % (sys.version.split()[0], "left alone" if ok else "differs"))
sys.exit(not ok)' "$BUILD/probe.so"
}

failed=0
tried=0
for python in "$@"; do
    "$python" -c '
import sys, ctypes, sysconfig
sys.exit(sys.version_info[0] != 3 or str(sys.version_info[1]) not in sys.argv or
         bool(sysconfig.get_config_var("Py_GIL_DISABLED")))' \
        $minors 2>/dev/null || {
        unsupported "$python" || failed=1
        continue
    }
    tried=$((tried + 1))
    if [ -n "$bench" ]; then
        "$python" tests/pyframe/check.py "$BUILD/probe.so" --bench || failed=1
        continue
    fi
    headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
    if [ -f "$headers/internal/pycore_pystate.h" ]; then
        if $CC -std=gnu11 -w -I. -I"$headers" -I"$headers/internal" -o "$BUILD/layout_check" \
            tests/pyframe/layout_check.c preload/python/pyframe_layout.c && "$BUILD/layout_check" &&
            $CC -std=gnu11 -w -I. -I"$headers" -I"$headers/internal" -o "$BUILD/heap_layout_check" \
            tests/pyframe/heap_layout_check.c libprof/who/graph/py_fields.c && "$BUILD/heap_layout_check"; then
            :
        else
            echo "$python: layout differs"
            failed=1
        fi
    fi
    "$python" tests/pyframe/check.py "$BUILD/probe.so" || failed=1
    case $("$python" -V) in
    *" 3.13."*)
        printf 'as 3.14: '
        "$python" tests/pyframe/check.py "$BUILD/probe314.so" || failed=1
        ;;
    esac
    LD_PRELOAD="$PWD/$BUILD/probe.so" "$python" tests/pyframe/check.py "$BUILD/probe.so" --churn
    status=$?
    if [ $status -ne 0 ]; then
        echo "$python: status $status with the probe preloaded"
        failed=1
    fi
done
if [ $tried -eq 0 ]; then
    echo "no CPython found of 3.x, x in $minors"
    exit 1
fi
exit $failed
