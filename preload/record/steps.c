#include "preload/record/steps.h"

#include <string.h>

#include "libprof/runtime/store/placement.h"
#include "preload/job/job.h"
#include "preload/record/frames.h"
#include "preload/record/tick.h"
#include "preload/record/upcalls.h"
#include "preload/steps/choice.h"
#include "preload/steps/laps.h"
#include "preload/steps/loops.h"
#include "preload/steps/passes.h"
#include "preload/steps/rounds.h"

static struct seep_lock lock;

/* How often the outermost loop is read where only that is needed: it hardly ever changes. And after
 * which pause it is looked for again. */
static const uint64_t outermost_gap_ns = 20 * 1000 * 1000, quiet_ns = 100 * 1000 * 1000;
enum { MAX_SLICES = 600 }; /* a minute without an event */

/* Guarded by the lock. */
static struct seep_choice choice;
static SEEP_LARGE struct seep_rounds rounds;
static struct seep_passes passes;
static struct seep_laps laps;
static uint64_t slice_ns; /* when the last time slice after a training ended; 0: there is none */
static bool epochs_told;
static uint32_t first_round_period; /* in which the first round of optimizers ended */
static struct {
    bool waits; /* for the step that makes it an epoch; passes of loaders are none then */
    uint32_t period;
    uint64_t t_ns;
} told_epoch;                          /* the last one */
static struct seep_lap_loops stepping; /* the loops around the optimizer's last step to begin */
static struct seep_pyloop outermost;   /* of the first thread's, path 0: none is known */

/* How many frames are outside the outermost one with that mark; all if there is none. */
static unsigned outside(const struct seep_thread *thread, uint32_t mark)
{
    unsigned n = 0;
    while (n < thread->stack.n &&
           !seep_frames_is_marked(thread->python[thread->stack.n - 1 - n].code, mark))
        n++;
    return n;
}

/* The object whose step, iteration or batch it is: the first local of the calling thread's
 * outermost frame with that mark. */
static uintptr_t owner(const struct seep_thread *thread, uint32_t mark)
{
    const unsigned n_outside = outside(thread, mark);
    return n_outside < thread->stack.n ? seep_python_first_local(thread->stack.n - 1 - n_outside)
                                       : 0;
}

/* ---- epochs ---------------------------------------------------------------------------------- */

static void forget_epochs(void)
{
    seep_process->epochs = 0;
    seep_process->epoch_source = SEEP_EPOCHS_UNKNOWN;
    seep_process->epoch_frame = 0;
    if (seep_arena.header)
        __atomic_store_n(&seep_arena.header->n_epochs, 0, __ATOMIC_RELEASE);
}

static void count_epoch(enum seep_epoch_source source, uint64_t t_ns, uint32_t period)
{
    if (source != seep_process->epoch_source && seep_process->epoch_source == SEEP_EPOCHS_LOOP)
        forget_epochs();
    struct seep_header *header = seep_arena.header;
    seep_process->epoch_source = source;
    seep_process->epochs++;
    if (!header || header->n_epochs >= SEEP_EPOCH_MARKS)
        return;
    struct seep_epoch_mark *mark = &header->epochs[header->n_epochs];
    mark->t_ns = t_ns;
    mark->period = period;
    __atomic_store_n(&header->n_epochs, header->n_epochs + 1, __ATOMIC_RELEASE);
}

/* A step of the training has ended, whether or not such steps are counted. */
static void feed(void)
{
    const struct seep_pass *pass = seep_passes_fed(&passes);
    if (!epochs_told && pass)
        count_epoch(SEEP_EPOCHS_LOADER, pass->t_ns, pass->period);
    if (told_epoch.waits)
        count_epoch(SEEP_EPOCHS_TOLD, told_epoch.t_ns, told_epoch.period);
    told_epoch.waits = false;
}

/* What looked like mere batches is a training: passes before its first step were something else,
 * but an epoch that was told has begun. */
static void forget_passes(void)
{
    forget_epochs();
    told_epoch.waits = epochs_told;
    seep_passes_restart(&passes);
}

/* Epochs are known from something better than loops. */
static bool are_epochs_known(void)
{
    return epochs_told || __atomic_load_n(&passes.newest, __ATOMIC_RELAXED);
}

/* The loops of the `n_frames` outermost frames. Without the lock. */
static void read_loops(struct seep_thread *thread, unsigned n_frames, struct seep_lap_loops *loops)
{
    loops->n = seep_python_loops(&thread->stack, n_frames, thread->loop_memo, loops->loops);
}

/* Whether the loops around the optimizer's last step have all ended, that is the outermost one. */
static bool is_loop_left(struct seep_thread *thread)
{
    struct seep_lap_loops now;

    if (!outermost.path)
        return false;
    seep_python_follow(&thread->stack);
    read_loops(thread, thread->stack.n, &now);
    for (unsigned i = 0; i < now.n; i++)
        if (now.loops[i].path == outermost.path && now.loops[i].iterator == outermost.iterator)
            return false;
    return true;
}

/* The ref of the frame that contains the loop; 0 if it is gone. */
static uint32_t frame_of(const struct seep_pystack *stack, const struct seep_pyloop *loop)
{
    const unsigned at = SEEP_MAX_PYTHON_FRAMES - 1 - loop->depth;
    uint32_t marks, ref = 0;
    if (loop->depth >= stack->n || stack->frames[at].code != loop->code)
        return 0;
    if (seep_os_lock(&seep_arena.lock)) {
        (void)seep_frames_python(&stack->frames[at], stack->links[at].code_stamp, &marks, &ref);
        seep_os_unlock(&seep_arena.lock);
    }
    return ref;
}

/* A counted step made in `period` was seen inside these loops. */
static void lap(const struct seep_thread *thread, const struct seep_lap_loops *loops,
                uint32_t period)
{
    if (epochs_told || passes.newest)
        return;
    uint64_t now = seep_os_clock_ns(CLOCK_MONOTONIC);
    if (!seep_laps_stepped(&laps, loops, now, period))
        return;
    if (!seep_process->epochs)
        count_epoch(SEEP_EPOCHS_LOOP, laps.t_ns, laps.period);
    count_epoch(SEEP_EPOCHS_LOOP, now, period);
    if (!seep_process->epoch_frame)
        seep_process->epoch_frame = frame_of(&thread->stack, &laps.around);
}

/* The kind of step changes here: loops around earlier steps say nothing of the new ones. */
static void forget_laps(void)
{
    memset(&laps, 0, sizeof(laps));
    if (seep_process->epoch_source == SEEP_EPOCHS_LOOP)
        forget_epochs();
}

/* ---- steps ----------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    return seep_os_clock_ns(CLOCK_MONOTONIC);
}

static void count_step(uint32_t frame, bool anew)
{
    const bool after = seep_why_is_after(choice.why);
    const enum seep_step_source source = after ? SEEP_STEP_OPTIMIZER : choice.source;
    if (!seep_process->steps)
        seep_upcalls.resolve_rank();
    else if (anew || choice.source != seep_process->step_source)
        forget_laps();
    seep_job_step(source, choice.why, frame, anew && !after);
}

/* Each returns whether a step has ended. */
static bool optimizer_stepped(const struct seep_thread *thread, uintptr_t optimizer)
{
    if (!seep_os_lock(&lock))
        return false;
    bool counts = false;
    uint32_t period = *seep_period;
    const bool by_loop = choice.why == SEEP_WHY_LOOP;
    bool opens = seep_rounds_stepped(&rounds, optimizer);
    seep_choice_met(&choice, rounds.stranger);
    if (opens) {
        if (choice.why == SEEP_WHY_BATCHES)
            forget_passes();
        counts = seep_choice_round(&choice, now_ns());
        first_round_period = choice.n_rounds == 1 ? period : first_round_period;
        feed();
    } else {
        counts = seep_choice_joined(&choice);
    }
    counts = counts || choice.anew;
    if (counts)
        count_step(0, choice.anew);
    if (counts && by_loop)
        seep_job_count_back(choice.n_rounds, first_round_period);
    if (counts && opens)
        lap(thread, &stepping, period);
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
    if (counts && choice.why != SEEP_WHY_BATCHES_BETWEEN && !seep_why_is_after(choice.why))
        feed();
    if (counts)
        count_step(0, false);
    seep_os_unlock(&lock);
    return counts;
}

static bool step_told(enum seep_step_source by)
{
    if (!seep_os_lock(&lock))
        return false;
    const bool were_batches = choice.why == SEEP_WHY_BATCHES;
    bool counts = seep_choice_told(&choice, by);
    if (counts) {
        if (were_batches)
            forget_passes();
        feed();
        count_step(0, false);
    }
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

/* Samplers whose position shows where they begin again: others run in a loop of their own. */
static bool is_known_sampler(uintptr_t sampler)
{
    return seep_python_is_a(sampler, "RandomSampler") ||
           seep_python_is_a(sampler, "WeightedRandomSampler") ||
           seep_python_is_a(sampler, "DistributedSampler");
}

/* The innermost sampler, since samplers of batches are around it. It runs when a batch is
 * requested, or when workers get their first ones, in the loader's __iter__. */
static void sampler_seen(struct seep_thread *thread)
{
    unsigned depth = 0;
    while (depth < thread->stack.n &&
           !seep_frames_is_marked(thread->python[depth].code, SEEP_MARK_SAMPLER))
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

static void step_began(struct seep_thread *thread)
{
    static uint64_t read_ns;
    struct seep_lap_loops loops;
    const uint64_t now = now_ns();
    const bool known = are_epochs_known();
    thread->mark_object = owner(thread, SEEP_MARK_STEP);
    if (known && (!thread->first || now - read_ns < outermost_gap_ns))
        return;
    read_loops(thread, outside(thread, SEEP_MARK_STEP), &loops);
    if (!seep_os_lock(&lock))
        return;
    stepping = loops;
    if (thread->first) {
        outermost = loops.n ? loops.loops[0] : (struct seep_pyloop){0};
        read_ns = now;
    }
    seep_os_unlock(&lock);
}

/* A tick may be too soon after the last one; but a copy that is due after this step cannot wait. */
static void tick_and_look(struct seep_thread *thread)
{
    seep_tick(thread);
    seep_tick_look(thread);
}

void seep_steps_transition(struct seep_thread *thread, uint32_t marks)
{
    uint32_t before = thread->marks, begun = marks & ~before, over = before & ~marks;
    bool counts = false;
    thread->marks = marks;
    if (over & SEEP_MARK_STEP) {
        __atomic_fetch_add(&seep_process->optimizer_calls, 1, __ATOMIC_RELAXED);
        counts = optimizer_stepped(thread, thread->mark_object);
    }
    if (begun & SEEP_MARK_STEP)
        step_began(thread);
    if (begun & SEEP_MARK_ITER)
        iteration_began(owner(thread, SEEP_MARK_ITER));
    if (begun & SEEP_MARK_BATCH)
        counts = batch_asked(owner(thread, SEEP_MARK_BATCH)) || counts;
    if (marks & SEEP_MARK_SAMPLER)
        sampler_seen(thread);
    if (over & SEEP_MARK_SHARE)
        thread->shared.bytes = 0; /* a later free is of another block */
    if ((begun & SEEP_MARK_RESULT) && (marks & SEEP_MARK_POOL))
        counts = seep_job_task() || counts;
    if (counts)
        tick_and_look(thread);
}

void seep_steps_user_step(struct seep_thread *thread, enum seep_step_source by)
{
    if (step_told(by))
        tick_and_look(thread);
}

/* ---- the main loop --------------------------------------------------------------------------- */

/* Whether the optimizer's loop has been left. Without the lock. */
static bool is_training_left(struct seep_thread *thread, uint64_t now)
{
    return choice.source == SEEP_STEP_OPTIMIZER && thread->first &&
           now > choice.round_ns + quiet_ns && is_loop_left(thread);
}

bool seep_steps_want_loop(struct seep_thread *thread, uint64_t now, bool *beside_rounds)
{
    bool wants = false;
    *beside_rounds = false;
    const bool left = is_training_left(thread, now);
    if (seep_os_lock(&lock)) {
        choice.left = left;
        wants = seep_choice_wants_loop(&choice, now, beside_rounds);
        seep_os_unlock(&lock);
    }
    return wants;
}

/* Time slices since the last one was counted; not those in which the process was stopped. */
static void count_slices(uint64_t now)
{
    const uint64_t slice = SEEP_TIME_SLICE_MS * UINT64_C(1000000);
    if (!slice_ns || now > slice_ns + MAX_SLICES * slice)
        slice_ns = now;
    for (; now >= slice_ns + slice; slice_ns += slice)
        seep_job_step(SEEP_STEP_OPTIMIZER, choice.why, 0, false);
}

void seep_steps_pass_time(struct seep_thread *thread)
{
    static uint64_t next_ns;
    const uint64_t now = seep_os_clock_ns(CLOCK_MONOTONIC_COARSE);
    if (now < __atomic_load_n(&next_ns, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&next_ns, now + quiet_ns / 2, __ATOMIC_RELAXED);
    if (seep_python_ends())
        return;
    const bool left = is_training_left(thread, now);
    if ((!left && choice.why != SEEP_WHY_TIME_AFTER) || !seep_os_lock(&lock))
        return;
    choice.left = choice.left || left;
    if (seep_choice_time(&choice, now))
        count_slices(now);
    else
        slice_ns = 0;
    seep_os_unlock(&lock);
}

bool seep_steps_by_loop(void)
{
    return __atomic_load_n(&choice.source, __ATOMIC_RELAXED) == SEEP_STEP_LOOP;
}

uint32_t seep_steps_rounds(void)
{
    return __atomic_load_n(&choice.n_rounds, __ATOMIC_RELAXED);
}

/* Laps that have passed before the loop within them was noticed. */
static void count_laps_back(const struct seep_thread *thread, const struct seep_looped *looped)
{
    const struct seep_loop *around = looped->around;
    const struct seep_pyloop there = {.code = around->code, .depth = around->depth};
    if (!around->code || epochs_told || passes.newest || seep_process->epochs)
        return;
    count_epoch(SEEP_EPOCHS_LOOP, looped->since_ns, looped->since_period);
    for (uint32_t i = 0; i < around->n && i < SEEP_LOOP_MARKS; i++)
        count_epoch(SEEP_EPOCHS_LOOP, around->marks[i].t_ns, around->marks[i].period);
    seep_process->epoch_frame = frame_of(&thread->stack, &there);
    laps.known = (uint64_t)around->begin;
}

/* Iterations counted in arrears had no tick of their own, nor were the loops around them read. */
static bool count_rounds(const struct seep_thread *thread, const struct seep_looped *looped)
{
    if (looped->found)
        seep_choice_loop_found(&choice, now_ns());
    const uint32_t n = looped->found ? 1 : looped->rounds;
    bool counts = false;
    for (uint32_t i = 0; i < n; i++) {
        counts = seep_choice_loop(&choice);
        if (counts)
            count_step(looped->frame, looped->found);
    }
    if (counts && looped->found && !seep_why_is_after(choice.why)) {
        seep_job_count_back(looped->rounds, looped->since_period);
        count_laps_back(thread, looped);
    }
    return counts;
}

void seep_steps_looped(struct seep_thread *thread, const struct seep_looped *looped)
{
    struct seep_lap_loops loops = {0};
    if (!are_epochs_known())
        read_loops(thread, looped->n_frames, &loops);
    if (!seep_os_lock(&lock))
        return;
    bool counts = count_rounds(thread, looped);
    if (counts) /* the new iteration is in the period after that of the previous one */
        lap(thread, &loops, *seep_period);
    seep_os_unlock(&lock);
    if (counts)
        tick_and_look(thread);
}

void seep_steps_looped_unseen(const struct seep_looped *looped)
{
    if (!seep_os_lock(&lock))
        return;
    (void)count_rounds(seep_tls.thread, looped);
    seep_os_unlock(&lock);
}

/* The next step is the first that is seen in its lap. */
void seep_steps_laps_unseen(const struct seep_pyloop *around, uint32_t n, uint32_t frame)
{
    if (!seep_os_lock(&lock))
        return;
    n = seep_laps_unseen(&laps, around, n);
    if (n && seep_process->step_source == SEEP_STEP_LOOP && !are_epochs_known()) {
        if (!seep_process->epochs)
            count_epoch(SEEP_EPOCHS_LOOP, laps.begun ? laps.t_ns : seep_process->start_ns,
                        laps.begun ? laps.period : seep_process->first_step_period);
        for (uint32_t i = 0; i < n; i++)
            count_epoch(SEEP_EPOCHS_LOOP, now_ns(), *seep_period);
        if (!seep_process->epoch_frame)
            seep_process->epoch_frame = frame;
        laps.begun = false;
    }
    seep_os_unlock(&lock);
}

/* ---- epochs that are told of ----------------------------------------------------------------- */

/* If a job reports the end of an epoch for the first time, its first epoch began with its first
 * step; if it reports beginnings, it does so before the epoch. */
void seep_steps_epoch_told(void)
{
    if (!seep_os_lock(&lock))
        return;
    if (!epochs_told)
        forget_laps();
    if (!seep_process->epochs && seep_process->steps && !epochs_told)
        count_epoch(SEEP_EPOCHS_TOLD, seep_process->start_ns, seep_process->first_step_period);
    epochs_told = true;
    told_epoch.waits = true;
    told_epoch.t_ns = now_ns();
    told_epoch.period = *seep_period ? *seep_period : 1;
    seep_os_unlock(&lock);
}

/* Loops of a forked child are its own. */
void seep_steps_after_fork(void)
{
    lock.word = 0;
    memset(&choice, 0, sizeof(choice));
    memset(&passes, 0, sizeof(passes));
    memset(&laps, 0, sizeof(laps));
    memset(&outermost, 0, sizeof(outermost));
    memset(&told_epoch, 0, sizeof(told_epoch));
    epochs_told = false;
    if (rounds.round)
        memset(&rounds, 0, sizeof(rounds));
}

struct seep_lock *seep_steps_lock(void)
{
    return &lock;
}
