/* Words about processes that pile up. Formats of printf(); callers fill in numbers and names. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_PROCESS_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_PROCESS_WORDS_H

#define SEEP_PROCESSES_TITLE_TEXT "Processes pile up: %zu were started and are still alive"
#define SEEP_PROCESSES_ADVICE_TEXT                                                                 \
    "End and join each process when its work is done: close() or shutdown() a pool. Make a "       \
    "loader with persistent workers once, not for each evaluation."
#define SEEP_PROCESSES_STARTED_TEXT                                                                \
    "Process %u started %zu processes, from step %d to the end; %zu of them ended before the job " \
    "did"
#define SEEP_PROCESSES_EACH_TEXT "Each had %s of private pages: %s in all"

#endif
