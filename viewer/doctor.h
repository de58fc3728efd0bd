/* `seep doctor`: one check a file, one line a finding. */
#ifndef SEEP_VIEWER_DOCTOR_H
#define SEEP_VIEWER_DOCTOR_H

#include <stdbool.h>

enum seep_doctor_status {
    SEEP_DOCTOR_OK,
    SEEP_DOCTOR_PARTLY,  /* works in part; nothing needed is missing */
    SEEP_DOCTOR_ABSENT,  /* not here, and not needed */
    SEEP_DOCTOR_MISSING, /* needed: the exit status is 1 */
};

/* Prints a line; leaves the subject out where it is the same as the line above. */
void seep_doctor_line(const char *subject, enum seep_doctor_status verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs argv[0] (a path) with `environment`, standard input and error on /dev/null, for at most
 * `seconds`; the first capacity − 1 bytes of its output go to `output` (NULL: nowhere). Returns its
 * wait status, or −1. */
int seep_doctor_spawn(char *const *argv, char *const *environment, unsigned seconds, char *output,
                      int capacity);

/* Each check prints its lines. */
void seep_doctor_shim(void);
void seep_doctor_pythons(void);
void seep_doctor_gpu(void);
void seep_doctor_memory(void);
void seep_doctor_command(char *const *argv);

/* Prints a line for the CPython at `path` (absolute) and one for its PyTorch. False where it is not
 * a working CPython. `needed`: a version that seep cannot read counts as missing. */
bool seep_doctor_python(const char *path, bool needed);

#endif
