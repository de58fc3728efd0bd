/* From what a stack contains, a return address or a place in Python code, to the ref of its frame
 * in the profile, and to the marks of its code.
 *
 * The caller holds seep_arena.lock unless noted. */
#ifndef SEEP_PRELOAD_RECORD_FRAMES_H
#define SEEP_PRELOAD_RECORD_FRAMES_H

#include "preload/python/pyframe.h"

/* The ref of a frame that is on the calling thread's stack now, 0 if it cannot be described, and
 * its code's marks (SEEP_MARK_…). False: no room; only the marks are right. */
bool seep_frames_python(const struct seep_pyframe *frame, uint64_t code_stamp, uint32_t *marks,
                        uint32_t *ref);

/* The marks of a code object that was seen before, else 0. */
uint32_t seep_frames_code_marks(uintptr_t code);

/* Whether a code object has one of these marks of a training. Needs no lock. */
bool seep_frames_is_marked(uintptr_t code, uint32_t marks);

/* The code object from which the import system calls the initialisers of extension modules; 0: not
 * seen yet. Native frames below it are left out: each runs once, and there are hundreds of
 * thousands. */
extern uintptr_t seep_frames_importer;

/* The ref of the frame that returns to `address`; 0: no room. False: it was not seen before. */
bool seep_frames_native(uintptr_t address, uint32_t *ref);

/* Makes that frame. Call it without the lock, because the module list must not be asked for under
 * the lock. 0: no room. */
uint32_t seep_frames_native_make(uintptr_t address);

void seep_frames_after_fork(void);

/* Code has been unloaded. Takes the lock. */
void seep_frames_forget(void);

#endif
