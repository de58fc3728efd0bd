#include "kernels/formats/growing.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *seep_array_append(void *array, size_t n, size_t item_bytes)
{
    void *items;

    memcpy(&items, array, sizeof items);
    if (!(n & (n - 1))) {
        items = realloc(items, (n ? 2 * n : 1) * item_bytes);
        if (!items)
            return NULL;
        memcpy(array, &items, sizeof items);
    }
    return memset((uint8_t *)items + n * item_bytes, 0, item_bytes);
}
