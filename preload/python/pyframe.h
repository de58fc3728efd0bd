/* Python stacks of the calling thread, read from CPython's own structures.
 *
 * Never takes the GIL, allocates, calls into Python beyond PyGILState_GetThisThreadState(), or
 * makes frame objects. Supports CPython 3.8–3.13 and, by its debug offsets, 3.14; other versions
 * are recognised and left alone. Threads: any, each for itself. */
#ifndef SEEP_PRELOAD_PYTHON_PYFRAME_H
#define SEEP_PRELOAD_PYTHON_PYFRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/python/pyframe_lines.h"

struct seep_python_layout;

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

/* What a code object says. Strings are UTF-8, not terminated: inside the interpreter's own objects
 * where they are ASCII (valid while the code object lives), else in `scratch`, cut where they do
 * not fit; len 0 where unknown. Before 3.11 code has no qualified name: qualname is function. */
struct seep_pycode_info {
    const char *file, *function, *qualname;
    uint32_t file_len, function_len, qualname_len;
    uint32_t first_line;
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

enum { SEEP_MAX_PYTHON_FRAMES = 320, SEEP_FRESH_PYTHON_FRAMES = 32 };

/* In a link's `via`: nothing outside of this frame changes as long as it runs the same code. */
#define SEEP_PYLINK_SEAL ((uintptr_t)2)

/* A thread's Python stack as last seen; all zero at first. The frames are the last `n` of the
 * array, innermost first, so that the outermost has its place for good. */
struct seep_pystack {
    uint32_t n;
    uint32_t n_kept; /* lowered to how many of the outermost have stayed: the reader sets it to n */
    bool cut;        /* there are more, further out */
    struct seep_pyframe frames[SEEP_MAX_PYTHON_FRAMES];
    struct seep_pylink {
        uintptr_t frame; /* of the interpreter */
        uintptr_t via;   /* one of its own between this one and the next, 0: none; and the seal */
        uint64_t glance; /* at the code object: differs where another has taken its address */
        uint64_t hash;   /* of this frame and all outside of it */
    } links[SEEP_MAX_PYTHON_FRAMES];
    struct {
        struct seep_pyframe frame;
        struct seep_pylink link;
    } fresh[SEEP_FRESH_PYTHON_FRAMES];
};

/* Brings `stack` up to date for the calling thread; n is 0 where that runs no Python. */
void seep_python_follow(struct seep_pystack *stack);

static inline const struct seep_pyframe *seep_pystack_frames(const struct seep_pystack *stack)
{
    return stack->frames + SEEP_MAX_PYTHON_FRAMES - stack->n;
}

/* The frame at `depth`, 0 being the outermost, does not come again without an event in between that
 * is outside of it: what is outside need not be looked at while it is there. */
static inline void seep_pystack_seal(struct seep_pystack *stack, unsigned depth)
{
    if (depth)
        stack->links[SEEP_MAX_PYTHON_FRAMES - 1 - depth].via |= SEEP_PYLINK_SEAL;
}

/* The hash of the whole stack; 0 where there is none. */
static inline uint64_t seep_pystack_hash(const struct seep_pystack *stack)
{
    return stack->n ? stack->links[SEEP_MAX_PYTHON_FRAMES - stack->n].hash : 0;
}

/* True when `ip` (a return address − 1) lies in the interpreter's evaluation loop: outside of that
 * frame the Python stack says more than the native one. */
bool seep_python_is_eval(uintptr_t ip);

/* Reads a code object that is on the calling thread's stack now. Returns 0, or −1 when it does not
 * look like one. */
int seep_python_describe(uintptr_t code, struct seep_pycode_info *info);

/* The line of a frame that is on the calling thread's stack now; 0 when unknown. `key` is different
 * for each code object and not 0, `memo` whichever was used for it last, or any other. */
uint32_t seep_python_line(const struct seep_pyframe *frame, uint64_t key,
                          struct seep_pyline_memo *memo);

/* Address of the object in the first local variable of the `depth`-th frame (0 is the innermost);
 * where that variable is a tuple, its first element instead. 0 when there is none. Used to tell one
 * optimizer or loader from another; never dereferenced further. */
uintptr_t seep_python_first_local(unsigned depth);

/* Whether that object's type has this name. */
bool seep_python_is_a(uintptr_t object, const char *type);

/* Where the interpreter keeps what; NULL where that is not known (yet). */
const struct seep_python_layout *seep_python_layout(void);

/* Address of the interpreter's _PyRuntime; 0 where there is none, or its place is not known. */
uintptr_t seep_python_runtime(void);

/* Changes when another code object takes the place of the one at `code`: holds what its texts and
 * lines are. 0 when there is no code object there (any more). `code` must be readable memory. */
uint64_t seep_python_fingerprint(uintptr_t code);

#endif
