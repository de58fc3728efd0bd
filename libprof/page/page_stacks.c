#include "libprof/page/page_tables.h"

#include <stdlib.h>

uint32_t seep_page_stacks_add(struct seep_page_stacks *stacks, uint32_t parent, uint32_t frame)
{
    const uint64_t hash = seep_hash_two(parent, frame);
    uint32_t at = seep_hash_begin(&stacks->index, hash), id;

    while ((id = seep_hash_next(&stacks->index, hash, &at)) != SEEP_HASH_NONE) {
        if (stacks->list[id].parent == parent && stacks->list[id].frame == frame)
            return id;
    }
    id = (uint32_t)stacks->n;
    if (seep_grow(&stacks->list, &stacks->capacity, stacks->n + 1, sizeof *stacks->list) ||
        seep_hash_add(&stacks->index, hash, id))
        return SEEP_HASH_NONE;
    stacks->list[stacks->n++] = (struct seep_page_stack){parent, frame};
    return id;
}

void seep_page_stacks_fini(struct seep_page_stacks *stacks)
{
    free(stacks->list);
    seep_hash_fini(&stacks->index);
}

void seep_page_put_stacks(const struct seep_page_stacks *stacks, struct seep_page_columns *columns,
                          bool *failed)
{
    for (size_t i = 0; i < stacks->n && !*failed; i++) {
        seep_page_columns_add(columns, "parent", seep_page_number(stacks->list[i].parent), failed);
        seep_page_columns_add(columns, "frame", json_integer(stacks->list[i].frame), failed);
    }
}
