/* Words of a report about steps that more than one room has to know. */
#ifndef SEEP_LIBPROF_WORDS_STEP_WORDS_H
#define SEEP_LIBPROF_WORDS_STEP_WORDS_H

#include <stdbool.h>
/* Why steps are what every reader expects them to be: the text does not repeat it. */
#define SEEP_WHY_OPTIMIZER_TEXT "a PyTorch optimizer steps"
/* What a step is where steps are slices of time. */
#define SEEP_TIME_SLICE_TEXT "time slice"

static inline const char *seep_step_unit(bool timed)
{
    return timed ? SEEP_TIME_SLICE_TEXT : "step";
}
#endif
