/* Findings of many lines at once: what each step leaves to the next one, and pages that forked
 * workers copy by counting references. */
#include "libprof/judge/pattern_rules.h"

#include "libprof/base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- carry-over: a step's blocks die in the next one, beside its own ---------------------- */

/* Bytes that the site has twice at its peak and once at the ends of steps; 0 where that is not what
 * it does. */
static uint64_t carried_by(const struct seep_case *c, uint32_t site, uint64_t *steady)
{
    const struct seep_model_site *s = &c->m->sites[site];
    const struct seep_model_extra *e = s->extra ? &c->m->extras[s->extra - 1] : NULL;
    uint64_t blocks, in_second = 0, later = 0;

    *steady = 0;
    if (!e || s->n_slots != 1 || !c->frames->is_own[s->stack] || c->frames->importing[s->stack] ||
        s->last_step - s->first_step < SEEP_RULE_STEPS ||
        s->totals.allocations < 2 * SEEP_RULE_STEPS)
        return 0;
    for (int b = 0; b < SEEP_LIFETIME_BUCKETS; b++) {
        in_second += b == 1 ? e->lifetimes[b] : 0;
        later += b == 1 ? 0 : e->lifetimes[b];
    }
    if (!in_second || in_second < 9 * later)
        return 0;
    *steady =
        seep_rule_live_at(c, site, c->span->warm + (c->span->last - c->span->warm) / 2, &blocks);
    uint64_t peak = s->totals.peak_bytes, more = peak > *steady ? peak - *steady : 0;
    return *steady && (double)more >= 0.6 * (double)*steady ? (more < *steady ? more : *steady) : 0;
}

bool seep_rule_carry_over(struct seep_case *c, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];
    uint64_t sum = 0, most = 0, steady;

    for (uint32_t i = 0; i < c->m->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        if (!c->m->spaces[site->space].name.host_like)
            continue;
        uint64_t carried = carried_by(c, i, &steady);
        if (!carried)
            continue;
        sum += carried;
        seep_rule_keep_site(f, i, steady, 1);
        if (carried > most) {
            most = carried;
            c->frame = c->frames->look_at[site->stack];
            c->part = (enum seep_part)c->frames->part[site->stack];
            c->space = site->space;
        }
    }
    uint64_t peak = f->n_sites ? c->m->spaces[c->space].totals.peak_bytes : 0;
    if (sum < SEEP_RULE_PEAK_BYTES || sum * 33 < peak)
        return false;
    seep_rule_verdict(f, SEEP_PATTERN_CARRY_OVER, SEEP_INFO, 0.8);
    f->saving_bytes = sum;
    seep_finding_note(
        f, "blocks of a step are freed in the next one, when its own are there: %s twice",
        seep_text_size((double)sum, size));
    seep_finding_note(f, "no growth; the peak could be %s lower, %.0f %% of the peak of %s", size,
                      100.0 * (double)sum / (double)peak, c->m->spaces[c->space].name.text);
    return true;
}

/* ---- cow-growth: no allocation, and a worker's own pages rise ---------------------------- */

/* The trainer's line that had made most small objects when its workers were forked: they lie in the
 * arenas of Python's allocator, blocks of one of two sizes that it maps itself. */
static bool find_arenas(struct seep_case *c, uint32_t parent, struct seep_finding *f)
{
    const struct seep_model *m = c->m;
    uint64_t most = 0, blocks;

    for (uint32_t i = 0; i < m->n_sites; i++) {
        const struct seep_model_site *site = &m->sites[i];
        const struct seep_totals *t = &site->totals;
        bool theirs = false;
        for (uint32_t k = site->slots; k && !theirs; k = m->slots[k - 1].next)
            theirs = m->slots[k - 1].process == parent;
        if (!theirs || m->spaces[site->space].name.class != SEEP_CLASS_MMAP || !t->allocations ||
            c->frames->importing[site->stack] || !c->frames->is_own[site->stack])
            continue;
        uint64_t each = t->allocated_bytes / t->allocations;
        if ((each != 256 * 1024 && each != 1024 * 1024) || t->peak_bytes <= most)
            continue;
        /* The job's end frees them. */
        uint64_t live = seep_rule_live_at(c, i, c->span->last, &blocks);
        if (live <= most)
            continue;
        most = live;
        f->count = blocks;
        f->sites[0] = i;
        f->n_sites = 1;
    }
    if (!f->n_sites)
        return false;
    uint32_t stack = m->sites[f->sites[0]].stack;
    c->frame = c->frames->look_at[stack];
    c->space = m->sites[f->sites[0]].space;
    c->part = (enum seep_part)c->frames->part[stack];
    f->live_bytes = most;
    return true;
}

static uint64_t own_live(const struct seep_model_process *p)
{
    uint64_t sum = 0;

    for (int s = 0; s < SEEP_MAX_SPACES; s++)
        sum += p->space_of[s] ? p->spaces[s].peak_bytes : 0;
    return sum;
}

/* What a forked interpreter writes to in any case. */
enum { OWN_PAGES = 8 * 1024 * 1024 };

bool seep_rule_cow_growth(struct seep_case *c, struct seep_finding *f)
{
    uint64_t grown = 0, own = 0;
    uint32_t workers = 0, parent = 0;
    double steps = 0, rise = 0;
    char all[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT], live[SEEP_SIZE_TEXT];

    for (uint32_t i = 0; i < c->m->n_processes; i++) {
        const struct seep_model_process *p = &c->m->processes[i];
        const struct seep_process *e = p->entry;
        uint64_t held = own_live(p);
        if (p->role != SEEP_ROLE_WORKER || !p->parent || !e || e->private_last_bytes <= held)
            continue;
        uint64_t base = held + OWN_PAGES;
        if (e->private_first_bytes < base)
            base = e->private_first_bytes;
        uint64_t copied = e->private_last_bytes > base ? e->private_last_bytes - base : 0;
        if (copied < SEEP_RULE_LARGE_BYTES || copied < 3 * held)
            continue;
        grown += copied;
        own += held;
        parent = p->parent;
        workers++;
        if (e->private_last_period > e->private_first_period) {
            steps += (double)(e->private_last_period - e->private_first_period);
            rise += (double)e->private_last_bytes - (double)e->private_first_bytes;
        }
    }
    if (!workers || !find_arenas(c, parent - 1, f))
        return false;
    seep_rule_verdict(f, SEEP_PATTERN_COW_GROWTH, SEEP_RETENTION, 0.8);
    f->saving_bytes = grown;
    if (steps > 0) {
        double slope = rise / (steps / workers);
        f->growth = (struct seep_slope){slope, slope, slope};
        f->returns = true;
    }
    seep_finding_note(f,
                      "%u forked workers came to own %s of pages each (%s in all) without "
                      "allocating: their own blocks never were more than %s",
                      workers, seep_text_size((double)grown / workers, each),
                      seep_text_size((double)grown, all),
                      seep_text_size((double)own / workers, live));
    seep_finding_note(f,
                      "reading a Python object writes its reference count, and so copies the page "
                      "that it lies in; this line had made most of them before the fork");
    return true;
}
