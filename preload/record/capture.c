#include "preload/record/capture.h"

#include <string.h>

#include "libprof/runtime/store/intern.h"
#include "preload/objects/modules.h"
#include "preload/record/frames.h"
#include "preload/record/steps.h"

static uint32_t n_forks; /* forks between the program's start and this process */

/* The marks of a stack, from the marks of its outer frames and of the innermost frame's code. */
static uint32_t marks_of_stack(uint32_t outer, uint32_t code)
{
    uint32_t marks = outer | (code & SEEP_MARKS_OF_TRAINING);
    if (code & SEEP_MARK_IMPORT)
        return marks | SEEP_MARK_IMPORT;
    return code & SEEP_MARK_LIBRARY ? marks : marks & ~(uint32_t)SEEP_MARK_IMPORT;
}

/* Whether an event outside the frame separates two runs of it: the import system creates a lock for
 * each module (which takes no memory from 3.14 on), and reads the module's file. */
static bool runs_once(uint32_t code_marks, uint32_t outer_marks)
{
    if (code_marks & SEEP_MARK_MODULE)
        return outer_marks & SEEP_MARK_IMPORT;
    return code_marks & SEEP_MARK_IMPORT && outer_marks & SEEP_MARK_LOAD &&
           seep_python_version < 0x030e0000;
}

/* The frame at `depth` runs once. From 3.14 on a loader that has the module's code already makes no
 * event before it runs it again, so whoever imports it is still looked at. */
static void seal(struct seep_pystack *stack, unsigned depth)
{
    const struct seep_pyframe *const outermost = stack->frames + SEEP_MAX_PYTHON_FRAMES - 1;
    unsigned end = depth;

    if (seep_python_version >= 0x030e0000)
        while (end && !(seep_frames_code_marks(outermost[-(int)end--].code) & SEEP_MARK_FIND))
            ;
    seep_pystack_seal(stack, depth, end);
}

/* Outermost first, starting with the nodes that this stack shares with the previous one. 0: it does
 * not fit, but the marks are those of the whole stack. */
static uint32_t intern_python(struct seep_thread *thread, uint32_t *marks)
{
    const unsigned n = thread->stack.n;
    unsigned depth = thread->n_last_python; /* 0 is the outermost */
    if (depth > thread->stack.n_kept)
        depth = thread->stack.n_kept;
    uint32_t stack = depth ? thread->last_nodes[depth - 1] : 0, outer_marks = 0;
    *marks = depth ? thread->last_marks[depth - 1] : 0;
    if (depth)
        outer_marks =
            seep_frames_code_marks(thread->stack.frames[SEEP_MAX_PYTHON_FRAMES - depth].code);
    thread->n_last_python = depth;
    thread->stack.n_kept = n;
    bool fits = true;
    for (; depth < n; depth++) {
        const unsigned i = SEEP_MAX_PYTHON_FRAMES - 1 - depth;
        const uint64_t code_stamp = thread->stack.links[i].code_stamp;
        uint32_t frame, code_marks;
        fits =
            seep_frames_python(&thread->stack.frames[i], code_stamp, &code_marks, &frame) && fits;
        *marks = marks_of_stack(*marks, code_marks);
        if (depth && runs_once(code_marks, outer_marks))
            seal(&thread->stack, depth);
        outer_marks = code_marks;
        if (!fits || !frame)
            continue;
        stack = seep_intern_stack(stack, frame);
        fits = stack != 0;
        if (fits && thread->n_last_python == depth) {
            thread->last_nodes[depth] = stack;
            thread->last_marks[depth] = *marks;
            thread->n_last_python = depth + 1;
        }
    }
    return fits ? stack : 0;
}

/* How many of the outermost native frames are the same nodes as last time. */
static unsigned same_native(const struct seep_thread *thread, unsigned n, uint32_t base)
{
    unsigned same = 0;
    if (thread->last_native_base != base)
        return 0;
    while (same < n && same < thread->n_last_native &&
           thread->last_native[same] == thread->native[n - 1 - same])
        same++;
    return same;
}

/* False: frame `*n_refs`, counted from the outermost, is new. The caller has it made, without the
 * lock, and tries again. Otherwise `*stack` becomes the node of all frames, or 0: no room. */
static bool intern_native(struct seep_thread *thread, unsigned n, unsigned *n_refs, uint32_t *stack)
{
    unsigned depth = same_native(thread, n, *stack);
    if (*n_refs < depth)
        *n_refs = depth;
    for (; *n_refs < n; ++*n_refs) {
        if (!seep_frames_native(thread->native[n - 1 - *n_refs], &thread->native_frames[*n_refs]))
            return false;
    }
    thread->last_native_base = *stack;
    thread->n_last_native = depth;
    if (depth)
        *stack = thread->last_native_nodes[depth - 1];
    for (; depth < n; depth++) {
        uint32_t frame = thread->native_frames[depth];
        if (frame && !(*stack = seep_intern_stack(*stack, frame)))
            return true;
        thread->last_native[depth] = thread->native[n - 1 - depth];
        thread->last_native_nodes[depth] = *stack;
        thread->n_last_native = depth + 1;
    }
    return true;
}

/* What libraries do operator by operator during import does not matter beyond the Python line; with
 * native frames it would make up most of all stacks. */
static bool intern_locked(struct seep_thread *thread, unsigned n_native, uint32_t *marks,
                          unsigned *n_refs, uint32_t *stack)
{
    *stack = intern_python(thread, marks);
    if (thread->stack.n && !*stack)
        return true;
    return *marks & SEEP_MARK_IMPORT || intern_native(thread, n_native, n_refs, stack);
}

/* The node of the calling stack; 0: no room. */
static uint32_t intern(struct seep_thread *thread, unsigned n_native, uint32_t *marks)
{
    uint32_t stack = 0;
    unsigned n_refs = 0;
    if (thread->last_forks != n_forks) {
        thread->last_forks = n_forks;
        thread->n_last_native = 0;
    }
    for (;;) {
        if (!seep_os_lock(&seep_arena.lock))
            return 0;
        bool done = intern_locked(thread, n_native, marks, &n_refs, &stack);
        seep_os_unlock(&seep_arena.lock);
        if (done)
            return stack;
        uint32_t frame = seep_frames_native_make(thread->native[n_native - 1 - n_refs]);
        if (!frame)
            return 0;
        thread->native_frames[n_refs++] = frame;
    }
}

/* Nobody trains while a library is imported: a step seen there is only a decorator being
 * applied. */
static uint32_t marks_of_training(uint32_t marks)
{
    return marks & SEEP_MARK_IMPORT ? 0 : marks & SEEP_MARKS_OF_TRAINING;
}

static void forget_traces(struct seep_thread *thread)
{
    thread->generation = __atomic_load_n(&seep_threads_generation, __ATOMIC_ACQUIRE);
    seep_os_clear(thread->traces, (thread->trace_mask + 1) * sizeof(*thread->traces));
    thread->n_last_python = 0;
    thread->n_last_native = 0;
}

static inline struct seep_trace *trace_set(struct seep_thread *thread, uint64_t hash)
{
    return thread->traces[(uint32_t)(hash >> 24) & thread->trace_mask];
}

static void put_trace(struct seep_thread *thread, const struct seep_trace *trace)
{
    struct seep_trace *set = trace_set(thread, trace->hash);
    memmove(set + 1, set, (SEEP_TRACE_WAYS - 1) * sizeof(*set));
    set[0] = *trace;
}

static void grow_traces(struct seep_thread *thread)
{
    size_t old_sets = thread->trace_mask + 1;
    struct seep_trace(*old)[SEEP_TRACE_WAYS] = thread->traces;
    struct seep_trace(*fresh)[SEEP_TRACE_WAYS] = seep_os_table(2 * old_sets * sizeof(*fresh));
    if (!fresh)
        return;
    __atomic_store_n(&thread->traces, fresh, __ATOMIC_RELEASE); /* the larger one first */
    __atomic_store_n(&thread->trace_mask, (uint32_t)(2 * old_sets - 1), __ATOMIC_RELEASE);
    for (size_t i = 0; i < old_sets; i++)
        for (unsigned way = SEEP_TRACE_WAYS; way-- > 0;)
            if (old[i][way].hash)
                put_trace(thread, &old[i][way]);
    seep_os_unmap(old, old_sets * sizeof(*old));
}

/* A table that is small stays in the processor's cache, and at start-up each stack occurs once. But
 * finding a stack anew costs tens of times as much as finding it in the table: if that happens at
 * more than one event in 64, more stacks are in use than the table holds, so it shall grow. */
static bool missed_often(const struct seep_thread *thread, struct seep_misses *misses,
                         uint32_t n_sets)
{
    if (++misses->n <= n_sets / 8)
        return false;
    bool often = (thread->ticks - misses->ticks) / 64 < misses->n;
    *misses = (struct seep_misses){.ticks = thread->ticks};
    return often;
}

/* `met`: the trace was there before and has been evicted. */
static void remember_trace(struct seep_thread *thread, const struct seep_trace *trace, bool met)
{
    if (met && missed_often(thread, &thread->trace_misses, thread->trace_mask + 1) &&
        thread->trace_mask + 1 < SEEP_MAX_TRACE_SETS)
        grow_traces(thread);
    put_trace(thread, trace);
}

static inline const struct seep_trace *find_trace(struct seep_thread *thread, uint64_t hash)
{
    const struct seep_trace *trace = trace_set(thread, hash);
    for (unsigned way = 0; way < SEEP_TRACE_WAYS; way++)
        if (trace[way].hash == hash)
            return &trace[way];
    return NULL;
}

static inline uint64_t join(uint64_t python, uint64_t native, unsigned kind)
{
    return (seep_hash_finish(python * 3 + native * 5) + kind) | (uint64_t)1 << 63;
}

/* Sets the marks of the stack just seen. */
static inline void mark(struct seep_thread *thread, uint32_t marks)
{
    if (__builtin_expect((marks ^ thread->marks) | (marks & SEEP_MARK_SAMPLER), 0))
        seep_steps_transition(thread, marks);
}

/* Captures a stack that is not among the traces. `python` is the hash of its Python part. */
static uint32_t capture_new(struct seep_thread *thread, unsigned n_native, uint64_t python,
                            uint64_t native, unsigned kind)
{
    uint32_t marks = thread->marks; /* if they cannot be told, the marks stay as they were */
    uint32_t stack = intern(thread, n_native, &marks);
    thread->importing = marks & SEEP_MARK_IMPORT;
    if (thread->importing)
        native = 0;
    marks = marks_of_training(marks);
    uint32_t n_sites = thread->sites.index.n;
    uint32_t site = seep_site_find(&thread->sites, stack, kind);
    struct seep_trace trace = {join(python, native, kind), site, marks};
    /* If it has no site of its own for a reason that may pass, tries again next time. */
    if (site && (!seep_site_is_shared(seep_site_at(site)) || seep_arena.full))
        remember_trace(thread, &trace, thread->sites.index.n == n_sites);
    mark(thread, marks);
    return site;
}

/* Whether this is still an import's stack: then its Python part is all that matters. */
static bool still_importing(struct seep_thread *thread)
{
    uint32_t marks = 0;
    if (!seep_os_lock(&seep_arena.lock))
        return true;
    (void)intern_python(thread, &marks);
    seep_os_unlock(&seep_arena.lock);
    return marks & SEEP_MARK_IMPORT;
}

static uint32_t capture_slow(struct seep_thread *thread, const struct seep_regs *regs,
                             uint64_t python, unsigned kind, bool import)
{
    uint64_t native = 0;
    unsigned n_native = 0;
    if (!import || !still_importing(thread)) {
        n_native = seep_walk_native(&thread->walk, regs, thread->stack.n != 0, thread->native,
                                    SEEP_MAX_NATIVE_FRAMES, &native);
        const struct seep_trace *trace = find_trace(thread, join(python, native, kind));
        thread->importing = false;
        if (trace) { /* only the walk's shape had been forgotten, or is another than last time */
            if (missed_often(thread, &thread->shape_misses, thread->walk.shape_mask + 1))
                seep_walk_grow(&thread->walk);
            mark(thread, trace->marks);
            return trace->site;
        }
    }
    return capture_new(thread, n_native, python, native, kind);
}

static __attribute__((noinline)) uint32_t capture_timed(struct seep_thread *thread,
                                                        const struct seep_regs *regs,
                                                        uint64_t python, unsigned kind, bool import)
{
    const uint64_t began = seep_os_clock_ns(CLOCK_MONOTONIC);
    const uint32_t site = capture_slow(thread, regs, python, kind, import);
    seep_meter_add(&thread->meter, SEEP_COST_STACKS, seep_os_clock_ns(CLOCK_MONOTONIC) - began);
    return site;
}

static inline void follow_python(struct seep_thread *thread)
{
    seep_python_follow(&thread->stack);
    thread->python = seep_pystack_frames(&thread->stack);
    thread->in_python = thread->stack.n != 0;
}

/* There is no interpreter (any more). */
static inline void follow_no_python(struct seep_thread *thread)
{
    if (__builtin_expect(thread->in_python, 0))
        thread->stack.n = 0;
    thread->in_python = false;
}

SEEP_EACH_EVENT uint32_t seep_capture(struct seep_thread *thread, const struct seep_regs *regs,
                                      unsigned kind)
{
    uint64_t python = 0, native = 0;
    const struct seep_trace *trace = NULL;
    bool import = false;
    if (__builtin_expect(seep_arena_counting, 0))
        return seep_site_find(&thread->sites, 0, kind);
    if (seep_python_ready) {
        follow_python(thread);
        python = seep_pystack_hash(&thread->stack);
        import = thread->in_python &&
                 (thread->importing || thread->python[0].code == seep_frames_importer);
    } else {
        follow_no_python(thread);
    }
    thread->walk.context = (uint32_t)python;
    /* Plain: the job has told this thread of the code that it runs, and so of what went before. */
    if (__builtin_expect(thread->generation != seep_threads_generation, 0))
        forget_traces(thread);
    if (import)
        trace = find_trace(thread, join(python, 0, kind));
    for (unsigned guess = 0; guess < SEEP_WALK_GUESSES && !trace && !import; guess++)
        if (seep_walk_guess(&thread->walk, regs, thread->in_python, guess, &native))
            trace = find_trace(thread, join(python, native, kind));
    if (__builtin_expect(!trace, 0))
        return capture_timed(thread, regs, python, kind, import);
    __builtin_prefetch(seep_site_at(trace->site), 1);
    mark(thread, trace->marks);
    return trace->site;
}

/* Marks by the hash of the Python stack, in the trace table: no kind of site is this. */
enum { GLANCE = 255 };

void seep_capture_marks(struct seep_thread *thread)
{
    if (!seep_modules_torch && !thread->watches)
        return;
    follow_python(thread);
    if (!seep_modules_torch)
        return;
    uint64_t hash = join(seep_pystack_hash(&thread->stack), 0, GLANCE);
    const struct seep_trace *trace = find_trace(thread, hash);
    uint32_t marks = 0;
    if (trace) {
        marks = trace->marks;
    } else {
        if (!seep_os_lock(&seep_arena.lock))
            return;
        (void)intern_python(thread, &marks);
        seep_os_unlock(&seep_arena.lock);
        marks = marks_of_training(marks);
        remember_trace(thread, &(struct seep_trace){.hash = hash, .marks = marks}, false);
    }
    mark(thread, marks);
}

bool seep_capture_is_within_hook(struct seep_thread *thread, const struct seep_regs *regs)
{
    /* By the linker: where this library begins, and where its code ends. */
    extern const char start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
    extern const char end[] __asm__("etext") __attribute__((visibility("hidden")));
    enum { FRAMES = 32 };
    uintptr_t addresses[FRAMES];
    uint64_t hash;
    const unsigned n = seep_walk_native(&thread->walk, regs, false, addresses, FRAMES, &hash);
    for (unsigned i = 0; i < n; i++)
        if (addresses[i] >= (uintptr_t)start && addresses[i] < (uintptr_t)end)
            return true;
    return false;
}

void seep_capture_after_fork(void)
{
    seep_frames_after_fork();
    n_forks++;
}
