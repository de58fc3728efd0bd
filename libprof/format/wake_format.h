/* How `seep wake` tells a process that waits to begin recording: by a file that the process looks
 * for twice a second, while it allocates. Its contents are the folder for the profile, on one line.
 * It belongs to the process's user, who alone may write to it, and the process removes it. */
#ifndef SEEP_LIBPROF_FORMAT_WAKE_FORMAT_H
#define SEEP_LIBPROF_FORMAT_WAKE_FORMAT_H

/* Set for a process: it waits. */
#define SEEP_VARIABLE_WAIT "SEEP_WAIT"

/* Set for the programs that a process starts once it was woken: they do not wait. */
#define SEEP_VARIABLE_WOKEN "SEEP_WOKEN"

/* Followed by its effective user, "-" and its number, as the process itself sees them. */
#define SEEP_WAKE_FILE "/tmp/.seep-wake-"

#endif
