/* Words about files that a job leaves in memory, on a tmpfs. Formats of printf(); callers fill in
 * numbers and names. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_MEMORY_FILE_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_MEMORY_FILE_WORDS_H

#define SEEP_MEMORY_FILES_TITLE_TEXT "The job's files in %s are memory, and grow by %s a %s"
#define SEEP_MEMORY_FILES_RISE_TEXT                                                                \
    "Files in memory (tmpfs) went from %s to %s over %ss %d to %d; they are in no process's RSS"
#define SEEP_MEMORY_FILES_LEFT_TEXT "The job left %u file%s in %s: %s. The largest is %s"
#define SEEP_MEMORY_FILES_CUT_TEXT  "There are more files: not all were looked at"
#define SEEP_MEMORY_FILES_ADVICE_TEXT                                                              \
    "Delete each file once nobody reads it any more, or write to a disk. %s lies on a tmpfs: "     \
    "files there stay in memory until they are deleted, also after the job, and count towards "    \
    "its limit."

#endif
