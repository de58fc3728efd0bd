#include "preload/steps/lap_length.h"

enum {
    NEARLY = 16, /* the last round is not always seen: one part in so many may be missing */
    LONGEST = 1 << 30,
};

void seep_lap_length_begin(struct seep_lap_length *length, intptr_t place, uint32_t n)
{
    const intptr_t before = place - (intptr_t)n;
    *length = (struct seep_lap_length){.first = before >= 0 ? before + 1 : place};
}

void seep_lap_length_saw(struct seep_lap_length *length, intptr_t place, intptr_t end)
{
    if (place > 0 && place < length->first)
        length->first = place;
    const intptr_t passed = place - length->first, rounds = end - length->first;
    if (rounds > 0 && rounds < LONGEST && passed >= rounds / NEARLY * (NEARLY - 1))
        length->end = end;
}

intptr_t seep_lap_length(const struct seep_lap_length *length)
{
    return length->end ? length->end - length->first + 1 : 0;
}

intptr_t seep_lap_length_place(const struct seep_lap_length *length, intptr_t place, intptr_t laps)
{
    /* One lap may have been left early after a round that was seen. */
    if (!length->end || (laps == 1 && !length->unseen))
        return 0;
    return laps * seep_lap_length(length) + (place ? place : length->first);
}
