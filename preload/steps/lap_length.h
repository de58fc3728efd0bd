/* How many rounds of a for loop pass in each lap of the loop around it.
 *
 * An inner loop has an iterator of its own in each lap. Where rounds allocate nothing, whole laps
 * pass between two readings, and only the outer iterator tells that they did. They count only if
 * some lap is known to have been gone through to its end: a loop that is left early may always be.
 * Pure: looks only at its arguments; takes no lock. */
#ifndef SEEP_PRELOAD_STEPS_LAP_LENGTH_H
#define SEEP_PRELOAD_STEPS_LAP_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

/* All zero until seep_lap_length_begin(). */
struct seep_lap_length {
    intptr_t first, end; /* the iterator's place in the first and in the last round; 0: unknown */
    bool unseen;         /* rounds have passed unseen before */
};

/* The loop's iterator is at `place` after `n` rounds. */
void seep_lap_length_begin(struct seep_lap_length *length, intptr_t place, uint32_t n);

/* The iterator is at `place` and will come to `end`; 0: unknown. */
void seep_lap_length_saw(struct seep_lap_length *length, intptr_t place, intptr_t end);

/* Rounds of a lap; 0: unknown. */
intptr_t seep_lap_length(const struct seep_lap_length *length);

/* The place of an iterator that would have gone on for `laps` laps, at least one, and is at `place`
 * in the last one (0: unknown); 0 if that cannot be said. */
intptr_t seep_lap_length_place(const struct seep_lap_length *length, intptr_t place, intptr_t laps);

#endif
