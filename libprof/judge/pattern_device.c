/* Memory of the device, and the pinned memory beside it. */
#include "libprof/judge/pattern_rules.h"

#include "libprof/base/text.h"

static bool holds_device(const struct seep_model *m, const struct seep_model_process *p, int device)
{
    for (int s = 0; s < SEEP_MAX_SPACES; s++) {
        if (p->space_of[s] && p->spaces[s].allocations &&
            m->spaces[p->space_of[s] - 1].name.device == device)
            return true;
    }
    return false;
}

/* ---- wrong-device: a rank that works on another device holds memory on this one ----------------
 */

bool seep_rule_wrong_device(const struct seep_case *c, struct seep_finding *f)
{
    int device = seep_rule_space(c)->device;
    uint64_t blocks;
    int rank = -1;

    if (device < 0)
        return false;
    for (size_t i = 0; i < c->n_sites; i++) {
        bool theirs = false;
        for (uint32_t k = c->m->sites[c->sites[i]].slots; k; k = c->m->slots[k - 1].next) {
            const struct seep_model_process *p = &c->m->processes[c->m->slots[k - 1].process];
            int own = p->id.rank;
            if (own > 0 && own != device && holds_device(c->m, p, own)) {
                theirs = true;
                rank = own;
            }
        }
        uint64_t bytes = theirs ? seep_rule_kept_by(c, c->sites[i], &blocks) : 0;
        if (bytes)
            seep_rule_keep_site(f, c->sites[i], bytes, blocks);
    }
    if (f->live_bytes < SEEP_RULE_PEAK_BYTES)
        return false;
    seep_rule_verdict(f, SEEP_PATTERN_WRONG_DEVICE, SEEP_RETENTION, 0.9);
    f->saving_bytes = f->live_bytes;
    seep_finding_note(f, "rank %d works on device %d and holds %llu blocks on device %d too", rank,
                      rank, (unsigned long long)f->count, device);
    return true;
}

/* ---- pinned-pool: rounded up to a power of two, and never given back ---------------------------
 */

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

bool seep_rule_pinned_pool(const struct seep_case *c, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];
    uint64_t blocks, frees = 0;

    if (seep_rule_space(c)->class != SEEP_CLASS_PINNED)
        return false;
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[c->sites[i]];
        const struct seep_model_extra *e = site->extra ? &c->m->extras[site->extra - 1] : NULL;
        uint64_t mean =
            site->totals.allocations ? site->totals.allocated_bytes / site->totals.allocations : 0;
        if (e ? !is_power_of_two(e->max_bytes) || !is_power_of_two(e->min_bytes)
              : !is_power_of_two(mean))
            continue;
        uint64_t bytes = seep_rule_kept_by(c, c->sites[i], &blocks);
        frees += site->totals.frees;
        if (bytes)
            seep_rule_keep_site(f, c->sites[i], bytes, blocks);
    }
    if (f->count < 2 || frees * 10 > f->count || f->live_bytes < SEEP_RULE_PEAK_BYTES)
        return false;
    seep_rule_verdict(f, SEEP_PATTERN_PINNED_POOL, SEEP_PRESSURE, 0.85);
    f->saving_bytes = f->live_bytes / 2;
    seep_finding_note(f, "%llu pinned blocks of powers of two, %s, none given back",
                      (unsigned long long)f->count, seep_text_size((double)f->live_bytes, size));
    return true;
}
