/* What several places say of findings, in one wording. Formats of printf(); callers fill in numbers
 * and names. What is said once stands where it is said. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_FINDING_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_FINDING_WORDS_H

#define SEEP_KEPT_SHARE_TEXT  "%s: %.0f %% of the peak of %s"
#define SEEP_DOUBLING_TEXT    "Went from %s to %s by doubling %u times, the last time in %s %d of %d"
#define SEEP_LINE_SO_FAR_TEXT "so far"
#define SEEP_LINE_LIMIT_TEXT  "%s of %s %s in use"
#define SEEP_FRAGMENTS_FREE_TEXT                                                                   \
    "Free memory in malloc's arenas, which malloc neither uses again nor gives back, went from "   \
    "%s to %s over %ss %d to %d"
#define SEEP_OOM_OWN_LESS_TEXT                                                                     \
    "Allocate less at a time, free what the step no longer needs before it asks for more, or "     \
    "give the allocator more."
#define SEEP_OOM_ADVICES_TEXT        "%s %s"
#define SEEP_OOM_SEE_FIRST_ELSE_TEXT "See F%u first. %s"
#define SEEP_OOM_LOOK_WHO_TEXT                                                                     \
    "Check which other processes use the GPU (nvidia-smi). Wait for them, or take another GPU "    \
    "(CUDA_VISIBLE_DEVICES)."

#endif
