/* Any bytes as a core file: its notes and segments, the mappings made of them, and a look at its
 * memory. */
#include "libprof/look/core_file.h"
#include "libprof/look/look_holders.h"
#include "tests/fuzz/memory_file.h"

#include <stdlib.h>
#include <string.h>

#define MAX_KEPT (UINT64_C(16) << 20)

enum { MAX_BYTES = 1 << 20 };

static int count(void *sum, uint64_t start, uint64_t end)
{
    if (start >= end || start % SEEP_MEMORY_PAGE || end % SEEP_MEMORY_PAGE)
        abort();
    *(uint64_t *)sum += end - start;
    return 0;
}

static void check(struct seep_core_file *core)
{
    uint64_t sum = 0, bytes = 0;

    for (size_t i = 0; i < core->n; i++) {
        const struct seep_core_segment *s = &core->segments[i];
        if (s->start >= s->end || s->bytes > s->end - s->start ||
            (i && s->start < core->segments[i - 1].end))
            abort();
        bytes += s->bytes;
    }
    if (core->remote.own_pages(&core->remote, 0, UINT64_C(1) << 47, false, count, &sum) ||
        sum > bytes || !memchr(core->missing, 0, sizeof core->missing) ||
        !memchr(core->notes.command, 0, sizeof core->notes.command))
        abort();
}

static void look(struct seep_core_file *core)
{
    struct seep_taken taken;
    struct seep_look_holders holders = {0};
    const struct seep_take_limits limits = {.max_bytes = MAX_KEPT, .passes_by = core->n % 2};

    if (seep_take(&taken, &core->remote, &core->remote, &limits) || seep_taken_settle(&taken) ||
        seep_taken_survey(&taken, &limits, true) || seep_look_holders_find(&holders, &taken, true))
        abort();
    seep_look_holders_fini(&holders);
    seep_taken_fini(&taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct seep_core_file core;
    struct seep_error err = {0};

    if (size > MAX_BYTES)
        return 0;
    if (!seep_core_file_open(&core, memory_file(data, size), NULL, &err)) {
        check(&core);
        look(&core);
    } else if (!err.text[0]) {
        abort();
    }
    seep_core_file_close(&core);
    return 0;
}
