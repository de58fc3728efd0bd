/* Python stacks of the calling thread, read from CPython's own structures.
 *
 * Never takes the GIL, allocates, creates frame objects, or calls into Python beyond
 * PyGILState_GetThisThreadState(). Supports CPython 3.8 to 3.13 and, by the offsets that they
 * carry, 3.14 and 3.15; other versions are recognised and left alone. Threads: any, each for
 * itself. */
#ifndef SEEP_PRELOAD_PYTHON_PYFRAME_H
#define SEEP_PRELOAD_PYTHON_PYFRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/python/pyframe_lines.h"

struct seep_python_layout;

/* A frame as found on the stack: enough to compare two stacks, cheap to collect. `code` is the
 * address of the code object; `position` identifies the instruction in a version-dependent way (an
 * address or an offset). Equal pairs are equal places as long as the code object lives. */
struct seep_pyframe {
    uintptr_t code;
    uintptr_t position;
};

/* Room for the UTF-8 of non-ASCII texts: file, name and qualified name together. */
#define SEEP_PYCODE_SCRATCH 2048

/* The names and lines of a code object. Strings are UTF-8, not terminated. ASCII strings point into
 * the interpreter's own objects (valid while the code object lives), others into `scratch`,
 * truncated if they do not fit; len 0 if unknown. Before 3.11 code has no qualified name: qualname
 * is function. */
struct seep_pycode_info {
    const char *file, *function, *qualname;
    uint32_t file_len, function_len, qualname_len;
    uint32_t first_line;
    char scratch[SEEP_PYCODE_SCRATCH];
};

/* True once an interpreter was found that seems readable. It may not be running yet; until it does
 * there are no frames. Becomes false again if its build turns out to differ. A plain load tells
 * whether seep_python_follow() is worth calling; only an acquiring one, that seep_python_is_eval()
 * knows its code. */
extern bool seep_python_ready;

/* PY_VERSION_HEX of the interpreter found; 0 if there is none, or before 3.11 until it runs. Set
 * even if unsupported. */
extern uint32_t seep_python_version;

/* What of it can be read: enum seep_python_support. */
uint32_t seep_python_support(void);

/* What of an interpreter that can be read is not seen: enum seep_python_unseen. */
uint32_t seep_python_unseen(void);

/* Looks for an interpreter in this process (program or shared libpython). Cheap when there is none;
 * call it again after the set of loaded modules changes. Does not allocate or use stdio; keeps
 * errno. */
void seep_python_attach(void);

/* In a forked child: no thread is attaching. */
void seep_python_after_fork(void);

enum { SEEP_MAX_PYTHON_FRAMES = 320, SEEP_FRESH_PYTHON_FRAMES = 32 };

/* In a link's `via`: while this frame runs the same code, nothing changes outside the next frame
 * further out (or this one) that is an end. */
#define SEEP_PYLINK_SEAL  ((uintptr_t)2)
#define SEEP_PYLINK_END   ((uintptr_t)4)
#define SEEP_PYLINK_FLAGS (SEEP_PYLINK_SEAL | SEEP_PYLINK_END)

/* A thread's Python stack as last seen; all zero at first. The frames are the last `n` of the
 * array, innermost first, so the outermost never moves. */
struct seep_pystack {
    uint32_t n;
    uint32_t n_kept; /* lowered to the number of outermost frames that stayed; the reader resets it
                      * to n */
    bool cut;        /* there are more frames further out */
    struct seep_pyframe frames[SEEP_MAX_PYTHON_FRAMES];
    struct seep_pylink {
        uintptr_t frame;     /* of the interpreter */
        uintptr_t via;       /* a hidden frame between this one and the next, 0: none; plus flags */
        uint64_t code_stamp; /* at the code object: differs if another now has its address */
        uint64_t hash;       /* of this frame and all frames outside it */
    } links[SEEP_MAX_PYTHON_FRAMES];
    struct {
        struct seep_pyframe frame;
        struct seep_pylink link;
    } fresh[SEEP_FRESH_PYTHON_FRAMES];
};

/* Brings `stack` up to date for the calling thread; n is 0 if it runs no Python. */
void seep_python_follow(struct seep_pystack *stack);

static inline const struct seep_pyframe *seep_pystack_frames(const struct seep_pystack *stack)
{
    return stack->frames + SEEP_MAX_PYTHON_FRAMES - stack->n;
}

/* Promises that the frame at `depth` (0 is the outermost) cannot return and be entered again
 * without an event outside it in between, or another position of the frame at `end`, which may be
 * the same one: while it is there, frames outside `end` need no check. */
static inline void seep_pystack_seal(struct seep_pystack *stack, unsigned depth, unsigned end)
{
    if (!end)
        return;
    stack->links[SEEP_MAX_PYTHON_FRAMES - 1 - depth].via |= SEEP_PYLINK_SEAL;
    stack->links[SEEP_MAX_PYTHON_FRAMES - 1 - end].via |= SEEP_PYLINK_END;
}

/* The hash of the whole stack; 0 if it is empty. */
static inline uint64_t seep_pystack_hash(const struct seep_pystack *stack)
{
    return stack->n ? stack->links[SEEP_MAX_PYTHON_FRAMES - stack->n].hash : 0;
}

/* True when `ip` (a return address − 1) is in the interpreter's evaluation loop: outside that frame
 * the Python stack says more than the native one. */
bool seep_python_is_eval(uintptr_t ip);

/* Reads a code object that is on the calling thread's stack now. Returns 0, or −1 if it does not
 * look like a code object. */
int seep_python_describe(uintptr_t code, struct seep_pycode_info *info);

/* The line of a frame that is on the calling thread's stack now; 0 when unknown. `key` is unique to
 * the code object and not 0; `memo` is any memo, best the one last used for this code object. */
uint32_t seep_python_line(const struct seep_pyframe *frame, uint64_t key,
                          struct seep_pyline_memo *memo);

/* Address of the object in the first local variable of the `depth`-th frame (0 is the innermost),
 * or of its first element if it is a tuple. 0 when there is none. Used to distinguish optimizers or
 * loaders; never dereferenced further. */
uintptr_t seep_python_first_local(unsigned depth);

/* Whether that object's type has this name. */
bool seep_python_is_a(uintptr_t object, const char *type);

/* The interpreter's layout; NULL while unknown. */
const struct seep_python_layout *seep_python_layout(void);

/* Whether the interpreter shuts down: what runs now takes it apart. */
bool seep_python_ends(void);

/* Address of the interpreter's _PyRuntime; 0 if there is none, or its address is unknown. */
uintptr_t seep_python_runtime(void);

/* Changes when another code object replaces the one at `code`: computed from where its texts and
 * lines are. 0 if there is no code object there (any more). `code` must be readable memory. */
uint64_t seep_python_fingerprint(uintptr_t code);

#endif
