#include "preload/life/python_allocator.h"

#include <seep_variables.h>
#include <stddef.h>
#include <string.h>

#include "libprof/format/profile_format.h"
#include "preload/python/pyframe.h"

static char **find(char **environment, const char *start)
{
    const size_t n = strlen(start);

    while (environment && *environment && strncmp(*environment, start, n) != 0)
        environment++;
    return environment && *environment ? environment : NULL;
}

void seep_python_allocator_start(char **environment)
{
    static const char malloc_is_set[] = "PYTHONMALLOC=malloc";
    char **line = find(environment, malloc_is_set);

    if (!line || (*line)[sizeof malloc_is_set - 1] ||
        !find(environment, SEEP_VARIABLE_PYTHON_ALLOCATORS "=1"))
        return;
    seep_python_attach();
    if (seep_python_support() != SEEP_PYTHON_NO_GIL)
        return;
    for (; *line; line++)
        line[0] = line[1];
}
