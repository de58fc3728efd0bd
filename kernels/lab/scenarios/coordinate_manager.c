#include "kernels/lab/scenarios/coordinate_manager.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct place {
    int32_t coordinates[4];
    uint32_t row_plus_1; /* 0: empty */
};

struct seep_coordinate_map {
    struct seep_coordinate_map *older;
    size_t n_places;
    struct place places[];
};

static size_t hash(const int32_t coordinates[4])
{
    uint64_t h = 0;

    for (int k = 0; k < 4; k++)
        h = (h ^ (uint32_t)coordinates[k]) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32);
}

/* The first row of those with the same coordinates stays. */
static void put(struct seep_coordinate_map *map, const float from[4], uint32_t row)
{
    struct place new = {.row_plus_1 = row + 1};

    for (int k = 0; k < 4; k++)
        new.coordinates[k] = (int32_t)from[k];
    size_t at = hash(new.coordinates) % map->n_places;
    while (map->places[at].row_plus_1) {
        if (memcmp(map->places[at].coordinates, new.coordinates, sizeof new.coordinates) == 0)
            return;
        at = (at + 1) % map->n_places;
    }
    map->places[at] = new;
}

int seep_coordinate_manager_insert(struct seep_coordinate_manager *manager,
                                   const float (*coordinates)[4], size_t n)
{
    size_t n_places = 2 * n + 1; /* half of them stay empty */
    size_t bytes = sizeof *manager->newest + n_places * sizeof *manager->newest->places;
    struct seep_coordinate_map *map = calloc(1, bytes);

    if (!map)
        return -SEEP_ENOMEM;
    map->n_places = n_places;
    for (size_t i = 0; i < n; i++)
        put(map, coordinates[i], (uint32_t)i);
    map->older = manager->newest;
    manager->newest = map;
    manager->bytes += bytes;
    return 0;
}

void seep_coordinate_manager_clear(struct seep_coordinate_manager *manager)
{
    while (manager->newest) {
        struct seep_coordinate_map *map = manager->newest;
        manager->newest = map->older;
        free(map);
    }
    manager->bytes = 0;
}
