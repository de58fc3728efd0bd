/* A checkpoint that is loaded to the device it was saved from, and kept: load_state_dict() copies.
 */
#include "libprof/base/text.h"
#include "libprof/measure/thresholds.h"
#include "libprof/patterns/pattern_order.h"

#include <math.h>
#include <string.h>

/* Whether a site holds as many times the network's bytes as its blocks, twice or more: weights, and
 * an optimizer's state or averages of each. Once would do for another network, too. */
static uint64_t times(struct seep_held loaded, struct seep_held network)
{
    const uint64_t n = network.blocks ? loaded.blocks / network.blocks : 0;
    const double off = fabs((double)loaded.bytes - (double)n * (double)network.bytes);

    return n >= SEEP_T_LOADED_TIMES && loaded.blocks == n * network.blocks &&
                   off <= SEEP_T_LOADED_OFF * (double)loaded.bytes
               ? n
               : 0;
}

/* By its last step: as the job ends, all is torn down. */
static struct seep_held held_by(const struct seep_case *c, const struct seep_model_site *site)
{
    struct seep_held held = {0};

    for (uint32_t k = site->slots; k; k = c->m->slots[k - 1].next) {
        const struct seep_model_slot *slot = &c->m->slots[k - 1];
        const struct seep_model_point *last = NULL;
        for (uint32_t i = 0; i < slot->n_points; i++) {
            const struct seep_model_point *p = &c->m->points[slot->points_at + i];
            last = p->step <= c->span->last ? p : last;
        }
        held.bytes += last ? last->bytes : 0;
        held.blocks += last ? last->blocks : 0;
    }
    return held;
}

/* How many copies of what some line of the network's holds in the case's space that is; 0 none. */
static uint64_t copies_of_network(const struct seep_case *c, struct seep_held loaded)
{
    for (size_t i = 0; i < c->m->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        if (site->space != c->space || c->frames->part[site->stack] != (uint8_t)SEEP_PART_MODEL)
            continue;
        const struct seep_held network = held_by(c, site);
        if (network.bytes >= SEEP_T_PEAK_BYTES && times(loaded, network))
            return times(loaded, network);
    }
    return 0;
}

bool seep_case_judge_loaded(const struct seep_case *c, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];
    struct seep_held loaded = {0};
    uint64_t n = 0;

    if (!c->signs->makers.loads || c->span->last < 2)
        return false;
    for (size_t i = 0; i < c->n_sites && !n; i++) {
        loaded = c->signs->sites[i].last;
        n = copies_of_network(c, loaded);
        if (n)
            seep_finding_keep(f, c->sites[i], loaded.bytes, loaded.blocks);
    }
    if (!n)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_EAGER_RETENTION, SEEP_RETENTION, SEEP_T_SURE_EVERY_SIGN);
    f->saving_bytes = f->live_bytes;
    f->title = seep_text_format("what was loaded from a file stays on the device: %s",
                                seep_text_size((double)loaded.bytes, size));
    f->advice = strdup("load checkpoints with map_location=\"cpu\", and drop them (del) once "
                       "load_state_dict() has copied them");
    seep_finding_note(f,
                      "it is there up to step %d: %llu times what the network holds, block by "
                      "block, beside the network itself",
                      (int)c->span->last, (unsigned long long)n);
    return true;
}
