/* Python stacks: attaches to an interpreter and walks its frames.
 *
 * A walk starts at the thread's own state (PyGILState_GetThisThreadState()) and follows links that
 * only this thread changes, so it needs neither the GIL nor a lock. The loops are written once and
 * compiled for each version, with that version's offsets as constants. */
#include "preload/python/pyframe.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "libprof/format/profile_format.h"
#include "libprof/runtime/store/placement.h"
#include "preload/python/pyframe_code.h"
#include "preload/python/pyframe_elf.h"
#include "preload/python/pyframe_layout.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(x)     __builtin_expect(!!(x), 1)

typedef void follow_fn(struct seep_pystack *stack);

static follow_fn follow_nothing, follow_begin;

uint32_t seep_python_version;

enum { MAX_COLD = 64 };

/* All that is known of the interpreter. The attaching thread writes it before it publishes what
 * lets others read it: the follower and the layout, and that it is ready. Whoever completes that
 * later is `busy`, too. */
static struct {
    struct seep_pyimage image;
    const struct seep_python_layout *layout; /* NULL until it is known */
    struct seep_python_layout own_layout;    /* from 3.14 on */
    uintptr_t (*thread_state)(void);
    struct seep_pyrange cold[MAX_COLD];
    unsigned n_cold;
    bool has_no_gil;
} python;

static int busy; /* 1: a thread writes it */

/* ---- the calling thread's state ------------------------------------------------------------- */

/* Whether autoTSSkey is where the layout says: checked at the first thread that has a state. */
enum { KEY_UNKNOWN, KEY_KNOWN, KEY_ELSEWHERE };

SEEP_HOT static follow_fn *follower = follow_nothing;
SEEP_HOT static int key_place;
SEEP_HOT bool seep_python_ready;

/* Py_tss_t (Include/pythread.h) on POSIX. */
struct tss {
    int is_initialized;
    pthread_key_t key;
};

static __attribute__((noinline)) uintptr_t thread_state_ask(const struct seep_python_layout *layout)
{
    const uintptr_t state = python.thread_state();

    if (state && layout->runtime_tss &&
        __atomic_load_n(&key_place, __ATOMIC_RELAXED) == KEY_UNKNOWN) {
        const struct tss *tss = (const struct tss *)(python.image.runtime + layout->runtime_tss);
        const bool same = tss->is_initialized == 1 && tss->key < PTHREAD_KEYS_MAX &&
                          (uintptr_t)pthread_getspecific(tss->key) == state;
        __atomic_store_n(&key_place, same ? KEY_KNOWN : KEY_ELSEWHERE, __ATOMIC_RELAXED);
    }
    return state;
}

/* 0 if this thread runs no Python, or while another thread shuts the interpreter down: that frees
 * the states of threads that still exist. */
static ALWAYS_INLINE uintptr_t thread_state(const struct seep_python_layout *layout)
{
    uintptr_t state;

    if (LIKELY(__atomic_load_n(&key_place, __ATOMIC_RELAXED) == KEY_KNOWN)) {
        const struct tss *tss = (const struct tss *)(python.image.runtime + layout->runtime_tss);
        state = tss->is_initialized ? (uintptr_t)pthread_getspecific(tss->key) : 0;
    } else {
        state = thread_state_ask(layout);
    }
    const uintptr_t finalizing = seep_py_word(python.image.runtime + layout->runtime_finalizing);
    return LIKELY(!finalizing) || finalizing == state ? state : 0;
}

bool seep_python_ends(void)
{
    const struct seep_python_layout *layout = seep_python_layout();
    return layout && seep_py_word(python.image.runtime + layout->runtime_finalizing);
}

/* ---- frames --------------------------------------------------------------------------------- */

static ALWAYS_INLINE uintptr_t word(uintptr_t at)
{
    return *(const uintptr_t *)at;
}

static ALWAYS_INLINE bool is_shim(const struct seep_python_layout *layout, uintptr_t frame)
{
    return layout->minor >= 12 &&
           *(const uint8_t *)(frame + layout->frame_owner) >= SEEP_PY_OWNER_SHIM;
}

/* Loads one word at a time: a load of two words just stored one by one would stall. */
static ALWAYS_INLINE uintptr_t frame_code(const struct seep_python_layout *layout, uintptr_t frame)
{
    const uintptr_t code = seep_py_word(frame + layout->frame_code);
    return layout->minor >= 14 ? code & ~(uintptr_t)3 : code; /* a tagged reference */
}

static ALWAYS_INLINE uintptr_t frame_position(const struct seep_python_layout *layout,
                                              uintptr_t frame)
{
    if (layout->chain == SEEP_PYTHON_CHAIN_OBJECTS)
        return (uintptr_t)(intptr_t) * (const int *)(frame + layout->frame_position);
    return seep_py_word(frame + layout->frame_position);
}

static ALWAYS_INLINE struct seep_pyframe frame_read(const struct seep_python_layout *layout,
                                                    uintptr_t frame)
{
    return (struct seep_pyframe){frame_code(layout, frame), frame_position(layout, frame)};
}

/* The interpreter's own test of which frames count (_PyFrame_IsIncomplete): not those that are
 * still creating their cells or their generator. */
static ALWAYS_INLINE bool is_incomplete(const struct seep_python_layout *layout, uintptr_t frame)
{
    const struct seep_pyframe read = frame_read(layout, frame);

    if (*(const uint8_t *)(frame + layout->frame_owner) == SEEP_PY_OWNER_GENERATOR || !read.code)
        return false;
    const int traceable = *(const int *)(read.code + layout->code_traceable);
    return read.position <
           read.code + layout->code_instructions + 2 * (uintptr_t)(unsigned)traceable;
}

/* Whether a frame that is not the innermost does not count; `inner` is the frame it called. An
 * incomplete frame calls no Python, but up to 3.11 its allocations may collect garbage and so run
 * finalizers, each in an evaluation loop of its own. */
static ALWAYS_INLINE bool is_hidden(const struct seep_python_layout *layout, uintptr_t frame,
                                    uintptr_t inner)
{
    if (layout->minor == 11)
        return *(const uint8_t *)(inner + layout->frame_entry) && is_incomplete(layout, frame);
    return is_shim(layout, frame);
}

/* The innermost frame that counts; 0 if there is none. */
static ALWAYS_INLINE uintptr_t frame_first(const struct seep_python_layout *layout)
{
    const uintptr_t state = thread_state(layout);

    if (!state)
        return 0;
    uintptr_t frame = word(state + layout->thread_frame);
    if (layout->chain == SEEP_PYTHON_CHAIN_OBJECTS)
        return frame;
    if (layout->chain == SEEP_PYTHON_CHAIN_CFRAME)
        frame = frame ? word(frame + layout->cframe_frame) : 0;
    while (frame && (is_shim(layout, frame) || is_incomplete(layout, frame)))
        frame = word(frame + layout->frame_back);
    return frame;
}

#include "preload/python/pyframe_follow.h"

#define FOLLOW(minor)                                                                              \
    static void follow_##minor(struct seep_pystack *stack)                                         \
    {                                                                                              \
        follow_layout(&seep_python_layout_##minor, stack);                                         \
    }
FOLLOW(38)
FOLLOW(39)
FOLLOW(310)
FOLLOW(311)
FOLLOW(312)
FOLLOW(313)

static void follow_own(struct seep_pystack *stack)
{
    follow_layout(&python.own_layout, stack);
}

static void follow_nothing(struct seep_pystack *stack)
{
    stack->n = stack->n_kept = 0;
}

SEEP_EACH_EVENT void seep_python_follow(struct seep_pystack *stack)
{
    __atomic_load_n(&follower, __ATOMIC_ACQUIRE)(stack);
}

/* ---- attaching ------------------------------------------------------------------------------ */

/* PY_VERSION_HEX of "3.10.13 (…", with an unknown release level taken as final. */
static uint32_t parse_version(const char *text)
{
    uint32_t part[3] = {0};

    for (unsigned i = 0; i < 3; i++) {
        for (; *text >= '0' && *text <= '9'; text++)
            part[i] = part[i] * 10 + (uint32_t)(*text - '0');
        if (*text != '.')
            break;
        text++;
    }
    return part[0] << 24 | (part[1] & 255) << 16 | (part[2] & 255) << 8 | 0xf0;
}

static follow_fn *follower_for(uint32_t minor)
{
    static follow_fn *const followers[] = {follow_38,  follow_39,  follow_310,
                                           follow_311, follow_312, follow_313};

    if (minor >= 14)
        return follow_own;
    return minor >= 8 && minor <= 13 ? followers[minor - 8] : follow_nothing;
}

/* Decides how to read this interpreter. Call it only once the interpreter runs: by then its data is
 * relocated. */
static void choose_layout(void)
{
    if (!seep_python_version)
        seep_python_version = parse_version(((const char *(*)(void))python.image.version)());
    const uint32_t minor = seep_python_version >> 16 & 255;
    const struct seep_python_layout *layout = seep_pylayout_find(minor);

    if (minor >= 14 && python.image.runtime &&
        seep_pylayout_from_debug(&python.own_layout, python.image.runtime))
        layout = &python.own_layout;
    if (seep_python_version >> 24 != 3 || !layout || !python.image.runtime ||
        !python.image.thread_state ||
        !seep_pylayout_fits(layout, python.image.code_type, python.image.runtime)) {
        __atomic_store_n(&seep_python_ready, false, __ATOMIC_RELAXED);
        __atomic_store_n(&follower, follow_nothing, __ATOMIC_RELEASE);
        return;
    }
    __atomic_store_n(&python.layout, layout, __ATOMIC_RELEASE);
    __atomic_store_n(&follower, follower_for(minor), __ATOMIC_RELEASE);
}

/* Completes attaching to an interpreter that was not running yet when it was found. */
static void follow_begin(struct seep_pystack *stack)
{
    stack->n = stack->n_kept = 0;
    if (!(seep_py_word(python.image.code_type + SEEP_PY_TYPE_FLAGS) & SEEP_PY_READY))
        return;
    if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
        return; /* another thread does it, and nobody else may write what that one has published */
    if (__atomic_load_n(&follower, __ATOMIC_RELAXED) == follow_begin)
        choose_layout();
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
    if (__atomic_load_n(&follower, __ATOMIC_RELAXED) != follow_begin)
        seep_python_follow(stack);
}

static bool has_no_gil(void)
{
    const uintptr_t runtime = python.image.runtime;

    return seep_python_version >= 0x030d0000 && runtime &&
           seep_python_has_no_gil((const struct seep_python_offsets_head *)runtime);
}

static void attach(void)
{
    struct seep_pyimage image;

    if (python.image.eval.start && !seep_pyimage_loaded(python.image.bias)) {
        __atomic_store_n(&seep_python_ready, false, __ATOMIC_RELAXED);
        __atomic_store_n(&follower, follow_nothing, __ATOMIC_RELEASE);
        __atomic_store_n(&python.layout, NULL, __ATOMIC_RELEASE);
        __atomic_store_n(&key_place, KEY_UNKNOWN, __ATOMIC_RELAXED);
        python.image.eval.start = 0;
    }
    if (python.image.eval.start || !seep_pyimage_find(&image))
        return;
    python.image = image;
    seep_python_version = image.version_word ? (uint32_t)seep_py_word(image.version_word) : 0;
    python.has_no_gil = has_no_gil();
    if (python.has_no_gil) { /* none of its objects is where a layout says */
        __atomic_store_n(&follower, follow_nothing, __ATOMIC_RELEASE);
        return;
    }
    python.thread_state = (uintptr_t(*)(void))image.thread_state;
    python.n_cold = seep_pyimage_cold(&image, python.cold, MAX_COLD);
    __atomic_store_n(&follower, follow_begin, __ATOMIC_RELEASE);
    __atomic_store_n(&seep_python_ready, true, __ATOMIC_RELEASE);
    if (seep_py_word(image.code_type + SEEP_PY_TYPE_FLAGS) & SEEP_PY_READY)
        choose_layout();
}

uint32_t seep_python_support(void)
{
    if (seep_python_ready)
        return SEEP_PYTHON_STACKS;
    if (!seep_python_version)
        return SEEP_PYTHON_NONE;
    return python.has_no_gil ? SEEP_PYTHON_NO_GIL : SEEP_PYTHON_UNKNOWN_VERSION;
}

/* Up to 3.11 a thread's key has the first state that the thread had, also while the thread runs a
 * subinterpreter with another one. */
static bool had_subinterpreters(const struct seep_python_layout *layout)
{
    return layout->minor < 12 &&
           (intptr_t)seep_py_word(python.image.runtime + seep_python_next_interpreter(layout)) > 1;
}

uint32_t seep_python_unseen(void)
{
    const struct seep_python_layout *layout =
        seep_python_ready ? seep_python_layout_find(seep_python_version) : NULL;

    if (!layout || !python.image.runtime)
        return 0;
    return (had_subinterpreters(layout) ? SEEP_PYTHON_SUBINTERPRETERS : 0) |
           (layout->runtime_allocator && seep_python_is_mimalloc(seep_py_u32(
                                             python.image.runtime + layout->runtime_allocator))
                ? SEEP_PYTHON_MIMALLOC
                : 0);
}

void seep_python_after_fork(void)
{
    busy = 0;
}

void seep_python_attach(void)
{
    const int saved = errno;

    if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
        return;
    attach();
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
    errno = saved;
}

/* ---- the rest of the interface -------------------------------------------------------------- */

bool seep_python_is_eval(uintptr_t ip)
{
    if (ip - python.image.eval.start < python.image.eval.end - python.image.eval.start)
        return python.image.eval.start != 0;
    unsigned low = 0, high = python.n_cold;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (ip < python.cold[middle].start)
            high = middle;
        else if (ip >= python.cold[middle].end)
            low = middle + 1;
        else
            return true;
    }
    return false;
}

static bool is_code(uintptr_t code)
{
    return code && !(code & 7) && seep_py_word(code + SEEP_PY_TYPE) == python.image.code_type;
}

int seep_python_describe(uintptr_t code, struct seep_pycode_info *info)
{
    const struct seep_python_layout *layout = __atomic_load_n(&python.layout, __ATOMIC_ACQUIRE);

    if (!layout || !is_code(code))
        return -1;
    /* A long file name must leave room for the names of functions. */
    struct seep_pyscratch scratch = {info->scratch, 0, SEEP_PYCODE_SCRATCH / 2};
    const struct seep_pytext file =
        seep_pytext_read(layout, word(code + layout->code_file), &scratch);
    scratch.size = SEEP_PYCODE_SCRATCH * 3 / 4;
    const struct seep_pytext function =
        seep_pytext_read(layout, word(code + layout->code_name), &scratch);
    scratch.size = SEEP_PYCODE_SCRATCH;
    struct seep_pytext qualname = function;
    if (layout->code_qualname)
        qualname = seep_pytext_read(layout, word(code + layout->code_qualname), &scratch);

    info->file = file.text;
    info->file_len = file.len;
    info->function = function.text;
    info->function_len = function.len;
    info->qualname = qualname.text;
    info->qualname_len = qualname.len;
    info->first_line = seep_py_u32(code + layout->code_firstline);
    return 0;
}

uint32_t seep_python_line(const struct seep_pyframe *frame, uint64_t key,
                          struct seep_pyline_memo *memo)
{
    const struct seep_python_layout *layout = __atomic_load_n(&python.layout, __ATOMIC_ACQUIRE);

    if (!layout || !is_code(frame->code))
        return 0;
    if (memo->code != key)
        *memo = (struct seep_pyline_memo){.code = key};
    return seep_pycode_line(layout, frame->code, frame->position, memo);
}

uint64_t seep_python_fingerprint(uintptr_t code)
{
    const struct seep_python_layout *layout = __atomic_load_n(&python.layout, __ATOMIC_ACQUIRE);

    if (!layout || !is_code(code))
        return 0;
    uint64_t hash = seep_py_u32(code + layout->code_firstline);
    hash = (hash ^ word(code + layout->code_file)) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ word(code + layout->code_name)) * UINT64_C(0xd6e8feb86659fd93);
    hash = (hash ^ hash >> 31 ^ word(code + layout->code_lines)) * UINT64_C(0x94d049bb133111eb);
    return hash | 1;
}

/* The frame that a walk would store at `depth`; 0 if there is none. */
static uintptr_t frame_at(const struct seep_python_layout *layout, unsigned depth)
{
    uintptr_t frame = frame_first(layout), inner;

    while (frame && depth) {
        inner = frame;
        frame = word(frame + layout->frame_back);
        depth -= frame && !is_hidden(layout, frame, inner);
    }
    return frame;
}

/* Up to 3.10, an argument that an inner function uses has its own cell after the locals. */
static uintptr_t moved_to_cell(const struct seep_python_layout *layout, uintptr_t code,
                               uintptr_t locals, unsigned n_locals)
{
    const uintptr_t cells = layout->code_moved ? word(code + layout->code_moved) : 0;

    if (!cells)
        return 0;
    for (unsigned i = 0; i < 256; i++) {
        const uintptr_t cell = word(locals + 8u * (n_locals + i));
        if (!cell || word(cell + SEEP_PY_TYPE) != python.image.cell_type)
            break;
        if (!word(cells + 8u * i))
            return cell;
    }
    return 0;
}

uintptr_t seep_python_first_local(unsigned depth)
{
    const struct seep_python_layout *layout = __atomic_load_n(&python.layout, __ATOMIC_ACQUIRE);
    const uintptr_t frame = layout ? frame_at(layout, depth) : 0;

    if (!frame)
        return 0;
    const struct seep_pyframe read = frame_read(layout, frame);
    const uintptr_t locals = frame + layout->frame_locals;
    if (!is_code(read.code))
        return 0;
    const uint32_t n_locals = seep_py_u32(read.code + layout->code_n_locals);
    if (!n_locals)
        return 0;
    uintptr_t object = word(locals);
    if (!object)
        object = moved_to_cell(layout, read.code, locals, n_locals);
    if (layout->minor >= 14 && (object & 3) == 3) /* a small integer, not an object */
        return 0;
    object &= ~(uintptr_t)3;
    if (object && python.image.cell_type && word(object + SEEP_PY_TYPE) == python.image.cell_type)
        object = word(object + SEEP_PY_CELL_CONTENT);
    if (!object)
        return 0;
    const uintptr_t type = word(object + SEEP_PY_TYPE);
    if (word(type + SEEP_PY_TYPE_FLAGS) & SEEP_PY_IS_TUPLE)
        return word(object + SEEP_PY_SIZE) ? word(object + layout->tuple_items) : 0;
    return object;
}

bool seep_python_is_a(uintptr_t object, const char *type)
{
    const uintptr_t own = object ? word(object + SEEP_PY_TYPE) : 0;
    const uintptr_t name = own ? word(own + SEEP_PY_TYPE_NAME) : 0;

    return name && strcmp((const char *)name, type) == 0;
}

const struct seep_python_layout *seep_python_layout(void)
{
    return __atomic_load_n(&python.layout, __ATOMIC_ACQUIRE);
}

uintptr_t seep_python_runtime(void)
{
    return python.image.runtime;
}
