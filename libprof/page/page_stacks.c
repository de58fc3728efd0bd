#include "libprof/page/page_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct seep_pairs nodes_of(const struct seep_page_stacks *stacks)
{
    return (struct seep_pairs){stacks->list, sizeof *stacks->list};
}

uint32_t seep_page_stacks_add(struct seep_page_stacks *stacks, uint32_t parent, uint32_t frame)
{
    uint32_t id = seep_pair_find(&stacks->index, nodes_of(stacks), parent, frame);

    if (id != SEEP_HASH_NONE)
        return id;
    id = (uint32_t)stacks->n;
    if (seep_grow(&stacks->list, &stacks->capacity, stacks->n + 1, sizeof *stacks->list))
        return SEEP_HASH_NONE;
    stacks->list[stacks->n++] = (struct seep_page_stack){parent, frame};
    return seep_pair_add(&stacks->index, nodes_of(stacks), id) ? SEEP_HASH_NONE : id;
}

void seep_page_stacks_fini(struct seep_page_stacks *stacks)
{
    free(stacks->list);
    seep_pair_fini(&stacks->index);
}

static int put_number(uint32_t number, bool first, json_dump_callback_t put, void *context)
{
    char text[24];
    const int n = snprintf(text, sizeof text, "%s%lld", first ? "" : ",",
                           number == SEEP_HASH_NONE ? -1 : (long long)number);

    return put(text, (size_t)n, context);
}

int seep_page_stacks_write(const struct seep_page_stacks *stacks, json_dump_callback_t put,
                           void *context)
{
    static const char *const names[] = {"{\"parent\":[", "],\"frame\":["};

    if (!stacks->n)
        return put("{}", 2, context) ? -SEEP_EIO : 0;
    for (int column = 0; column < 2; column++) {
        if (put(names[column], strlen(names[column]), context))
            return -SEEP_EIO;
        for (size_t i = 0; i < stacks->n; i++) {
            const struct seep_page_stack *its = &stacks->list[i];
            if (put_number(column ? its->frame : its->parent, !i, put, context))
                return -SEEP_EIO;
        }
    }
    return put("]}", 2, context) ? -SEEP_EIO : 0;
}
