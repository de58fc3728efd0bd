/* The environment that a program started by this process needs, so that it is recorded too. */
#ifndef SEEP_PRELOAD_LIFE_ENVIRONMENT_H
#define SEEP_PRELOAD_LIFE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* Keeps LD_PRELOAD's entry of this library and the SEEP_ variables. Once, at start. */
void seep_environment_start(char *const *environment);

/* Room, in pointers, that seep_environment_complete() may need for `environment`. */
size_t seep_environment_room(char *const *environment);

/* Bytes that it needs for a new LD_PRELOAD line. */
size_t seep_environment_text(char *const *environment);

/* `environment` itself when it is complete, else a copy in `room`, completed. A child of vfork may
 * call it: nothing but the two buffers is written. */
char *const *seep_environment_complete(char *const *environment, char **room, char *text);

/* The opposite, for a program that this library cannot enter: what the job gave, without our
 * entry in LD_PRELOAD and without the SEEP_ variables of the start. Other libraries in LD_PRELOAD
 * stay. */
char *const *seep_environment_without(char *const *environment, char **room, char *text);

/* Whether all of it can be read: the kernel answers EFAULT if it cannot. */
bool seep_environment_readable(char *const *environment);
bool seep_environment_text_readable(const char *text);

/* Whether a program that starts now, in this process's root, finds the library and the job's
 * folder. In a sandbox, where that cannot be checked, seep_environment_note_reach() has noted it
 * before. */
bool seep_environment_reaches(void);
void seep_environment_note_reach(void);

/* Whether there is anything to add or to take away. */
bool seep_environment_known(void);

/* Whether LD_PRELOAD in `environment` names a sanitizer's runtime, which must come first. */
bool seep_environment_has_sanitizer(char *const *environment);

#endif
