#!/bin/sh
# libraries.sh SOURCES ROOT: builds the libraries that sources.sh has unpacked in SOURCES, static, for ZIG_MACHINE, and installs
# them in ROOT. CC is zig-cc, CXX zig-c++, ZIG the program, JOBS how many compilers run at once, STEP the command that says
# which step begins.
set -eu
sources=$(realpath "$1")
mkdir -p "$2/include" "$2/lib"
root=$(realpath "$2")
export CFLAGS="-O2 -g0 -w -fPIC -ffunction-sections -fdata-sections" CPPFLAGS="-I$root/include" LDFLAGS="-L$root/lib"
machines="--build=$(uname -m)-linux-gnu --host=$ZIG_MACHINE-linux-gnu"
static="$machines --prefix=$root --enable-static --disable-shared --disable-dependency-tracking"

# What zig links with all that is C++, and so with seep: it makes that of its own sources once, in minutes, and keeps it.
libcxx() {
    echo "int main() { return 0; }" >main.cc
    $CXX -O2 -s -o main main.cc -lc++ -lm
}

zlib() {
    CHOST=$ZIG_MACHINE-linux-gnu ./configure --static --prefix="$root"
    make -j"$JOBS" libz.a
    cp libz.a "$root/lib/"
    cp zlib.h zconf.h "$root/include/"
}

jansson() {
    cmake -S . -B built -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$ZIG_MACHINE" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX="$root" -DCMAKE_INSTALL_LIBDIR=lib -DJANSSON_BUILD_DOCS=OFF \
        -DJANSSON_EXAMPLES=OFF -DJANSSON_WITHOUT_TESTS=ON
    make -C built -j"$JOBS" install
}

protobuf_c() {
    # shellcheck disable=SC2086 # lists of words
    $CC $CFLAGS -I. -c -o protobuf-c.o protobuf-c/protobuf-c.c
    ar rcs "$root/lib/libprotobuf-c.a" protobuf-c.o
    mkdir -p "$root/include/protobuf-c"
    cp protobuf-c/protobuf-c.h "$root/include/protobuf-c/"
}

# Without TLS, of which "seep view --serve" makes no use, and which loads ten libraries at each start.
libmicrohttpd() {
    # shellcheck disable=SC2086
    ./configure $static --disable-https --disable-curl --disable-doc --disable-examples
    make -C src/include install
    make -C src/microhttpd -j"$JOBS" install
}

# With the usual terminals built in: the machine may have no terminfo, or have it elsewhere.
ncurses() {
    # shellcheck disable=SC2086
    ./configure $machines --with-build-cc="$ZIG cc" --prefix="$root" --without-shared --without-debug --without-ada \
        --without-cxx --without-cxx-binding --without-progs --without-tests --without-manpages --enable-widec --with-termlib=tinfo \
        --disable-db-install --disable-stripping --with-default-terminfo-dir=/usr/share/terminfo \
        --with-terminfo-dirs=/etc/terminfo:/lib/terminfo:/usr/share/terminfo --with-tic-path="$(command -v tic)" \
        --with-infocmp-path="$(command -v infocmp)" \
        --with-fallbacks=xterm-256color,xterm,screen-256color,screen,tmux-256color,linux,vt100
    make -j"$JOBS" libs
    make install.libs install.includes
}

# Only the libraries: its programs need what the compiler does not have.
elfutils() {
    # shellcheck disable=SC2086
    ./configure $static --disable-nls --disable-debuginfod --disable-libdebuginfod --without-bzlib --without-lzma --without-zstd
    # Nothing is disassembled, and the tables for that would need m4.
    for processor in i386 x86_64 bpf riscv; do
        echo "int ${processor}_disasm(void) { return -1; }"
    done >libcpu/disasm.c
    # shellcheck disable=SC2086
    $CC $CFLAGS -c -o libcpu/disasm.o libcpu/disasm.c
    ar rcs libcpu/libcpu.a libcpu/disasm.o
    for part in lib/libeu.a libelf/libelf.a backends/libebl_backends.a libebl/libebl.a libdwelf/libdwelf.a \
        libdwfl/libdwfl.a libdw/libdw.a; do
        make -C "${part%/*}" -j"$JOBS" "${part##*/}"
    done
    cp libelf/libelf.a libdw/libdw.a "$root/lib/"
    cp libelf/libelf.h libelf/gelf.h libdw/dwarf.h "$root/include/"
    mkdir -p "$root/include/elfutils"
    cp libdw/libdw.h libdwfl/libdwfl.h libdwelf/libdwelf.h libelf/elf-knowledge.h libebl/libebl.h version.h "$root/include/elfutils/"
}

# build N NAME WHAT
build() {
    [ ! -e "$root/$2.done" ] || return 0
    $STEP "$1" "$3"
    rm -rf "${root:?}/$2"
    mkdir "$root/$2"
    [ ! -d "$sources/$2" ] || cp -r "$sources/$2/source/." "$root/$2"
    if ! (cd "$root/$2" && set -e && "$(echo "$2" | tr - _)") >"$root/$2.log" 2>&1; then
        tail -n 30 "$root/$2.log" >&2
        echo "wheel: $2 could not be built: $root/$2.log" >&2
        exit 1
    fi
    touch "$root/$2.done"
}

build 1 libcxx "the C++ library, of which zig has the sources"
n=1
for library in zlib jansson protobuf-c libmicrohttpd ncurses elfutils; do
    n=$((n + 1))
    build $n $library $library
done
# A library of headers: those of the machine's package.
cp -r /usr/include/toml++ "$root/include/"
