#!/bin/sh
# GNU ld 2.40 (Debian 12's binutils-aarch64-linux-gnu): references through the global offset table to local symbols of one
# section get one entry for all of them, and it holds the section's start, without a word of warning. GNU as turns such a
# symbol into section + offset, GCC refers so to what it is told is extern, and a top-level asm() with .incbin defines it
# without .globl: that is how files are often embedded in C. On x86-64 the same sources are right, and so is LLD 22.1.8 on
# the same object. Hidden declarations (no table between) or .globl help. Seen:
#
#   GNU ld 2.40    two symbols, 8 and 16 bytes into .rodata: both loads from one entry, which holds .rodata + 0
#   LLD 22.1.8     two entries
#
# Exits 1 if any of that has changed. Needs apt-get of Debian 12 (x86-64), for two packages that are
# not installed.
# usage: findings/ld-got-of-local-symbols-on-arm.sh [PYTHON]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
(cd "$folder" && apt-get -q -o APT::Sandbox::User=root download binutils-aarch64-linux-gnu=2.40-2 binutils-common=2.40-2 >/dev/null &&
    for package in *.deb; do dpkg-deb -x "$package" .; done)
"${1:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
export LD_LIBRARY_PATH="$folder/usr/lib/x86_64-linux-gnu"
tool() {
    name=$1
    shift
    "$folder/usr/bin/aarch64-linux-gnu-$name" "$@"
}
cat > "$folder/two.s" <<'ASM'
	.text
	.globl	_start
_start:
	adrp	x0, :got:first
	ldr	x0, [x0, :got_lo12:first]
	adrp	x1, :got:second
	ldr	x1, [x1, :got_lo12:second]
	.section .rodata
	.quad	0
first:
	.quad	1
second:
	.quad	2
ASM
tool as -o "$folder/two.o" "$folder/two.s"
tool ld -o "$folder/gnu" "$folder/two.o"
"$folder/venv/bin/python" -m ziglang ld.lld -o "$folder/lld" "$folder/two.o"
places() { # from which the two loads take the addresses
    tool objdump -d "$folder/$1" | sed -n 's/.*ldr.*\[x[01], #\([0-9]*\)\].*/\1/p' | sort -u | wc -l
}
start=$(tool readelf -SW "$folder/gnu" | sed -n 's/.* \.rodata *PROGBITS *\([0-9a-f]*\).*/\1/p')
held=$(tool objdump -s -j .got "$folder/gnu" | grep -c "$(echo "$start" | sed 's/.*\(..\)\(..\)\(..\)\(..\)$/\4\3\2\1/')" || true)
echo "GNU ld: $(places gnu) entry for two symbols, holding the start of .rodata: $held; LLD: $(places lld) entries"
[ "$(places gnu)" = 1 ] && [ "$held" = 1 ] && [ "$(places lld)" = 2 ]
