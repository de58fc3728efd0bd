/* Called by tests/bench/python_step.py: an allocation and its free below Python, each after the
 * job's own code and data have passed through the caches. */
#include "tests/subjects/working_set.h"

#include <stdlib.h>

#define NOIPA __attribute__((noipa))

static char data[1 << 20] = {1};
static struct working_set set = {.data = data, .bytes = sizeof(data)};

static NOIPA void event(size_t bytes)
{
    use_working_set(&set);
    void *block = malloc(bytes);
    __asm__ volatile("" : "+r"(block));
    use_working_set(&set);
    free(block);
}

static NOIPA void begin(void)
{
    __asm__ volatile("");
}

/* Callgrind does not see calls by libffi. So it counts what is below event(), and forgets at
 * begin() what it counted before. */
void cold_event(size_t bytes)
{
    event(bytes);
    __asm__ volatile("# or it becomes a jump" ::: "memory");
}

void cold_begin(void)
{
    begin();
    __asm__ volatile("# or it becomes a jump" ::: "memory");
}
