#!/bin/sh
# Clang 22.1.8 (of PyPI's ziglang 0.17.1): on 64-bit Arm __builtin_dwarf_cfa() is the frame pointer, not the
# canonical frame address, that is the stack pointer that the caller had at its call. On x86-64 it is that address, as with
# GCC on both. What walks stacks by call-frame information starts some bytes too low, by the size of the callee's saved
# registers; only functions without a frame are right. __builtin_sponentry(), which Clang has on Arm only, is the address.
# Seen, of functions that call another one, compiled at -O2 with frame pointers:
#
#   x86_64   __builtin_dwarf_cfa()   leaq 16(%rbp), %rdi     the address
#   aarch64  __builtin_dwarf_cfa()   mov x0, x29             the frame pointer, 32 bytes below
#   aarch64  __builtin_sponentry()   add x0, x29, #32        the address
#
# Exits 1 if any of that has changed.
# usage: findings/clang-cfa-on-arm.sh [PYTHON]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${1:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
cat > "$folder/cfa.c" <<'C'
void *sink(void *);
void *frame(void *a, void *b)
{
    sink(ADDRESS());
    sink(a); /* so that both arguments are kept in saved registers */
    sink(b);
    return a;
}
C
seen() {
    "$folder/venv/bin/python" -m ziglang cc -target "$1" -O2 -fno-omit-frame-pointer -DADDRESS="$2" \
        -S -o "$folder/cfa.s" "$folder/cfa.c" 2>/dev/null
    printf '%s %s: ' "$1" "$2"
    sed -n '/^frame:/,/sink/p' "$folder/cfa.s" | grep -oE "$3" || { echo "not $3"; exit 1; }
}
"$folder/venv/bin/python" -m ziglang cc --version | head -n 1
seen x86_64-linux-gnu __builtin_dwarf_cfa 'leaq[[:space:]]+16\(%rbp\), %rdi'
seen aarch64-linux-gnu __builtin_dwarf_cfa 'mov[[:space:]]+x0, x29$'
seen aarch64-linux-gnu __builtin_sponentry 'add[[:space:]]+x0, x29, #32'
