/* What the report of a digest says: of many processes at once. Formats of printf(). */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_DIGEST_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_DIGEST_WORDS_H

/* Where a finding is: "ranks" or another kind of process, and how many there are. */
#define SEEP_DIGEST_IN_ALL_TEXT "In all %s %s"
#define SEEP_DIGEST_IN_ONE_TEXT "In %s alone, of %s %s"
#define SEEP_DIGEST_IN_ZERO_TEXT                                                                   \
    "In %s alone, of %s %s: look at what only rank 0 does (evaluation, logging, checkpoints)"
#define SEEP_DIGEST_ON_ONE_TEXT   "In %s of %s %s, all on %s: compare this node with another one"
#define SEEP_DIGEST_IN_SOME_TEXT  "In %s of %s %s"
#define SEEP_DIGEST_IN_RANKS_TEXT "In %s of %s %s, between rank %d and rank %d"
#define SEEP_DIGEST_EACH_TEXT     "%s on average; most in %s: %s"
#define SEEP_DIGEST_AS_THERE_TEXT "There: %s"
#define SEEP_DIGEST_HELD_BY_TEXT  "There: held by %s"

/* Added to the title that the finding had in one folder. */
#define SEEP_DIGEST_TITLE_ALL_TEXT  "%s (in all %s %s, %s together)"
#define SEEP_DIGEST_TITLE_ONE_TEXT  "%s (in %s alone, of %s %s)"
#define SEEP_DIGEST_TITLE_SOME_TEXT "%s (in %s of %s %s, %s together)"

#define SEEP_DIGEST_RANK_ON_TEXT    "rank %d (process %u on %s)"
#define SEEP_DIGEST_PROCESS_ON_TEXT "process %u on %s"

/* Processes that stand out. */
#define SEEP_DIGEST_BEHIND_TEXT "%s has made %s of %s steps"
#define SEEP_DIGEST_ABOVE_TEXT  "%s has %s of %s at its peak, the average is %s"

/* What is not known. */
#define SEEP_DIGEST_NO_PEAK_TEXT                                                                   \
    "A digest has no peak of a sum: the peaks of spaces and stacks are the sums of each "          \
    "process's "                                                                                   \
    "own peaks"
#define SEEP_DIGEST_MISSING_TEXT    "%s of %s ranks have no profile here: %s"
#define SEEP_DIGEST_NOT_MERGED_TEXT "%s digests could not be merged"
#define SEEP_DIGEST_FORGOTTEN_TEXT                                                                 \
    "Stacks of which no process had %s or more are counted together: there were too many"
#define SEEP_DIGEST_BY_TIME_TEXT "%s of %s folders have no steps: their courses are by time slices"

#endif
