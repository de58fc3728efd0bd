/* Which installed distribution a file belongs to, by what its installer noted beside it: the name
 * that pip knows ("protobuf" for google/protobuf/message.py), and the version. */
#ifndef SEEP_LIBPROF_CODE_PACKAGES_DISTRIBUTION_H
#define SEEP_LIBPROF_CODE_PACKAGES_DISTRIBUTION_H

#include <stdbool.h>
#include <stdint.h>

enum { SEEP_DISTRIBUTION_TEXT = 64 };

struct seep_distribution {
    char name[SEEP_DISTRIBUTION_TEXT];
    char version[SEEP_DISTRIBUTION_TEXT]; /* "": not known, or installed since `before` */
};

/* For a file below …/site-packages or …/dist-packages. If nothing is noted there, the name is that
 * of its folder. `before_unix_ns`: when the job began. False: it is in no such folder. */
bool seep_distribution_of(const char *path, uint64_t before_unix_ns,
                          struct seep_distribution *found);

#endif
