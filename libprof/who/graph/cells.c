#include "libprof/who/graph/cells.h"

#include "libprof/base/hash_index.h"

#include <stdlib.h>

enum { GRANULE = SEEP_CELL_GRANULE };

void seep_cells_fini(struct seep_cells *cells)
{
    free(cells->arenas);
    free(cells->live);
    free(cells->owned);
    free(cells->met);
    free(cells->each);
    *cells = (struct seep_cells){0};
}

int seep_cells_add(struct seep_cells *cells, uint64_t start, uint64_t bytes)
{
    if (seep_grow(&cells->arenas, &cells->capacity, cells->n + 1, sizeof *cells->arenas))
        return -SEEP_ENOMEM;
    cells->arenas[cells->n++] = (struct seep_cell_arena){.start = start, .end = start + bytes};
    return 0;
}

size_t seep_cells_granule(const struct seep_cells *cells, uint64_t address)
{
    size_t low = 0, high = cells->n;

    while (low < high) { /* the first arena that ends behind it */
        const size_t middle = low + (high - low) / 2;
        if (cells->arenas[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == cells->n || cells->arenas[low].start > address || address % GRANULE)
        return SIZE_MAX;
    return cells->arenas[low].first + (size_t)(address - cells->arenas[low].start) / GRANULE;
}

static uint32_t bytes_of(const struct seep_cells *cells, size_t granule)
{
    return (uint32_t)cells->each[granule * GRANULE / cells->pool_bytes] * GRANULE;
}

void seep_cells_each_unmet(const struct seep_cells *cells, seep_cell_taker *take, void *arg)
{
    for (size_t i = 0; i < cells->n; i++) {
        const struct seep_cell_arena *arena = &cells->arenas[i];
        const size_t end = arena->first + (size_t)(arena->end - arena->start) / GRANULE;
        for (size_t g = arena->first; g < end; g++)
            if (seep_cells_has(cells->live, g) && seep_cells_has(cells->owned, g) &&
                !seep_cells_has(cells->met, g) &&
                !take(arg, arena->start + (g - arena->first) * GRANULE, bytes_of(cells, g)))
                return;
    }
}

bool seep_cells_meet(struct seep_cells *cells, uint64_t address, uint32_t *bytes)
{
    const size_t granule = cells->n ? seep_cells_granule(cells, address) : SIZE_MAX;

    *bytes = 0;
    if (granule == SIZE_MAX || !seep_cells_has(cells->live, granule) ||
        !seep_cells_has(cells->owned, granule))
        return false;
    if (!seep_cells_has(cells->met, granule))
        *bytes = bytes_of(cells, granule);
    seep_cells_set(cells->met, granule);
    return true;
}
