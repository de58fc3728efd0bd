#include "viewer/watch/device_looks.h"

#include <stdbool.h>
#include <stddef.h>

/* Makes room: drops every other look at each device. */
static void thin_out(struct seep_device_notes *notes)
{
    bool leave_out[SEEP_MAX_DEVICES] = {false};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < SEEP_DEVICE_LOOKS; i++) {
        const struct seep_device_look look = notes->looks[i];
        if (look.device >= SEEP_MAX_DEVICES)
            continue;
        if (!leave_out[look.device])
            notes->looks[kept++] = look;
        leave_out[look.device] = !leave_out[look.device];
    }
    __atomic_store_n(&notes->n_looks, kept, __ATOMIC_RELEASE);
}

/* The newest look at a device; NULL where there is none. */
static struct seep_device_look *newest(struct seep_device_notes *notes, unsigned device)
{
    for (uint32_t i = notes->n_looks; i-- > 0;)
        if (notes->looks[i].device == device)
            return &notes->looks[i];
    return NULL;
}

void seep_device_looks_add(struct seep_device_notes *notes, const struct seep_device_look *look)
{
    struct seep_device_look *its;

    if (notes->n_looks >= SEEP_DEVICE_LOOKS)
        thin_out(notes);
    its = newest(notes, look->device);
    if (its && its->period == look->period) {
        its->used_bytes = look->used_bytes;
        return;
    }
    notes->looks[notes->n_looks] = *look;
    __atomic_store_n(&notes->n_looks, notes->n_looks + 1, __ATOMIC_RELEASE);
}
