/* From what is met on a stack, a return address or a place in Python code, to the ref of its frame
 * in the profile, and to what its code is to the recording.
 *
 * The caller holds seep_arena.lock, where nothing else is said. */
#ifndef SEEP_PRELOAD_RECORD_FRAMES_H
#define SEEP_PRELOAD_RECORD_FRAMES_H

#include "preload/python/pyframe.h"

/* The ref of a frame that is on the calling thread's stack now, 0 where it cannot be described, and
 * its code's marks (SEEP_MARK_…). False: no room, only the marks are right. */
bool seep_frames_python(const struct seep_pyframe *frame, uint64_t glance, uint32_t *marks,
                        uint32_t *ref);

/* The marks of a code object that has been met, else 0. */
uint32_t seep_frames_code_marks(uintptr_t code);

/* Whether a code object has one of these marks of a training. Needs no lock. */
bool seep_frames_is_marked(uintptr_t code, uint32_t marks);

/* The code object from which the import system calls the initialisers of extension modules; 0: not
 * met yet. Below it native frames are left out: they are run once, and there are hundreds of
 * thousands. */
extern uintptr_t seep_frames_importer;

/* The ref of the frame that returns to `address`, 0: no room. False: it was not met yet. */
bool seep_frames_native(uintptr_t address, uint32_t *ref);

/* Makes that frame; called without the lock, for the module list must not be asked for under it.
 * 0: no room. */
uint32_t seep_frames_native_make(uintptr_t address);

void seep_frames_after_fork(void);

/* Code has been unloaded. Takes the lock. */
void seep_frames_forget(void);

#endif
