#include "preload/steps/rounds.h"

enum { PROBES = 16 };

/* The optimizer's entry; if it has none, the candidate entry unused for longest. */
static struct seep_round_place *place_of(struct seep_rounds *rounds, uintptr_t optimizer)
{
    uint32_t at = (uint32_t)((uint64_t)optimizer * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    struct seep_round_place *oldest = &rounds->places[at % SEEP_ROUND_PLACES];
    for (uint32_t i = 0; i < PROBES; i++) {
        struct seep_round_place *place = &rounds->places[(at + i) % SEEP_ROUND_PLACES];
        if (place->optimizer == optimizer)
            return place;
        if (place->round < oldest->round)
            oldest = place;
    }
    return oldest;
}

bool seep_rounds_stepped(struct seep_rounds *rounds, uintptr_t optimizer)
{
    struct seep_round_place *place = place_of(rounds, optimizer);
    bool opens = !rounds->round || (place->optimizer == optimizer && place->round == rounds->round);
    rounds->round += opens;
    rounds->stranger = place->optimizer != optimizer;
    place->optimizer = optimizer;
    place->round = rounds->round;
    return opens;
}
