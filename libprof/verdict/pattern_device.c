/* wrong-device and pinned-pool: device memory of a rank, and the pinned host memory used with it.
 */
#include "libprof/base/text.h"
#include "libprof/code/function_kinds.h"
#include "libprof/measure/device_layout.h"
#include "libprof/measure/device_memory.h"
#include "libprof/measure/segments.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/pattern_judge.h"
#include "libprof/verdict/prospect.h"
#include "libprof/words/space.h"
#include "libprof/words/step_words.h"

#include <stdlib.h>
#include <string.h>

static bool holds_device(const struct seep_model *m, const struct seep_model_process *p, int device)
{
    for (int s = 0; s < SEEP_MAX_SPACES; s++) {
        if (p->space_of[s] && p->spaces[s].allocations &&
            m->spaces[p->space_of[s] - 1].name.device == device)
            return true;
    }
    return false;
}

/* The most that a process has of a site at the end of a step. */
static struct seep_held most_of(const struct seep_model *m, const struct seep_model_slot *slot)
{
    struct seep_held most = {0};

    for (uint32_t i = 0; i < slot->n_points; i++) {
        const struct seep_model_point *p = &m->points[slot->points_at + i];
        if (p->bytes > most.bytes)
            most = (struct seep_held){p->bytes, p->blocks};
    }
    return most;
}

/* ---- wrong-device: a rank that works on another device holds memory on this one -- */

bool seep_is_wrong_device(const struct seep_case *c, struct seep_finding *f)
{
    int device = seep_case_space(c)->device;
    int rank = -1, works_on = -1;
    uint32_t pid = 0;
    char who[32];

    if (device < 0)
        return false;
    for (size_t i = 0; i < c->n_sites; i++) {
        struct seep_held theirs = {0};
        for (uint32_t k = c->m->sites[c->sites[i]].slots; k; k = c->m->slots[k - 1].next) {
            const struct seep_model_process *p = &c->m->processes[c->m->slots[k - 1].process];
            const int own = p->id.rank;
            const bool by_rank = own > 0 && own != device && holds_device(c->m, p, own);
            if (!by_rank && !seep_device_is_anothers(c->m, p, device))
                continue;
            const struct seep_held its = most_of(c->m, &c->m->slots[k - 1]);
            theirs.bytes += its.bytes;
            theirs.blocks += its.blocks;
            rank = own;
            pid = p->id.pid;
            works_on = by_rank ? own : seep_device_of_process(c->m, p);
        }
        const struct seep_held kept = c->signs->sites[i].kept;
        if (theirs.bytes && kept.bytes)
            seep_finding_keep(f, c->sites[i], theirs.bytes < kept.bytes ? theirs.bytes : kept.bytes,
                              theirs.blocks < kept.blocks ? theirs.blocks : kept.blocks);
    }
    if (f->live_bytes < SEEP_T_PEAK_BYTES)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_WRONG_DEVICE, SEEP_RETENTION, SEEP_CERTAIN);
    f->saving_bytes = f->live_bytes;
    if (rank >= 0)
        (void)snprintf(who, sizeof who, "rank %d", rank);
    else
        (void)snprintf(who, sizeof who, "process %u", pid);
    seep_finding_note(f, "%s works on GPU %d and also holds %llu blocks on GPU %d", who, works_on,
                      (unsigned long long)f->count, device);
    return true;
}

/* ---- pinned-pool: rounded up to a power of two, and never given back -- */

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

bool seep_is_pinned_pool(const struct seep_case *c, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];
    uint64_t frees = 0;

    /* A pool takes more only while all of it is in use: if that goes on, whatever uses it is to
     * blame. */
    if ((c->signs->growth.growing && c->signs->enough_steps) ||
        (seep_prospect_is_endless(c->signs->prospect) && !c->offset_by_sibling_line))
        return false;
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[c->sites[i]];
        const struct seep_model_extra *e = site->extra ? &c->m->extras[site->extra - 1] : NULL;
        uint64_t mean =
            site->totals.allocations ? site->totals.allocated_bytes / site->totals.allocations : 0;
        if (e ? !is_power_of_two(e->max_bytes) || !is_power_of_two(e->min_bytes)
              : !is_power_of_two(mean))
            continue;
        const struct seep_held kept = c->signs->sites[i].kept;
        frees += site->totals.frees;
        if (kept.bytes)
            seep_finding_keep(f, c->sites[i], kept.bytes, kept.blocks);
    }
    if (f->count < SEEP_T_AGAIN ||
        (double)(f->count + frees) > SEEP_T_MADE_ONCE * (double)f->count ||
        f->live_bytes < SEEP_T_PEAK_BYTES)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_PINNED_POOL, SEEP_PRESSURE, SEEP_LIKELY);
    f->saving_bytes = f->live_bytes / 2;
    seep_finding_note(f, "%llu pinned blocks with power-of-two sizes, %s in all; none was freed",
                      (unsigned long long)f->count, seep_text_size((double)f->live_bytes, size));
    return true;
}
