#include "libprof/verdict/renewal.h"

#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>

/* Blocks that are gone, of the sites that keep something. */
struct gone {
    bool known;       /* of nearly all bytes that are kept */
    uint32_t oldest;  /* steps */
    double steps;     /* steps that all of them together were live, at least */
    uint64_t blocks;  /* blocks that lived for a step or more */
    uint64_t of_last; /* of these, those about as old as the oldest */
};

/* Age buckets are at most a fifth wide: those of about an age are in its bucket and the one
 * below. */
static void add_gone(const struct seep_model_extra *e, struct gone *gone)
{
    const unsigned last = seep_lifetime_bucket(e->max_lifetime);

    gone->oldest = e->max_lifetime > gone->oldest ? e->max_lifetime : gone->oldest;
    for (unsigned b = 1; b < SEEP_LIFETIME_BUCKETS; b++) {
        const uint64_t n = seep_frees_of_age(&e->counts, b);
        gone->steps += (double)n * seep_lifetime_floor(b);
        gone->blocks += n;
        gone->of_last += b + 1 >= last ? n : 0;
    }
}

/* Of all sites, or of those that grow. */
static struct gone gone_of(const struct seep_case *c, const struct seep_signs *signs, bool grows)
{
    struct gone gone = {0};
    uint64_t kept = 0, detailed = 0;

    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[c->sites[i]];
        const uint64_t bytes = signs->sites[i].kept.bytes;
        if (!bytes || (grows && !seep_site_grew(&signs->sites[i])))
            continue;
        kept += bytes;
        if (!site->extra)
            continue;
        detailed += bytes;
        add_gone(&c->m->extras[site->extra - 1], &gone);
    }
    gone.known = (double)detailed >= SEEP_T_NEARLY_ALL * (double)kept;
    return gone;
}

static bool is_brief(const struct seep_case *c, size_t i, struct seep_held kept, int32_t steps)
{
    const struct seep_model_site *site = &c->m->sites[c->sites[i]];

    return site->extra &&
           c->m->extras[site->extra - 1].max_lifetime <= (uint32_t)SEEP_T_REPLACED_AGE &&
           (double)kept.blocks * steps <=
               (SEEP_T_REPLACED_AGE + 1.0) * (double)site->totals.allocations;
}

bool seep_is_replaced(const struct seep_case *c, const struct seep_signs *signs)
{
    const struct seep_growth *g = &signs->growth;
    uint64_t gained = 0, brief = 0;

    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_site_signs *its = &signs->sites[i];
        if (its->kept.bytes <= its->first.bytes)
            continue;
        gained += its->kept.bytes - its->first.bytes;
        if (is_brief(c, i, its->kept, g->to))
            brief += its->kept.bytes - its->first.bytes;
    }
    return !g->by_process && gained && (double)brief >= SEEP_T_NEARLY_ALL * (double)gained;
}

/* The line's own site that is joined: the one that gained most. */
static const struct seep_model_site *joined(const struct seep_case *c,
                                            const struct seep_signs *signs)
{
    size_t most = 0;

    for (size_t i = 1; i < c->n_sites; i++) {
        if (signs->sites[i].kept.bytes > signs->sites[most].kept.bytes)
            most = i;
    }
    return &c->m->sites[c->sites[most]];
}

/* ---- what is joined of pieces ---------------------------------------------------------------- */

static bool has_process(const struct seep_model *m, const struct seep_model_site *site,
                        uint32_t process)
{
    uint32_t k = site->slots;

    while (k && m->slots[k - 1].process != process)
        k = m->slots[k - 1].next;
    return k != 0;
}

static bool is_of_its_processes(const struct seep_model *m, const struct seep_model_site *one,
                                const struct seep_model_site *other)
{
    uint32_t k = one->slots;

    while (k && has_process(m, other, m->slots[k - 1].process))
        k = m->slots[k - 1].next;
    return k == 0;
}

/* The call within which pieces are made for a join: that of the caller of the function that joins,
 * as a loader has items read and then joined; without a caller, that function itself. */
static uint32_t call_of(const struct seep_case *c, uint32_t stack)
{
    const struct seep_dictionary *d = &c->m->dict;
    const uint32_t *line_of = c->code->lines->line_of;
    uint32_t s = stack;

    while (s && line_of[d->stacks[s].frame] != line_of[c->frame])
        s = d->stacks[s].parent;
    return d->stacks[s].parent ? d->stacks[s].parent : s;
}

/* Whether a stack passes through the same call, at any line of its function. */
static bool passes_call(const struct seep_dictionary *d, uint32_t stack, uint32_t call)
{
    const struct seep_dict_frame *its = &d->frames[d->stacks[call].frame];

    for (uint32_t s = stack; s; s = d->stacks[s].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[s].frame];
        if (d->stacks[s].parent == d->stacks[call].parent && f->kind == its->kind &&
            f->source == its->source && f->function == its->function)
            return true;
    }
    return false;
}

/* How much higher a site's mean at the ends of steps is in the second half of the judged steps than
 * in the first; 0: it holds nothing there. */
static double rise_of(const struct seep_case *c, const struct seep_model_site *site)
{
    const struct seep_growth *g = &c->signs->growth;
    const int32_t middle = g->from + (g->to - g->from) / 2;
    double bytes[2] = {0};
    size_t n[2] = {0};

    for (uint32_t k = site->slots; k; k = c->m->slots[k - 1].next) {
        const struct seep_model_slot *slot = &c->m->slots[k - 1];
        for (uint32_t i = 0; i < slot->n_points; i++) {
            const struct seep_model_point *p = &c->m->points[slot->points_at + i];
            if (p->step < g->from || p->step > g->to)
                continue;
            bytes[p->step > middle] += (double)p->bytes;
            n[p->step > middle]++;
        }
    }
    return n[0] && n[1] && bytes[0] > 0 ? bytes[1] / (double)n[1] / (bytes[0] / (double)n[0]) : 0;
}

/* The pieces of the largest block were all live when it was joined, and gone soon after. If some
 * are live at the ends of steps, their number grows with the joined blocks. */
static bool follows(const struct seep_case *c, const struct seep_model_site *piece,
                    const struct seep_model_site *its)
{
    const struct seep_model_extra *e = piece->extra ? &c->m->extras[piece->extra - 1] : NULL;
    const uint64_t largest = its->extra ? c->m->extras[its->extra - 1].max_bytes : 0;
    const double rise = rise_of(c, piece);

    return e && largest && e->max_lifetime <= (uint32_t)SEEP_T_REPLACED_AGE &&
           (double)piece->totals.peak_bytes >= SEEP_T_MOST * (double)largest &&
           (rise == 0 || rise >= SEEP_T_MOST * rise_of(c, its));
}

bool seep_is_joined_of_new(const struct seep_case *c, const struct seep_signs *signs)
{
    const struct seep_model_site *its = joined(c, signs);
    const double all = (double)its->totals.allocated_bytes;
    const uint32_t call = call_of(c, its->stack);

    for (size_t i = 0; i < c->m->n_sites; i++) {
        const struct seep_model_site *piece = &c->m->sites[i];
        const double bytes = (double)piece->totals.allocated_bytes;
        if (piece != its && piece->space == its->space &&
            !c->code->lines->importing[piece->stack] &&
            piece->totals.allocations >= SEEP_T_AGAIN * its->totals.allocations &&
            bytes >= SEEP_T_MOST * all && bytes <= SEEP_T_PIECES_MOST * all &&
            is_of_its_processes(c->m, piece, its) && is_of_its_processes(c->m, its, piece) &&
            passes_call(&c->m->dict, piece->stack, call) && follows(c, piece, its))
            return true;
    }
    return false;
}

/* ---- what is made anew ----------------------------------------------------------------------- */

/* For how many steps a site's blocks were live up to a step, summed over all of them. */
static double there_until(const struct seep_model *m, const struct seep_model_site *site,
                          int32_t until)
{
    double steps = 0;

    for (uint32_t k = site->slots; k; k = m->slots[k - 1].next) {
        const struct seep_model_slot *slot = &m->slots[k - 1];
        const struct seep_model_point *p = &m->points[slot->points_at];
        for (uint32_t i = 0; i + 1 < slot->n_points && p[i].step < until; i++) {
            const int32_t next = p[i + 1].step;
            steps += (double)p[i].blocks * ((next < until ? next : until) - p[i].step);
        }
    }
    return steps;
}

bool seep_is_renewed(const struct seep_case *c, const struct seep_signs *signs, int32_t gap,
                     int32_t until)
{
    const struct gone gone = gone_of(c, signs, true);
    double there = 0;

    for (size_t i = 0; i < c->n_sites; i++) {
        if (seep_site_grew(&signs->sites[i]))
            there += there_until(c->m, &c->m->sites[c->sites[i]], until);
    }
    return gone.known && gone.oldest <= (uint32_t)gap + 1 && there > 0 &&
           gone.steps >= SEEP_T_RENEWED * there;
}

bool seep_is_queue(const struct seep_case *c, const struct seep_signs *signs)
{
    const struct seep_growth *g = &signs->growth;
    const int64_t before = seep_level_at(&g->level, g->from + (g->to - g->from) / 2).blocks;
    const int64_t after = seep_level_at(&g->level, g->to).blocks;
    const struct gone gone = gone_of(c, signs, false);

    return gone.known && gone.oldest >= SEEP_T_QUEUE_STEPS && before > 0 &&
           llabs(after - before) <= before / SEEP_T_STAIR_BLOCKS &&
           gone.blocks >= SEEP_T_QUEUE_TURNS * (uint64_t)before &&
           (double)gone.of_last >= SEEP_T_RENEWED * (double)gone.blocks;
}
