/* Training steps and epochs, seen without changes to the job or code of ours in its Python.
 *
 * PyTorch wraps the step() of every optimizer in a function of torch/optim/optimizer.py, and
 * allocates in it (record_function does, with or without a profiler). So the stacks of allocations
 * show the end of a step: a thread that was inside that function allocates outside it. A
 * DataLoader's new iteration and its requests for batches show in the same way. Calls of
 * seep_step() in seep.h take precedence. preload/steps/choice.h decides which are counted. */
#ifndef SEEP_PRELOAD_RECORD_STEPS_H
#define SEEP_PRELOAD_RECORD_STEPS_H

#include "preload/record/thread.h"
#include "preload/steps/code_marks.h"

/* The marks of the calling thread's stack differ from the previous ones, or a loader's sampler is
 * running. */
void seep_steps_transition(struct seep_thread *thread, uint32_t marks);

/* The job has reported, through seep.h or an NVTX mark, that a step has ended; or that an epoch has
 * ended or begins. */
void seep_steps_user_step(struct seep_thread *thread, enum seep_step_source by);
void seep_steps_epoch_told(void);

/* Whether iterations of the job's main loop would be its steps; see seep_choice_wants_loop(). The
 * thread is the process's first. */
bool seep_steps_want_loop(struct seep_thread *thread, uint64_t now_ns, bool *beside_rounds);
/* Whether iterations of the main loop are counted. */
bool seep_steps_by_loop(void);

uint32_t seep_steps_rounds(void);

struct seep_loop;

/* The main loop has ended `rounds` iterations. `found`: it is a newly found loop, and these are all
 * its known iterations, since `since_period`. */
struct seep_looped {
    uint32_t frame;    /* that contains the loop, … */
    unsigned n_frames; /* … the innermost of this many outermost ones */
    uint32_t rounds, since_period;
    bool found;
    uint64_t since_ns;              /* found only, as is … */
    const struct seep_loop *around; /* … the loop around it, whose rounds are laps; code 0: none */
};
void seep_steps_looped(struct seep_thread *thread, const struct seep_looped *looped);

/* The same where no stack is known, and of a loop known before. */
void seep_steps_looped_unseen(const struct seep_looped *looped);

/* The loop around it, in `frame`, has gone on by `n` laps, most of which no step may have shown. */
void seep_steps_laps_unseen(const struct seep_pyloop *around, uint32_t n, uint32_t frame);

/* After a training nothing may show but time: called now and then. */
void seep_steps_pass_time(struct seep_thread *thread);

/* In a forked child: nobody holds the lock. */
void seep_steps_after_fork(void);
struct seep_lock *seep_steps_lock(void);

#endif
