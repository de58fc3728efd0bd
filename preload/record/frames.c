#include "preload/record/frames.h"

#include <string.h>

#include "libprof/runtime/store/intern.h"
#include "preload/objects/modules.h"
#include "preload/steps/code_marks.h"

/* From what a stack contains to the ref of its frame; one table for both kinds, in private memory,
 * guarded by seep_arena.lock. Python entries are checked against the code object, whose address may
 * have been reused. */
struct met {
    uintptr_t where;    /* return address, or code object; 0: empty */
    uintptr_t position; /* 0: native */
    uint64_t fingerprint;
    uint32_t frame;
    uint32_t marks;
};

static struct met *table;
static uint32_t table_mask, n_met;

static inline uint32_t place(uintptr_t where, uintptr_t position)
{
    return seep_hash_mix(where ^ (position << 17 | position >> 47));
}

/* Doubles the table. A job that keeps compiling new code would fill it without end, so eventually
 * it is emptied, and what is still in use is added again while threads wait. */
static bool grow(void)
{
    enum { MOST = 1 << 19 };
    uint32_t capacity = table_mask ? (table_mask + 1) * 2 : 4096;
    if (capacity > MOST) {
        seep_os_clear(table, ((size_t)table_mask + 1) * sizeof(*table));
        n_met = 0;
        return true;
    }
    struct met *fresh = seep_os_pages((size_t)capacity * sizeof(*fresh));
    if (!fresh)
        return false;
    seep_os_populate(fresh, (size_t)capacity * sizeof(*fresh));
    for (uint32_t i = 0; table_mask && i <= table_mask; i++) {
        if (!table[i].where)
            continue;
        uint32_t at = place(table[i].where, table[i].position) & (capacity - 1);
        while (fresh[at].where)
            at = (at + 1) & (capacity - 1);
        fresh[at] = table[i];
    }
    struct met *old = table;
    uint32_t old_mask = table_mask;
    __atomic_store_n(&table, fresh, __ATOMIC_RELEASE); /* the larger one first */
    __atomic_store_n(&table_mask, capacity - 1, __ATOMIC_RELEASE);
    if (old)
        seep_os_unmap(old, ((size_t)old_mask + 1) * sizeof(*old));
    return true;
}

/* The entry of a pair, or the empty entry where it belongs; NULL without memory. */
static struct met *entry_of(uintptr_t where, uintptr_t position)
{
    if ((!table_mask || (n_met + 1) * 3 >= table_mask * 2) && !grow())
        return NULL;
    uint32_t at = place(where, position) & table_mask;
    while (table[at].where && (table[at].where != where || table[at].position != position))
        at = (at + 1) & table_mask;
    return &table[at];
}

static void enter(struct met *met, uintptr_t where, uintptr_t position)
{
    n_met += !met->where;
    met->position = position;
    met->where = where;
}

/* ---- code of a training ---------------------------------------------------------------------- */

enum { MAX_MARKED = 64 };

/* Readers need no lock: entries are complete before they are counted, and stay. */
static struct {
    uintptr_t code;
    uint32_t marks;
} marked[MAX_MARKED];
static uint32_t n_marked;
SEEP_HOT uintptr_t seep_frames_importer;

static void remember(uintptr_t code, uint32_t marks)
{
    for (uint32_t i = 0; i < n_marked; i++)
        if (marked[i].code == code)
            return;
    if (n_marked < MAX_MARKED) {
        marked[n_marked].code = code;
        marked[n_marked].marks = marks;
        __atomic_store_n(&n_marked, n_marked + 1, __ATOMIC_RELEASE);
    }
}

static uint32_t marks_of(uintptr_t code, const struct seep_pycode_info *info)
{
    uint32_t marks = seep_code_marks(info);
    if (marks & SEEP_MARK_IMPORT)
        seep_frames_importer = code;
    if (marks & SEEP_MARKS_OF_TRAINING)
        remember(code, marks);
    return marks;
}

bool seep_frames_is_marked(uintptr_t code, uint32_t marks)
{
    uint32_t n = __atomic_load_n(&n_marked, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; i++)
        if (marked[i].code == code && (marked[i].marks & marks))
            return true;
    return false;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* A code object's own entry has this position. */
static const uintptr_t of_code = UINTPTR_MAX - 1;

/* A code object's ref (0: no room) and its marks. False: it cannot be described. */
static bool python_code(uintptr_t code, uint64_t fingerprint, uint32_t *ref, uint32_t *marks)
{
    static struct seep_pycode_info info; /* guarded by the same lock; too large for a small stack */
    struct met *met = entry_of(code, of_code);
    if (met && met->where && met->fingerprint == fingerprint) {
        *marks = met->marks;
        *ref = met->frame;
        return true;
    }
    static const char no_file[] = "<no file>"; /* compile(text, "", "exec") */
    if (seep_python_describe(code, &info) != 0)
        return false;
    struct seep_code_object made = {
        .file = info.file_len ? seep_intern_string(info.file, info.file_len)
                              : seep_intern_string(no_file, sizeof(no_file) - 1),
        .function = seep_intern_string(info.function, info.function_len),
        .qualname = seep_intern_string(info.qualname, info.qualname_len),
        .first_line = info.first_line,
    };
    *marks = made.flags = marks_of(code, &info);
    *ref = seep_intern_code(&made);
    if (met && *ref) {
        met->frame = *ref;
        met->marks = made.flags;
        met->fingerprint = fingerprint;
        enter(met, code, of_code);
    }
    return true;
}

bool seep_frames_python(const struct seep_pyframe *frame, uint64_t code_stamp, uint32_t *marks,
                        uint32_t *ref)
{
    static struct seep_pyline_memo lines[64];
    uint64_t fingerprint = seep_python_fingerprint(frame->code) + code_stamp;
    const struct met *known = entry_of(frame->code, frame->position + 1);
    uint32_t owner = 0;
    *marks = known ? known->marks : 0;
    *ref = known ? known->frame : 0;
    if (!known || !known->where || known->fingerprint != fingerprint ||
        (!*ref && !seep_arena.full)) {
        *ref = 0;
        *marks = 0;
        if (!python_code(frame->code, fingerprint, &owner, marks))
            return true;
        struct seep_pyline_memo *memo = &lines[place(frame->code, 0) % 64];
        struct met *met = entry_of(frame->code, frame->position + 1); /* it may have grown */
        if (owner && met) {
            uint32_t line = seep_python_line(frame, fingerprint, memo);
            *ref = seep_intern_frame(SEEP_FRAME_PYTHON, owner, line);
            met->frame = *ref;
            met->marks = *marks;
            met->fingerprint = fingerprint;
            enter(met, frame->code, frame->position + 1);
        }
    }
    return *ref != 0;
}

uint32_t seep_frames_code_marks(uintptr_t code)
{
    const struct met *met = entry_of(code, of_code);
    return met ? met->marks : 0;
}

bool seep_frames_native(uintptr_t address, uint32_t *ref)
{
    const struct met *met = entry_of(address, 0);
    *ref = met ? met->frame : 0;
    return !met || met->where;
}

uint32_t seep_frames_native_make(uintptr_t address)
{
    uintptr_t bias;
    uint32_t module = seep_modules_ref(address - 1, &bias);
    if (!seep_os_lock(&seep_arena.lock))
        return 0;
    uint32_t frame = seep_intern_frame(SEEP_FRAME_NATIVE, module, address - 1 - bias);
    struct met *met = frame ? entry_of(address, 0) : NULL;
    if (met) {
        met->frame = frame;
        met->marks = 0;
        enter(met, address, 0);
    }
    seep_os_unlock(&seep_arena.lock);
    return met ? frame : 0;
}

void seep_frames_after_fork(void)
{
    /* The fork may have interrupted a rebuild of the table: start again in case it is
     * inconsistent. */
    table = NULL;
    table_mask = 0;
    n_met = 0;
}

void seep_frames_forget(void)
{
    if (!seep_os_lock(&seep_arena.lock))
        return;
    if (table)
        memset(table, 0, ((size_t)table_mask + 1) * sizeof(*table));
    n_met = 0;
    seep_os_unlock(&seep_arena.lock);
}
