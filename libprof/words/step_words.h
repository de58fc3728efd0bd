/* Words about steps that several rooms need. */
#ifndef SEEP_LIBPROF_WORDS_STEP_WORDS_H
#define SEEP_LIBPROF_WORDS_STEP_WORDS_H

#include <stdbool.h>

/* The source of steps that every reader expects: texts do not repeat it. */
#define SEEP_WHY_OPTIMIZER_TEXT "a PyTorch optimizer steps"

/* The name of a step; `timed`: steps are slices of time. */
static inline const char *seep_step_unit(bool timed)
{
    return timed ? "time slice" : "step";
}

#endif
