#include "libprof/words/limit_kind.h"

#include <stddef.h>
#include <string.h>

const char *seep_limit_words(const char *kind)
{
    static const struct {
        const char *kind, *words;
    } rows[] = {
        {"ram", "RAM"},           {"cgroup-v1", "cgroup limit"}, {"cgroup-v2", "cgroup limit"},
        {"device", "GPU memory"}, {"capacity", "capacity"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(kind, rows[i].kind) == 0)
            return rows[i].words;
    }
    return kind;
}
