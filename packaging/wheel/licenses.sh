#!/bin/sh
# licenses.sh SOURCES FOLDER: gathers in FOLDER the licence of all that the wheel links in or carries, a file for each, and
# the list of them, `linked-in`. ZIG is the program.
set -eu
sources=$1
out=$2
rm -rf "$out"
mkdir -p "$out"
echo "This wheel contains, beside seep itself (LICENSE), parts of these. Each file here has a licence's full text." >"$out/linked-in"

# gather NAME VERSION FILE...
gather() {
    name=$1
    echo "$name $2" >>"$out/linked-in"
    shift 2
    cat "$@" >"$out/$name"
}

for name in elfutils jansson libmicrohttpd ncurses protobuf-c zlib; do
    source=$sources/$name/source
    gather $name "$(cat "$sources/$name/version") (Debian's source package)" "$source/debian/copyright" \
        $(find "$source" -maxdepth 1 -name 'COPYING*' -o -maxdepth 1 -name 'LICENSE*' | LC_ALL=C sort)
done
for package in libtomlplusplus-dev node-d3; do
    name=${package%-dev}
    gather "${name#lib}" "$(dpkg-query -W -f '${source:Version}' $package) (Debian's package $package)" \
        "/usr/share/doc/$package/copyright"
done
at=$(dirname "$ZIG")
gather llvm-libcxx "of zig $("$ZIG" version)" "$at/lib/libcxx/LICENSE.TXT" "$at/lib/libcxxabi/LICENSE.TXT" \
    "$at/lib/libunwind/LICENSE.TXT" "$at/LICENSE"
gather glibc "2.28, what starts a program (of zig $("$ZIG" version))" "$at/lib/libc/glibc/LICENSES"
