#include "preload/capture.h"

#include <string.h>

#include "libprof/intern.h"
#include "preload/modules.h"
#include "preload/steps.h"

/* From what is met on a stack to the ref of its frame; one table for both kinds, in private memory,
 * guarded by seep_arena.lock. Python entries are checked against the code object, whose address may
 * have been used again. */
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

static bool grow(void)
{
    uint32_t capacity = table_mask ? (table_mask + 1) * 2 : 4096;
    struct met *fresh = seep_os_pages((size_t)capacity * sizeof(*fresh));
    if (!fresh)
        return false;
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

/* The entry of a pair, or the empty one where it belongs; NULL without memory. */
static struct met *look_up(uintptr_t where, uintptr_t position)
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

/* The ref of its frame, 0 where it cannot be described. False: no room, only the marks are right.
 */
static bool python_frame(const struct seep_pyframe *frame, uint32_t *marks, uint32_t *ref)
{
    struct met *met = look_up(frame->code, frame->position + 1);
    *ref = 0;
    if (!met)
        return false;
    uint64_t fingerprint = seep_python_fingerprint(frame->code) + seep_python_glance(frame->code);
    if (!met->where || met->fingerprint != fingerprint || (!met->frame && !seep_arena.full)) {
        struct seep_pycode_info info;
        if (seep_python_describe(frame, &info) != 0)
            return true;
        struct seep_code code = {
            .file = seep_intern_string(info.file, info.file_len),
            .function = seep_intern_string(info.function, info.function_len),
            .qualname = seep_intern_string(info.qualname, info.qualname_len),
            .first_line = info.first_line,
        };
        code.flags = seep_steps_marks(frame->code, &info);
        uint32_t owner = seep_intern_code(&code);
        met->frame = owner ? seep_intern_frame(SEEP_FRAME_PYTHON, owner, info.line) : 0;
        met->marks = code.flags;
        met->fingerprint = fingerprint;
        enter(met, frame->code, frame->position + 1);
    }
    *marks |= met->marks & SEEP_MARKS_OF_TRAINING;
    if (met->marks & SEEP_MARK_IMPORT)
        *marks |= SEEP_MARK_IMPORT;
    else if (!(met->marks & SEEP_MARK_LIBRARY))
        *marks &= ~(uint32_t)SEEP_MARK_IMPORT;
    *ref = met->frame;
    return met->frame != 0;
}

/* Called without the lock: the module list must not be asked for under it. False: no room. */
static bool native_frame_make(uintptr_t address)
{
    uintptr_t bias;
    uint32_t module = seep_modules_ref(address - 1, &bias);
    if (!seep_os_lock(&seep_arena.lock))
        return false;
    uint32_t frame = seep_intern_frame(SEEP_FRAME_NATIVE, module, address - 1 - bias);
    struct met *met = frame ? look_up(address, 0) : NULL;
    if (met) {
        met->frame = frame;
        met->marks = 0;
        enter(met, address, 0);
    }
    seep_os_unlock(&seep_arena.lock);
    return met != NULL;
}

/* Outermost in, beginning with the nodes of the stack before that are in this one too. 0: it does
 * not fit, but the marks are those of the whole stack. */
static uint32_t intern_python(struct seep_thread *thread, unsigned n, uint32_t *marks)
{
    const struct seep_pyframe *now = thread->python + n;
    struct seep_pyframe *last = thread->last_python;
    unsigned depth = 0; /* 0 is the outermost */
    while (depth < n && depth < thread->n_last_python &&
           last[depth].code == now[-1 - (int)depth].code &&
           last[depth].position == now[-1 - (int)depth].position &&
           thread->last_glances[depth] == seep_python_glance(last[depth].code))
        depth++;
    uint32_t stack = depth ? thread->last_nodes[depth - 1] : 0;
    *marks = depth ? thread->last_marks[depth - 1] : 0;
    thread->n_last_python = depth;
    bool fits = true;
    for (; depth < n; depth++) {
        uint32_t frame;
        fits = python_frame(&now[-1 - (int)depth], marks, &frame) && fits;
        if (!fits || !frame)
            continue;
        stack = seep_intern_stack(stack, frame);
        fits = stack != 0;
        if (fits && thread->n_last_python == depth) {
            last[depth] = now[-1 - (int)depth];
            thread->last_glances[depth] = seep_python_glance(last[depth].code);
            thread->last_nodes[depth] = stack;
            thread->last_marks[depth] = *marks;
            thread->n_last_python = depth + 1;
        }
    }
    return fits ? stack : 0;
}

/* 0: it does not fit. `*unknown` is the index of a native frame not met before: the caller has it
 * made and tries again; n_native when there is none. With `no_room` there is no making it. */
static uint32_t intern(struct seep_thread *thread, unsigned n_native, unsigned n_python,
                       uint32_t *marks, bool no_room, unsigned *unknown)
{
    uint32_t frames[SEEP_MAX_NATIVE_FRAMES];
    *unknown = n_native;
    for (unsigned i = 0; i < n_native; i++) {
        const struct met *met = look_up(thread->native[i], 0);
        frames[i] = met && met->where ? met->frame : 0;
        if (met && !met->where && !no_room) {
            *unknown = i;
            return 0;
        }
    }
    uint32_t stack = intern_python(thread, n_python, marks);
    if (n_python && !stack)
        return 0;
    if (no_room && !(*marks & SEEP_MARK_IMPORT))
        return 0;
    /* What libraries do while they are imported, operator by operator, is of no interest beyond its
     * Python line; with native frames it would be most of all stacks. */
    if (*marks & SEEP_MARK_IMPORT)
        n_native = 0;
    for (unsigned i = n_native; i-- > 0;)
        if (frames[i] && !(stack = seep_intern_stack(stack, frames[i])))
            return 0;
    return stack;
}

static uint32_t intern_locked(struct seep_thread *thread, unsigned n_native, unsigned n_python,
                              uint32_t *marks)
{
    uint32_t stack = 0;
    unsigned unknown = 0;
    bool no_room = false;
    for (unsigned tries = 0; tries <= n_native; tries++) {
        if (!seep_os_lock(&seep_arena.lock))
            return 0;
        stack = intern(thread, n_native, n_python, marks, no_room, &unknown);
        seep_os_unlock(&seep_arena.lock);
        if (unknown == n_native)
            break;
        no_room = !native_frame_make(thread->native[unknown]);
    }
    return stack;
}

/* Nobody trains while a library is imported: what looks like a step there is a decorator at work.
 */
static uint32_t marks_of_training(uint32_t marks)
{
    return marks & SEEP_MARK_IMPORT ? 0 : marks & SEEP_MARKS_OF_TRAINING;
}

static void forget_traces(struct seep_thread *thread)
{
    thread->generation = __atomic_load_n(&seep_threads_generation, __ATOMIC_ACQUIRE);
    memset(thread->traces, 0, (thread->trace_mask + 1) * sizeof(*thread->traces));
    thread->n_last_python = 0;
}

/* Empty at first: what is needed comes back. */
static void grow_traces(struct seep_thread *thread)
{
    uint32_t sets = (thread->trace_mask + 1) * 2;
    struct seep_trace(*fresh)[SEEP_TRACE_WAYS] = seep_os_pages(sets * sizeof(*fresh));
    if (!fresh)
        return;
    void *old = thread->traces;
    size_t old_bytes = (thread->trace_mask + 1) * sizeof(*thread->traces);
    __atomic_store_n(&thread->traces, fresh, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->trace_mask, sets - 1, __ATOMIC_RELEASE);
    seep_os_unmap(old, old_bytes);
}

static inline struct seep_trace *trace_set(struct seep_thread *thread, uint64_t hash)
{
    return thread->traces[(uint32_t)(hash >> 24) & thread->trace_mask];
}

static void remember_trace(struct seep_thread *thread, uint64_t hash, uint32_t site, uint32_t marks)
{
    /* Slowly: a start-up meets each stack once, and a small table stays in the processor's cache.
     */
    if (++thread->trace_misses > 64 * thread->trace_mask &&
        thread->trace_mask + 1 < SEEP_MAX_TRACE_SETS) {
        thread->trace_misses = 0;
        grow_traces(thread);
    }
    struct seep_trace *set = trace_set(thread, hash);
    memmove(set + 1, set, (SEEP_TRACE_WAYS - 1) * sizeof(*set));
    set[0] = (struct seep_trace){.hash = hash, .site = site, .marks = marks};
}

static __attribute__((noinline)) uint32_t capture_new(struct seep_thread *thread, unsigned n_native,
                                                      unsigned n_python, unsigned space,
                                                      uint64_t hash)
{
    uint32_t marks = thread->marks; /* if there is no telling, it stays as it was */
    uint32_t stack = intern_locked(thread, n_native, n_python, &marks);
    marks = marks_of_training(marks);
    uint32_t site = seep_site_find(&thread->sites, stack, space);
    /* Without a site of its own because of what may pass: it is tried again. */
    if (site && (!seep_site_is_shared(seep_site_at(site)) || seep_arena.full))
        remember_trace(thread, hash, site, marks);
    if (marks != thread->marks)
        seep_steps_transition(thread, marks, n_python);
    return site;
}

static inline bool in_import(const struct seep_thread *thread, unsigned n_python)
{
    return n_python && thread->python[0].code == seep_steps_importer && seep_steps_importer;
}

static inline uint64_t hash_python(const struct seep_pyframe *frames, unsigned n)
{
    uint64_t sum = n;
    for (unsigned i = 0; i < n; i++) {
        sum += (frames[i].code + seep_python_glance(frames[i].code)) * seep_hash_keys[2 * i];
        sum += frames[i].position * seep_hash_keys[2 * i + 1];
    }
    return seep_hash_finish(sum);
}
_Static_assert(2 * SEEP_MAX_PYTHON_FRAMES <= SEEP_HASH_KEYS, "a key a word");

static inline const struct seep_trace *find_trace(struct seep_thread *thread, uint64_t hash)
{
    const struct seep_trace *trace = trace_set(thread, hash);
    for (unsigned way = 0; way < SEEP_TRACE_WAYS; way++)
        if (trace[way].hash == hash)
            return &trace[way];
    return NULL;
}

static inline uint64_t join(uint64_t python, uint64_t native, unsigned space)
{
    return (seep_hash_finish(python * 3 + native * 5) + space) | (uint64_t)1 << 63;
}

uint32_t seep_capture(struct seep_thread *thread, const struct seep_regs *regs, unsigned space)
{
    unsigned n_python = 0, n_native = 0;
    uint64_t python = 0, native = 0;
    const struct seep_trace *trace = NULL;
    if (__builtin_expect(seep_arena.counting, 0))
        return seep_site_find(&thread->sites, 0, space);
    if (seep_python_ready) {
        n_python = seep_python_walk(thread->python, SEEP_MAX_PYTHON_FRAMES);
        python = hash_python(thread->python, n_python);
    }
    thread->walk.context = (uint32_t)python;
    if (__builtin_expect(thread->generation != seep_threads_generation, 0))
        forget_traces(thread);
    bool import = in_import(thread, n_python);
    if (import)
        trace = find_trace(thread, join(python, 0, space));
    for (unsigned way = 0; way < SEEP_SHAPE_WAYS && !trace && !import; way++)
        if (seep_walk_guess(&thread->walk, regs, n_python != 0, way, &native))
            trace = find_trace(thread, join(python, native, space));
    if (__builtin_expect(!trace, 0)) {
        native = 0;
        if (!import)
            n_native = seep_walk_native(&thread->walk, regs, n_python != 0, thread->native,
                                        SEEP_MAX_NATIVE_FRAMES, &native);
        trace = find_trace(thread, join(python, native, space));
        if (!trace)
            return capture_new(thread, n_native, n_python, space, join(python, native, space));
    }
    if (__builtin_expect(trace->marks != thread->marks, 0))
        seep_steps_transition(thread, trace->marks, n_python);
    return trace->site;
}

/* Marks by the hash of the Python stack, in the trace table: space numbers end below this. */
enum { GLANCE = 255 };

void seep_capture_glance(struct seep_thread *thread)
{
    if (!seep_python_ready || !seep_modules_torch)
        return;
    unsigned n = seep_python_walk(thread->python, SEEP_MAX_PYTHON_FRAMES);
    uint64_t hash = join(hash_python(thread->python, n), 0, GLANCE);
    const struct seep_trace *trace = find_trace(thread, hash);
    uint32_t marks = 0;
    if (trace) {
        marks = trace->marks;
    } else {
        if (!seep_os_lock(&seep_arena.lock))
            return;
        (void)intern_python(thread, n, &marks);
        seep_os_unlock(&seep_arena.lock);
        marks = marks_of_training(marks);
        remember_trace(thread, hash, 0, marks);
    }
    if (marks != thread->marks)
        seep_steps_transition(thread, marks, n);
}

void seep_capture_after_fork(void)
{
    /* A rebuild of the table may have been cut by the fork: start again where it might be torn. */
    table = NULL;
    table_mask = 0;
    n_met = 0;
}

void seep_capture_forget(void)
{
    if (!seep_os_lock(&seep_arena.lock))
        return;
    if (table)
        memset(table, 0, ((size_t)table_mask + 1) * sizeof(*table));
    n_met = 0;
    seep_os_unlock(&seep_arena.lock);
}
