/* How a process or a job ended, in the words of reports, pages and gates. Formats of printf(). */
#ifndef SEEP_LIBPROF_WORDS_EXIT_WORDS_H
#define SEEP_LIBPROF_WORDS_EXIT_WORDS_H

#define SEEP_ENDED_WELL_TEXT       "ended normally"
#define SEEP_ENDED_STATUS_TEXT     "ended with status %d"
#define SEEP_ENDED_OOM_TEXT        "killed by the kernel, out of memory (SIGKILL)"
#define SEEP_ENDED_TERMINATED_TEXT "terminated by its parent"
#define SEEP_ENDED_REPLACED_TEXT   "replaced by exec"
#define SEEP_ENDED_RUNNING_TEXT    "still running"
#define SEEP_ENDED_UNSEEN_TEXT     "nobody saw how it ended"
#define SEEP_ENDED_UNTOLD_TEXT     "its snapshot does not say how it ended"

/* Of a job: which rank ended it. */
#define SEEP_ENDED_RANK_TEXT "rank %d %s"

/* "killed by SIGKILL", "killed by signal 40". Returns `text`. */
enum { SEEP_EXIT_TEXT = 64 };
const char *seep_exit_signal_text(int number, char text[SEEP_EXIT_TEXT]);

#endif
