/* Training steps and epochs, seen without a change to the job and without code of ours in its
 * Python.
 *
 * PyTorch wraps the step() of every optimizer in a function of torch/optim/optimizer.py, and
 * allocates in it (record_function does, profiler or not). So the stacks of allocations tell: a
 * step has ended when a thread that was inside of that function allocates outside of it. A
 * DataLoader's new iteration shows in the same way. seep_step() in seep.h, once called, takes
 * precedence. */
#ifndef SEEP_PRELOAD_RECORD_STEPS_H
#define SEEP_PRELOAD_RECORD_STEPS_H

#include "preload/python/pyframe.h"
#include "preload/record/code_marks.h"
#include "preload/record/thread.h"

/* SEEP_MARK_… of a code object. Remembers marked ones for seep_steps_transition(). */
uint32_t seep_steps_marks(uintptr_t code, const struct seep_pycode_info *info);

/* The code object from which the import system calls the initialisers of extension modules; 0: not
 * met yet. Below it native frames are left out: they are run once, and there are hundreds of
 * thousands. */
extern uintptr_t seep_steps_importer;

/* The marks of the calling thread's stack, thread->python[0 … n_python), differ from those before.
 */
void seep_steps_transition(struct seep_thread *thread, uint32_t marks, unsigned n_python);

/* The job has told, by seep.h, that a step has ended; that an epoch has, or begins. */
void seep_steps_told(struct seep_thread *thread);
void seep_steps_epoch_told(void);

/* In a forked child: nobody holds the lock. */
void seep_steps_after_fork(void);
struct seep_lock *seep_steps_lock(void);

#endif
