/* What the names in /proc/PID/maps say. Runtime part. Allocates: nothing. */
#ifndef SEEP_LIBPROF_FORMAT_MAP_NAME_H
#define SEEP_LIBPROF_FORMAT_MAP_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Memory that belongs to no file although it has a name and an inode: explicitly requested huge
 * pages, and a private map of the all-zeros device. */
static inline bool seep_map_name_is_memory(const char *name, size_t n, bool shared)
{
    static const char huge[] = "/anon_hugepage (deleted)", zeros[] = "/dev/zero";
    return (n == sizeof huge - 1 && memcmp(name, huge, n) == 0) ||
           (!shared && n == sizeof zeros - 1 && memcmp(name, zeros, n) == 0);
}

#endif
