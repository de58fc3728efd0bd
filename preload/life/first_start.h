/* Says in the job's folder that the job's first program is in this library's start. If it dies
 * there, nothing of the job has run, and `seep run` runs it again without the library. */
#ifndef SEEP_PRELOAD_LIFE_FIRST_START_H
#define SEEP_PRELOAD_LIFE_FIRST_START_H

/* First of all in the constructor, before anything that depends on the kernel or the loader: takes
 * the file that `seep run` has made (SEEP_STARTING_FILE). Says nothing in all other processes,
 * and where another library's constructor may have run before. */
void seep_first_start_begin(char *const *environment);

/* Last in the constructor: from here on a death is the job's. */
void seep_first_start_end(void);

#endif
