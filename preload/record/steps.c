#include "preload/record/steps.h"

#include <string.h>

#include "preload/record/job.h"
#include "preload/record/life_calls.h"
#include "preload/record/snapshot_calls.h"
#include "preload/record/tick.h"

enum { MAX_MARKED = 64 };

static struct {
    uintptr_t code;
    uint32_t marks;
} marked[MAX_MARKED];
static uint32_t n_marked;
uintptr_t seep_steps_importer;
static struct seep_lock lock;

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

/* Whose step, or whose iteration, it is: the first local of the outermost frame with that mark. */
static uintptr_t owner(const struct seep_thread *thread, unsigned n_python, uint32_t mark)
{
    uint32_t n = __atomic_load_n(&n_marked, __ATOMIC_ACQUIRE);
    for (unsigned depth = n_python; depth-- > 0;)
        for (uint32_t i = 0; i < n; i++)
            if (marked[i].code == thread->python[depth].code && (marked[i].marks & mark))
                return seep_python_first_local(depth);
    return 0;
}

/* A job with several optimizers (a GAN) makes one step when the leading one does: the first that
 * stepped, until another steps twice and the leader not at all. */
static uintptr_t leader, last_other;

static bool leads(uintptr_t optimizer)
{
    if (!leader || optimizer == leader || optimizer == last_other) {
        leader = optimizer;
        last_other = 0;
        return true;
    }
    last_other = optimizer;
    return false;
}

/* An iteration of a DataLoader is an epoch once a step follows it, and its loader is the one that
 * feeds training: validation loaders see no steps, or only those of the epoch they interrupt. */
static struct {
    uintptr_t loader;
    bool pending;
    uint64_t t_ns;
    uint32_t period;
    uintptr_t training_loader, last_other;
} epoch;

static void confirm_epoch(void)
{
    if (!epoch.pending)
        return;
    epoch.pending = false;
    uintptr_t loader = epoch.loader;
    if (epoch.training_loader && loader != epoch.training_loader &&
        (loader == epoch.last_other || !epoch.last_other)) {
        epoch.last_other = loader;
        return;
    }
    epoch.training_loader = loader;
    epoch.last_other = 0;
    seep_process->epochs++;
    struct seep_header *header = seep_arena.header;
    if (header && header->n_epochs < SEEP_EPOCH_MARKS) {
        struct seep_epoch_mark *mark = &header->epochs[header->n_epochs];
        mark->t_ns = epoch.t_ns;
        mark->period = epoch.period;
        __atomic_store_n(&header->n_epochs, header->n_epochs + 1, __ATOMIC_RELEASE);
    }
}

/* `optimizer`: whose step it was; 0: not an optimizer's. False: it does not count. */
static bool step_ended(enum seep_step_source source, uintptr_t optimizer)
{
    if (!seep_os_lock(&lock))
        return false;
    bool counts = source != SEEP_STEP_OPTIMIZER || leads(optimizer);
    if (counts) {
        if (!seep_process->steps)
            seep_start_resolve_rank();
        confirm_epoch();
        seep_job_step(source);
    }
    seep_os_unlock(&lock);
    return counts;
}

static void iteration_began(uintptr_t loader)
{
    if (!seep_os_lock(&lock))
        return;
    epoch.loader = loader;
    epoch.t_ns = seep_os_clock_ns(CLOCK_MONOTONIC);
    epoch.period = *seep_period;
    epoch.pending = true;
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

void seep_steps_transition(struct seep_thread *thread, uint32_t marks, unsigned n_python)
{
    uint32_t before = thread->marks;
    thread->marks = marks;
    if ((marks & ~before) & SEEP_MARK_STEP)
        thread->mark_object = owner(thread, n_python, SEEP_MARK_STEP);
    if ((marks & ~before) & SEEP_MARK_ITER)
        iteration_began(owner(thread, n_python, SEEP_MARK_ITER));
    if ((before & ~marks) & SEEP_MARK_STEP)
        __atomic_fetch_add(&seep_process->optimizer_calls, 1, __ATOMIC_RELAXED);
    if (((before & ~marks) & SEEP_MARK_STEP) &&
        step_ended(SEEP_STEP_OPTIMIZER, thread->mark_object))
        look_around(thread);
}

void seep_steps_told(struct seep_thread *thread)
{
    (void)step_ended(SEEP_STEP_API, 0);
    look_around(thread);
}

/* A job that tells of an epoch's end for the first time has had a first epoch, from its first step
 * on; one that tells of beginnings does so before it. */
static void begin_first_epoch(void)
{
    if (!seep_os_lock(&lock))
        return;
    if (!seep_process->epochs && seep_process->steps && !epoch.pending) {
        epoch.loader = 1;
        epoch.t_ns = seep_process->start_ns;
        epoch.period = seep_process->first_step_period;
        epoch.pending = true;
        confirm_epoch();
    }
    seep_os_unlock(&lock);
}

void seep_steps_epoch_told(void)
{
    begin_first_epoch();
    iteration_began(1);
}

void seep_steps_after_fork(void)
{
    lock.word = 0;
}

struct seep_lock *seep_steps_lock(void)
{
    return &lock;
}
