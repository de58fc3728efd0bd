/* What a Python code object does, as far as the recording cares, judged by the names of its file
 * and function alone. */
#ifndef SEEP_PRELOAD_STEPS_CODE_MARKS_H
#define SEEP_PRELOAD_STEPS_CODE_MARKS_H

#include <stdint.h>

struct seep_pycode_info;

/* What a code object does, and what a stack shows: bits of seep_code_object.flags and
 * seep_trace.marks. */
enum {
    SEEP_MARK_STEP = 1,      /* an optimizer's step */
    SEEP_MARK_ITER = 2,      /* a DataLoader's new iteration */
    SEEP_MARK_IMPORT = 4,    /* code: of the import system; stack: a library is being imported */
    SEEP_MARK_LIBRARY = 8,   /* code: of the standard library or an installed package */
    SEEP_MARK_MODULE = 16,   /* code: of a module, or of a text that exec() runs */
    SEEP_MARK_LOAD = 32,     /* code: loads a module from a file for the import system */
    SEEP_MARK_BATCH = 64,    /* a DataLoader's iterator is asked for the next batch */
    SEEP_MARK_SAMPLER = 128, /* a DataLoader's sampler draws its order */
    SEEP_MARK_CALLED = 256,  /* code: called back for each item or batch */
    SEEP_MARK_POOL = 512,    /* all that a worker of a process pool does */
    SEEP_MARK_RESULT = 1024, /* something is put into a queue between processes */
    SEEP_MARK_SHARE = 2048,  /* a tensor moves to shared memory */
    SEEP_MARK_FIND = 4096,   /* code: of the import system, called by whoever imports */
    SEEP_MARKS_OF_TRAINING = SEEP_MARK_STEP | SEEP_MARK_ITER | SEEP_MARK_BATCH | SEEP_MARK_SAMPLER |
                             SEEP_MARK_POOL | SEEP_MARK_RESULT | SEEP_MARK_SHARE,
};

/* Bits SEEP_MARK_…. Separates Python's libraries from the user's code by the same rules as the
 * report (libprof/code/code_origin.c); a test keeps the two in step. */
uint32_t seep_code_marks(const struct seep_pycode_info *info);

#endif
