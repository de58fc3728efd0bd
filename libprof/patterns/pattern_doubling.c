/* doubling: a buffer that is full makes room for as much again. */
#include "libprof/base/text.h"
#include "libprof/measure/doublings.h"
#include "libprof/patterns/pattern_judge.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/findings/kept_words.h"

/* What is put in at one pace takes as many steps to fill the last half as all that was before; and
 * nothing has emptied it, but for the end of the work. */
static bool may_go_on(const struct seep_case *c, const struct seep_doublings *d)
{
    const int32_t judged = c->span->last - c->span->warm;
    const int32_t late = c->span->last - judged / SEEP_T_ENDED;

    return c->span->last - d->last <= d->last &&
           seep_level_at(&c->signs->growth.level, late).bytes >= d->to - d->to / SEEP_T_STAIR_FALL;
}

/* What the line had at its highest, site by site: at the end it may be freed. */
static void keep_highest(const struct seep_case *c, const struct seep_doublings *d,
                         struct seep_finding *f)
{
    for (size_t i = 0; i < c->n_sites; i++)
        if (c->m->sites[c->sites[i]].totals.peak_bytes >= SEEP_T_SHOWN_BYTES)
            seep_finding_keep(f, c->sites[i], c->m->sites[c->sites[i]].totals.peak_bytes, 0);
    f->live_bytes = (uint64_t)d->to;
    f->count = (uint64_t)d->blocks;
}

bool seep_is_doubling(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_doublings d = seep_doublings_find(&c->signs->growth.level);
    char from[SEEP_SIZE_TEXT], to[SEEP_SIZE_TEXT];

    if (d.n < SEEP_T_SERIES || d.to < SEEP_T_LARGE_BYTES || c->signs->is_network ||
        !seep_case_space(c)->host_like || !may_go_on(c, &d))
        return false;
    keep_highest(c, &d, f);
    if (!f->n_sites)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_DOUBLING, SEEP_PRESSURE, SEEP_POSSIBLE);
    seep_finding_note(f, SEEP_DOUBLING_TEXT, seep_text_size((double)d.from, from),
                      seep_text_size((double)d.to, to), d.n, seep_case_unit(c), (int)d.last,
                      (int)c->span->last);
    return true;
}
