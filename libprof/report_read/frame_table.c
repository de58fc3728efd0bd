#include "libprof/report_read/frame_table.h"

#include <stdlib.h>

static uint64_t hash_of(const json_t *frame)
{
    return seep_hash_two((uintptr_t)frame, 0);
}

uint32_t seep_frames_number(const struct seep_frames *frames, const json_t *frame)
{
    uint32_t id, at = seep_hash_begin(&frames->index, hash_of(frame));

    while ((id = seep_hash_next(&frames->index, hash_of(frame), &at)) != SEEP_HASH_NONE) {
        if (frames->list[id] == frame)
            return id;
    }
    return SEEP_HASH_NONE;
}

int seep_frames_add(struct seep_frames *frames, const json_t *frame)
{
    if (seep_frames_number(frames, frame) != SEEP_HASH_NONE)
        return 0;
    if (seep_grow(&frames->list, &frames->capacity, frames->n + 1, sizeof *frames->list) ||
        seep_hash_add(&frames->index, hash_of(frame), (uint32_t)frames->n))
        return -SEEP_ENOMEM;
    frames->list[frames->n++] = frame;
    return 0;
}

void seep_frames_fini(struct seep_frames *frames)
{
    free(frames->list);
    seep_hash_fini(&frames->index);
}
