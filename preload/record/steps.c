#include "preload/record/steps.h"

#include <string.h>

#include "preload/record/job.h"
#include "preload/record/life_calls.h"
#include "preload/record/snapshot_calls.h"
#include "preload/record/tick.h"
#include "preload/steps/choice.h"
#include "preload/steps/passes.h"
#include "preload/steps/rounds.h"

enum { MAX_MARKED = 64 };

static struct {
    uintptr_t code;
    uint32_t marks;
} marked[MAX_MARKED];
static uint32_t n_marked;
uintptr_t seep_steps_importer;
static struct seep_lock lock;

/* Guarded by the lock. */
static struct seep_choice choice;
static struct seep_rounds rounds;
static struct seep_passes passes;
static bool epochs_told;

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

uint32_t seep_steps_marks(uintptr_t code, const struct seep_pycode_info *info)
{
    uint32_t marks = seep_code_marks(info);
    if (marks & SEEP_MARK_IMPORT)
        seep_steps_importer = code;
    if (marks & SEEP_MARKS_OF_TRAINING)
        remember(code, marks);
    return marks;
}

static bool is_marked(uintptr_t code, uint32_t mark)
{
    uint32_t n = __atomic_load_n(&n_marked, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; i++)
        if (marked[i].code == code && (marked[i].marks & mark))
            return true;
    return false;
}

/* Whose step, iteration or batch it is: the first local of the calling thread's outermost frame
 * with that mark. */
static uintptr_t owner(const struct seep_thread *thread, uint32_t mark)
{
    for (unsigned depth = thread->stack.n; depth-- > 0;)
        if (is_marked(thread->python[depth].code, mark))
            return seep_python_first_local(depth);
    return 0;
}

/* ---- epochs ---------------------------------------------------------------------------------- */

static void count_epoch(const struct seep_pass *pass)
{
    struct seep_header *header = seep_arena.header;
    seep_process->epochs++;
    if (!header || header->n_epochs >= SEEP_EPOCH_MARKS)
        return;
    struct seep_epoch_mark *mark = &header->epochs[header->n_epochs];
    mark->t_ns = pass->t_ns;
    mark->period = pass->period;
    __atomic_store_n(&header->n_epochs, header->n_epochs + 1, __ATOMIC_RELEASE);
}

/* A step of the training has ended, whether or not it is what is counted. */
static void feed(void)
{
    static const uintptr_t told = 1;
    if (epochs_told) {
        passes.drawn.n = 0;
        (void)seep_passes_asked(&passes, told, 0, 0);
    }
    const struct seep_pass *epoch = seep_passes_fed(&passes);
    if (epoch)
        count_epoch(epoch);
}

/* What was batches alone turns out to be a training: passes before its first step were others. */
static void forget_epochs(void)
{
    seep_process->epochs = 0;
    if (seep_arena.header)
        __atomic_store_n(&seep_arena.header->n_epochs, 0, __ATOMIC_RELEASE);
    seep_passes_restart(&passes);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    return seep_os_clock_ns(CLOCK_MONOTONIC);
}

static void count_step(uint32_t frame, bool anew)
{
    if (!seep_process->steps)
        seep_start_resolve_rank();
    seep_job_step(choice.source, choice.why, frame, anew);
}

/* Each returns whether a step has ended. */
static bool optimizer_stepped(uintptr_t optimizer)
{
    if (!seep_os_lock(&lock))
        return false;
    bool counts = false;
    bool opens = seep_rounds_stepped(&rounds, optimizer);
    seep_choice_met(&choice, rounds.stranger);
    if (opens) {
        if (choice.why == SEEP_WHY_BATCHES)
            forget_epochs();
        counts = seep_choice_round(&choice, now_ns());
        feed();
    } else {
        counts = seep_choice_joined(&choice);
    }
    counts = counts || choice.anew;
    if (counts)
        count_step(0, choice.anew);
    seep_os_unlock(&lock);
    return counts;
}

static bool batch_asked(uintptr_t iterator)
{
    if (!seep_os_lock(&lock))
        return false;
    uint64_t now = now_ns();
    bool counts =
        seep_passes_asked(&passes, iterator, now, *seep_period) && seep_choice_batch(&choice, now);
    if (counts && choice.why != SEEP_WHY_BATCHES_BETWEEN)
        feed();
    if (counts)
        count_step(0, false);
    seep_os_unlock(&lock);
    return counts;
}

static bool step_told(void)
{
    if (!seep_os_lock(&lock))
        return false;
    bool counts = seep_choice_told(&choice);
    feed();
    count_step(0, false);
    seep_os_unlock(&lock);
    return counts;
}

static void iteration_began(uintptr_t loader)
{
    if (!seep_os_lock(&lock))
        return;
    seep_passes_began(&passes, loader, now_ns(), *seep_period);
    seep_os_unlock(&lock);
}

/* Samplers whose places tell where they begin anew: others run in a loop of their own. */
static bool is_known_sampler(uintptr_t sampler)
{
    return seep_python_is_a(sampler, "RandomSampler") ||
           seep_python_is_a(sampler, "WeightedRandomSampler") ||
           seep_python_is_a(sampler, "DistributedSampler");
}

/* The innermost, for samplers of batches are around it. It is asked as a batch is, or as workers
 * are given their first, within the loader's __iter__. */
static void sampler_seen(struct seep_thread *thread)
{
    unsigned depth = 0;
    while (depth < thread->stack.n && !is_marked(thread->python[depth].code, SEEP_MARK_SAMPLER))
        depth++;
    if (depth == thread->stack.n || !is_known_sampler(seep_python_first_local(depth)))
        return;
    bool prepares = thread->marks & SEEP_MARK_ITER;
    uintptr_t iterator = prepares ? 0 : owner(thread, SEEP_MARK_BATCH);
    if ((!prepares && !iterator) || !seep_os_lock(&lock))
        return;
    const struct seep_pyframe *frame = &thread->python[depth];
    seep_passes_sampled(&passes, iterator, frame->code, (intptr_t)frame->position, now_ns(),
                        *seep_period);
    seep_os_unlock(&lock);
}

/* A tick may come too soon after the last one; a copy that is due after this very step may not
 * wait.
 */
static void look_around(struct seep_thread *thread)
{
    seep_tick(thread);
    seep_snapshot_look(thread);
}

void seep_steps_transition(struct seep_thread *thread, uint32_t marks)
{
    uint32_t before = thread->marks, begun = marks & ~before, over = before & ~marks;
    bool counts = false;
    thread->marks = marks;
    if (over & SEEP_MARK_STEP) {
        __atomic_fetch_add(&seep_process->optimizer_calls, 1, __ATOMIC_RELAXED);
        counts = optimizer_stepped(thread->mark_object);
    }
    if (begun & SEEP_MARK_STEP)
        thread->mark_object = owner(thread, SEEP_MARK_STEP);
    if (begun & SEEP_MARK_ITER)
        iteration_began(owner(thread, SEEP_MARK_ITER));
    if (begun & SEEP_MARK_BATCH)
        counts = batch_asked(owner(thread, SEEP_MARK_BATCH)) || counts;
    if (marks & SEEP_MARK_SAMPLER)
        sampler_seen(thread);
    if (over & SEEP_MARK_SHARE)
        thread->shared.bytes = 0; /* what is freed now is another block */
    if ((begun & SEEP_MARK_RESULT) && (marks & SEEP_MARK_POOL))
        counts = seep_job_task() || counts;
    if (counts)
        look_around(thread);
}

void seep_steps_told(struct seep_thread *thread)
{
    if (step_told())
        look_around(thread);
}

/* ---- the main loop --------------------------------------------------------------------------- */

bool seep_steps_want_loop(uint64_t now, bool *beside_rounds)
{
    bool wants = false;
    *beside_rounds = false;
    if (seep_os_lock(&lock)) {
        wants = seep_choice_wants_loop(&choice, now, beside_rounds);
        seep_os_unlock(&lock);
    }
    return wants;
}

uint32_t seep_steps_rounds(void)
{
    return __atomic_load_n(&choice.n_rounds, __ATOMIC_RELAXED);
}

void seep_steps_looped(struct seep_thread *thread, uint32_t frame, bool found)
{
    if (!seep_os_lock(&lock))
        return;
    if (found)
        seep_choice_loop_found(&choice);
    bool counts = seep_choice_loop(&choice);
    if (counts)
        count_step(frame, found);
    seep_os_unlock(&lock);
    if (counts)
        look_around(thread);
}

/* ---- epochs that are told of ----------------------------------------------------------------- */

/* A job that tells of an epoch's end for the first time has had a first epoch, from its first step
 * on; one that tells of beginnings does so before it. */
void seep_steps_epoch_told(void)
{
    if (!seep_os_lock(&lock))
        return;
    if (!seep_process->epochs && seep_process->steps && !epochs_told)
        count_epoch(&(struct seep_pass){.t_ns = seep_process->start_ns,
                                        .period = seep_process->first_step_period});
    epochs_told = true;
    seep_passes_began(&passes, 1, now_ns(), *seep_period);
    seep_os_unlock(&lock);
}

/* What it repeats is its own. */
void seep_steps_after_fork(void)
{
    lock.word = 0;
    memset(&choice, 0, sizeof(choice));
    memset(&passes, 0, sizeof(passes));
    if (rounds.round)
        memset(&rounds, 0, sizeof(rounds));
    epochs_told = false;
}

struct seep_lock *seep_steps_lock(void)
{
    return &lock;
}
