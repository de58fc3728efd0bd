/* Training steps and epochs, seen without a change to the job and without code of ours in its
 * Python.
 *
 * PyTorch wraps the step() of every optimizer in a function of torch/optim/optimizer.py, and
 * allocates in it (record_function does, profiler or not). So the stacks of allocations tell: a
 * step has ended when a thread that was inside of that function allocates outside of it. A
 * DataLoader's new iteration, and its asking for a batch, show in the same way. seep_step() in
 * seep.h, once called, takes precedence. Which of them is counted is decided in
 * preload/steps/choice.h. */
#ifndef SEEP_PRELOAD_RECORD_STEPS_H
#define SEEP_PRELOAD_RECORD_STEPS_H

#include "preload/record/thread.h"
#include "preload/steps/code_marks.h"

/* The marks of the calling thread's stack differ from those before, or it makes a loader's order.
 */
void seep_steps_transition(struct seep_thread *thread, uint32_t marks);

/* The job has told, by seep.h or an NVTX mark, that a step has ended; that an epoch has, or begins.
 */
void seep_steps_told(struct seep_thread *thread, enum seep_step_source by);
void seep_steps_epoch_told(void);

/* Whether iterations of the job's main loop would be its steps, see seep_choice_wants_loop(). How
 * many rounds of optimizers there were. */
bool seep_steps_want_loop(uint64_t now_ns, bool *beside_rounds);
/* Whether iterations of the main loop are counted. */
bool seep_steps_by_loop(void);

uint32_t seep_steps_rounds(void);

/* The main loop has ended `rounds` iterations. `found`: it is another one than before, and these
 * are all that are known of, since `since_period`. */
struct seep_looped {
    uint32_t frame;    /* in which it lies, … */
    unsigned n_frames; /* … the innermost of so many outermost ones */
    uint32_t rounds, since_period;
    bool found;
};
void seep_steps_looped(struct seep_thread *thread, const struct seep_looped *looped);

/* In a forked child: nobody holds the lock. */
void seep_steps_after_fork(void);
struct seep_lock *seep_steps_lock(void);

#endif
