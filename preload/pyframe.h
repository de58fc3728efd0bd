/* Python stacks of the calling thread, read from CPython's own structures.
 *
 * Never takes the GIL, allocates, calls into Python beyond PyGILState_GetThisThreadState(), or
 * makes frame objects. Supports CPython 3.8–3.13 and, by its debug offsets, 3.14; other versions
 * are recognised and left alone. Threads: any, each for itself. */
#ifndef SEEP_PRELOAD_PYFRAME_H
#define SEEP_PRELOAD_PYFRAME_H

#include <stdbool.h>
#include <stdint.h>

/* A frame as it is met on the stack: enough to compare two stacks, cheap to collect.
 * `code` is the address of the code object, `position` identifies the instruction in a way that
 * depends on the version (an address or an offset); equal pairs are equal places as long as the
 * code object lives. */
struct seep_pyframe {
    uintptr_t code;
    uintptr_t position;
};

/* Room for the UTF-8 of texts that are not ASCII: file, name and qualified name together. */
#define SEEP_PYCODE_SCRATCH 2048

/* What a pair means. Strings are UTF-8, not terminated: inside the interpreter's own objects where
 * they are ASCII (valid while the code object lives), else in `scratch`, cut where they do not fit;
 * len 0 where unknown. Before 3.11 code has no qualified name: qualname is function. */
struct seep_pycode_info {
    const char *file, *function, *qualname;
    uint32_t file_len, function_len, qualname_len;
    uint32_t first_line;
    uint32_t line; /* of the instruction; 0 when unknown */
    char scratch[SEEP_PYCODE_SCRATCH];
};

/* True once an interpreter has been found that can be read as far as is known by then. It need not
 * run yet: until it does there are no frames. Becomes false again where it turns out to be built
 * differently. */
extern bool seep_python_ready;

/* PY_VERSION_HEX of the interpreter found, 0: none (yet; before 3.11 known once it runs). Set even
 * where unsupported. */
extern uint32_t seep_python_version;

/* Looks for an interpreter in this process (program or shared libpython). Cheap when there is none;
 * call it again when the set of loaded modules has changed. Does not allocate or use stdio; keeps
 * errno. */
void seep_python_attach(void);

/* In a forked child: nobody attaches. */
void seep_python_after_fork(void);

/* The calling thread's Python frames, innermost first. Returns how many were stored, 0 where the
 * thread runs no Python. Deeper stacks than `capacity` are cut at the outer end. */
unsigned seep_python_walk(struct seep_pyframe *frames, unsigned capacity);

/* True when `ip` (a return address − 1) lies in the interpreter's evaluation loop: outside of that
 * frame the Python stack says more than the native one. */
bool seep_python_is_eval(uintptr_t ip);

/* Decodes a frame that is on the calling thread's stack now. Returns 0, or −1 when the code object
 * does not look like one. */
int seep_python_describe(const struct seep_pyframe *frame, struct seep_pycode_info *info);

/* Address of the object in the first local variable of the `depth`-th frame (0 is the innermost);
 * where that variable is a tuple, its first element instead. 0 when there is none. Used to tell one
 * optimizer or loader from another; never dereferenced further. */
uintptr_t seep_python_first_local(unsigned depth);

/* Changes when another code object takes the place of the one at `code`: holds what its texts and
 * lines are. 0 when there is no code object there (any more). `code` must be readable memory. */
uint64_t seep_python_fingerprint(uintptr_t code);

/* Where a code object keeps what tells it from another at the same address; set when the
 * interpreter is ready. */
extern struct seep_pycode_offsets {
    uint32_t flags, first_line, file, name, lines;
} seep_python_code_offsets;

/* The same for every stack that is met: quick, and weaker. `code` comes from seep_python_walk(). */
static inline uint64_t seep_python_glance(uintptr_t code)
{
    enum { CO_OPTIMIZED_FUNCTION = 1, BYTES_SIZE = 16, BYTES_DATA = 32 };
    const struct seep_pycode_offsets *at = &seep_python_code_offsets;
    uint64_t file = *(const uint64_t *)(code + at->file);
    uint64_t glance = (*(const uint64_t *)(code + at->name) ^ (file << 21 | file >> 43)) +
                      *(const uint32_t *)(code + at->first_line);
    /* Modules, and what exec() runs, may share all that: their line tables tell. */
    if (__builtin_expect(!(*(const uint32_t *)(code + at->flags) & CO_OPTIMIZED_FUNCTION), 0)) {
        uintptr_t lines = *(const uintptr_t *)(code + at->lines);
        glance += *(const uint64_t *)(lines + BYTES_SIZE) * 31 +
                  *(const uint64_t *)(lines + BYTES_DATA) * 17;
    }
    return glance;
}

#endif
