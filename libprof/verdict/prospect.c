#include "libprof/verdict/prospect.h"

#include <math.h>
#include <string.h>

#include "libprof/measure/resident/memory_limit.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/freed_blocks.h"
#include "libprof/verdict/library_sites.h"
#include "libprof/verdict/renewal.h"

enum { FIRST_RISES = 16 }; /* looked at more closely if they are few */

/* When the level went up, and how much less often than steps ended. */
struct rises {
    int n;
    int looks; /* points where we looked: where the level moved, and fewer where its series became
                * coarse */
    int32_t first, last, longest_gap; /* steps */
    int32_t at[FIRST_RISES];          /* of the first ones */
};

/* What the predicates ask. */
struct outlook {
    const struct seep_case *c;
    const struct seep_signs *signs;
    const struct seep_growth *g;
    const struct seep_kept_by *k;
    struct rises r; /* of what grows */
    bool passed;    /* it grows after the first pass over the data, or lap of the loop */
};

/* ---- what the predicates measure ------------------------------------------------------------ */

/* The limit that the case's memory would reach first: the device's own, where it is known. */
static struct seep_limit limit_of(const struct seep_case *c, double slope)
{
    const struct seep_limit own = seep_memory_limit_of_space(c->m, c->space, slope);

    return own.bytes ? own : seep_memory_limit_nearest(c->m, slope, NULL, 0);
}

/* Too little to matter: small so far, and no run is long enough for it to fill the memory. */
static bool is_crumbs(const struct seep_case *c, const struct seep_growth *g)
{
    const struct seep_limit limit = limit_of(c, g->slope.value);
    const double total = g->slope.value * (g->to - g->from);

    return total < SEEP_T_CACHE_BYTES && total * SEEP_T_TINY_SHARE < (double)c->space_peak &&
           limit.bytes && seep_memory_limit_steps(&limit) > SEEP_T_CRUMBS_STEPS;
}

/* At this pace the memory will not be full within any run, whatever it grew by so far. */
static bool is_too_far(const struct seep_case *c, const struct seep_growth *g)
{
    const struct seep_limit limit = limit_of(c, g->slope.value);
    const double steps = limit.bytes ? seep_memory_limit_steps(&limit) : 0;
    const double step_s =
        c->m->n_steps ? (double)(c->m->end_ns - c->m->start_ns) / 1e9 / c->m->n_steps : 0;

    if (g->slope.value >= SEEP_T_FAR_BYTES || steps <= SEEP_T_FAR_RUNS * (double)c->m->n_steps)
        return false;
    return c->m->step_source == SEEP_STEP_TIME
               ? steps * step_s > SEEP_T_FAR_SECONDS
               : steps > SEEP_T_FAR_STEPS && steps * step_s > SEEP_T_FAR_TRAINING;
}

/* Whether what it gained are blocks of at most so many bytes. */
static bool gains_blocks_below(const struct seep_growth *g, int64_t most_bytes)
{
    const struct seep_level_point from = seep_level_at(&g->level, g->from);
    const struct seep_level_point to = seep_level_at(&g->level, g->to);

    return to.bytes - from.bytes <= (to.blocks - from.blocks) * most_bytes;
}

/* A number or two of each step, kept as tensors for a plot: PyTorch gives each the least that it
 * gives. The graph behind one is another matter. */
static bool are_numbers(const struct seep_case *c, const struct seep_signs *signs)
{
    const struct seep_growth *g = &signs->growth;
    const struct seep_limit limit = limit_of(c, g->slope.value);

    return c->m->spaces[c->space].name.class == SEEP_CLASS_TENSOR && !signs->timed &&
           !signs->kept_by.in_graph && !signs->kept_by.has_graph &&
           gains_blocks_below(g, SEEP_T_NUMBER_BYTES) &&
           g->slope.value <= SEEP_T_FAR_BYTES * (1 + SEEP_T_SAME_SIZE) && limit.bytes &&
           seep_memory_limit_steps(&limit) > SEEP_T_NUMBER_STEPS;
}

static double gained(const struct seep_growth *g, int32_t from, int32_t to)
{
    return (double)(seep_level_at(&g->level, to).bytes - seep_level_at(&g->level, from).bytes);
}

/* How far what a third gained may be off by chance, if it comes at random: its standard error. */
static double error_of(const struct seep_growth *g, int32_t from, int32_t third)
{
    const double mean = gained(g, from, from + third) / SEEP_T_PACE_PARTS;
    double squares = 0;

    for (int i = 0; i < SEEP_T_PACE_PARTS; i++) {
        const double off = gained(g, from + third * i / SEEP_T_PACE_PARTS,
                                  from + third * (i + 1) / SEEP_T_PACE_PARTS) -
                           mean;
        squares += off * off;
    }
    return sqrt(squares);
}

/* What two thirds of the time gained. If random growth comes unevenly, an equal pace may be chance:
 * their difference is only known to within its standard error. */
static bool keeps_pace(const struct seep_growth *g, int32_t from, int32_t third)
{
    const double before = gained(g, from, from + third);
    const double after = gained(g, from + third, from + 2 * third);
    const double error = hypot(error_of(g, from, third), error_of(g, from + third, third));

    return fabs(after - before) <= SEEP_T_PACE_OFF * before && error <= SEEP_T_PACE_OFF * before;
}

static struct rises rises_of(const struct seep_growth *g)
{
    int64_t top = seep_level_at(&g->level, g->from).bytes;
    const int64_t range = seep_level_at(&g->level, g->to).bytes - top;
    struct rises r = {0};

    for (size_t i = 0; i < g->level.n && g->level.points[i].step <= g->to; i++) {
        const struct seep_level_point *p = &g->level.points[i];
        r.looks += p->step > g->from;
        if (p->step <= g->from || p->bytes <= top + range / SEEP_T_RISE_SHARE)
            continue;
        if (r.n < FIRST_RISES)
            r.at[r.n] = p->step;
        if (r.n++ == 0)
            r.first = p->step;
        else if (p->step - r.last > r.longest_gap)
            r.longest_gap = p->step - r.last;
        r.last = p->step;
        top = p->bytes;
    }
    return r;
}

/* The most that one of the level's bursts from `from` on added: rises that follow each other
 * closely, as in a trial, a fold or an evaluation. */
static double largest_burst(const struct seep_growth *g, const struct rises *r, int32_t from)
{
    const int32_t close = r->longest_gap / SEEP_T_RARE;
    double largest = 0, burst = 0;
    int64_t top = seep_level_at(&g->level, from).bytes;
    int32_t last = from;

    for (size_t i = 0; i < g->level.n && g->level.points[i].step <= g->to; i++) {
        const struct seep_level_point *p = &g->level.points[i];
        if (p->step <= from || p->bytes <= top)
            continue;
        burst = (p->step - last > close ? 0 : burst) + (double)(p->bytes - top);
        largest = burst > largest ? burst : largest;
        last = p->step;
        top = p->bytes;
    }
    return largest;
}

/* ---- by what it is, or who holds it --------------------------------------------------------- */

/* Compilers and other tools that a job runs do one thing and end. */
static bool is_of_tools(const struct outlook *o)
{
    const struct seep_model *m = o->c->m;

    for (size_t i = 0; i < o->c->n_sites; i++) {
        for (uint32_t k = m->sites[o->c->sites[i]].slots; k; k = m->slots[k - 1].next) {
            const uint32_t at = m->slots[k - 1].process;
            const struct seep_model_process *p = &m->processes[at];
            if (at == m->root || at == m->main || p->id.python_version ||
                p->role != SEEP_ROLE_HELPER)
                return false;
        }
    }
    return true;
}

/* The holder says how many it holds at most; they fit in memory, and it will get there. */
static bool is_bounded(const struct outlook *o)
{
    const struct seep_kept_by *k = o->k;
    const double slope = o->g->slope.value;
    const double to_come = (double)(k->bound - k->length) * k->entry_bytes;

    if (!k->bounded)
        return false;
    const struct seep_limit limit = limit_of(o->c, slope);
    if (limit.bytes && (double)limit.used + to_come > (double)limit.bytes)
        return false;
    return k->length == k->bound || to_come <= slope * SEEP_T_BOUND_STEPS * o->c->m->n_steps;
}

/* A library's cache that keeps something for each thread or communicator stops when their number
 * does. */
static bool is_growing_cache(const struct outlook *o)
{
    return o->signs->cache && o->signs->cache->blocks == SEEP_LIBRARY_CACHE_EACH && o->g->growing;
}

/* One with a bound, or that has stopped growing, is harmless. */
static bool is_full_cache(const struct outlook *o)
{
    return o->signs->cache && !is_growing_cache(o);
}

/* What nobody holds nobody will free, whatever its pace and on any axis: it need not pass every
 * test of growth, but must grow clearly, and by enough to be worth reporting. */
static bool is_lost_for_good(const struct outlook *o)
{
    const struct seep_growth *g = o->g;

    return seep_kept_by_nobody(o->k) && o->signs->enough_steps &&
           (g->growing ||
            (g->slope.low > 0 && g->slope.value * (g->to - g->from) >= SEEP_T_PEAK_BYTES));
}

static bool is_negligible(const struct outlook *o)
{
    return is_crumbs(o->c, o->g) || is_too_far(o->c, o->g) || are_numbers(o->c, o->signs);
}

/* What needs no further test of growth. */
static bool is_negligible_at_once(const struct outlook *o)
{
    return (is_growing_cache(o) || is_lost_for_good(o)) && is_negligible(o);
}

/* ---- too little was seen -------------------------------------------------------------------- */

static bool are_arenas(const struct outlook *o)
{
    return o->signs->of_arenas && !o->c->is_small_objects && !(o->k->known && o->k->grows);
}

/* A cache that fills with ever new sizes knows nothing of steps and passes. */
static bool may_be_freed(const struct outlook *o)
{
    return seep_freed_blocks_cache(o->c, o->signs) != NULL;
}

static bool shows_no_growth(const struct outlook *o)
{
    return !o->g->growing || !o->signs->enough_steps;
}

/* In steps that were not recorded. */
static bool came_before(const struct outlook *o)
{
    return o->c->m->processes[o->c->m->main].recording.steps_before != 0;
}

/* The network itself grows. */
static bool is_trained(const struct outlook *o)
{
    return o->k->trained;
}

static bool is_long(const struct seep_growth *g)
{
    return g->to - g->from >= SEEP_T_LONG_RUN;
}

/* A stream has no pass to wait for, and each of its items is met once: code that keeps them all for
 * so long does not do so to use them again. */
static bool is_endless_stream(const struct outlook *o)
{
    return o->signs->is_kept_stream && is_long(o->g);
}

/* A library's pool of pinned memory, as a loader's thread fills it: each batch is pinned once, and
 * its memory is used again. */
static bool is_pool_in_use(const struct outlook *o)
{
    return o->c->m->spaces[o->c->space].name.class == SEEP_CLASS_PINNED && o->signs->is_data &&
           !o->c->code->lines->is_own[o->c->m->sites[o->c->sites[0]].stack] && is_long(o->g);
}

/* One entry of each step so far, when it was looked at last. */
static bool has_each_step(const struct seep_kept_by *k)
{
    const int64_t steps = k->step, off = (int64_t)k->length - steps;

    return steps >= SEEP_T_MANY && k->length < INT32_MAX &&
           (off < 0 ? -off : off) <= steps / SEEP_T_LARGE_SHARE;
}

/* A list that is added to for so long, of what no loader or data set made: its length has nothing
 * to do with a pass over the data, of which many jobs never end one. */
static bool is_history(const struct outlook *o)
{
    const struct seep_kept_by *k = o->k;

    return (k->grows || has_each_step(k)) &&
           (strcmp(k->type, "list") == 0 || strcmp(k->type, "deque") == 0) && !o->signs->is_data &&
           !o->g->by_process && is_long(o->g);
}

static bool needs_no_pass(const struct outlook *o)
{
    return is_endless_stream(o) || is_pool_in_use(o) || is_history(o);
}

static bool is_in_first_pass(const struct outlook *o)
{
    return o->c->span->epochs_known && !o->c->span->epoch_passed && !needs_no_pass(o);
}

static bool lives_for_one_pass(const struct outlook *o)
{
    return !o->g->past_epoch && !needs_no_pass(o);
}

/* The pass in which it began did not end, or too little came after it. */
static bool began_too_late(const struct outlook *o)
{
    const struct seep_growth *g = o->g;

    return o->c->span->epoch_passed && g->began_late && !g->by_process &&
           (!g->began_end || o->c->span->last - g->began_end < SEEP_MIN_JUDGED);
}

static bool began_after_training(const struct outlook *o)
{
    return o->g->after_training && !o->g->by_process;
}

/* ---- by its course -------------------------------------------------------------------------- */

static bool fades(const struct outlook *o)
{
    return o->signs->fading.fades;
}

/* Grows in a few steps only, and not at all in between. */
static bool is_in_few_steps(const struct outlook *o)
{
    return o->r.n < SEEP_T_MANY;
}

/* Each rise makes all of it anew. If there are many, a history that is joined to itself must be
 * ruled out, which takes the names of its makers. */
static bool is_renewed(const struct outlook *o)
{
    return (is_in_few_steps(o) || (o->signs->makers.known && !o->signs->makers.joins)) &&
           seep_is_renewed(o->c, o->signs, o->r.longest_gap, o->r.last);
}

static bool is_made_anew(const struct outlook *o)
{
    if (!o->g->by_process && (is_renewed(o) || seep_is_queue(o->c, o->signs)))
        return true;
    return o->signs->is_replaced && !o->k->grows &&
           (!o->signs->makers.joins || seep_is_joined_of_new(o->c, o->signs));
}

static bool outlasts_a_pass(const struct outlook *o)
{
    return o->passed && !o->c->span->by_laps;
}

static bool is_short_by_time(const struct outlook *o)
{
    return o->signs->timed && !is_long(o->g);
}

static bool comes_in_jumps(const struct outlook *o)
{
    return !o->g->by_process && is_in_few_steps(o);
}

/* Evaluations that leave the same behind each time, in something that outlives them. If one reaches
 * into the next step, its rises lie close together. */
static bool is_gathered_in_jumps(const struct outlook *o)
{
    const struct rises *r = &o->r;
    int pauses = 0;

    if (!comes_in_jumps(o))
        return false;
    for (int i = 1; i < r->n && i < FIRST_RISES; i++)
        pauses += r->at[i] - r->at[i - 1] > r->longest_gap / 2;
    return o->k->gathers && !o->k->bounded && pauses >= SEEP_T_GATHERED_PAUSES &&
           r->longest_gap * pauses <= (r->last - r->first) * SEEP_T_EVEN_GAPS &&
           o->g->to - r->last <= r->longest_gap * SEEP_T_EVEN_GAPS;
}

/* One or a few blocks that are remade larger: data and parameters that grow; not a history that is
 * joined to itself in every step. */
static bool is_remade(const struct seep_signs *signs, bool is_of_every_step)
{
    const struct seep_staircase *s = &signs->staircase;

    return s->climbs && s->most_blocks > 0 && !(signs->makers.joins && is_of_every_step) &&
           s->most_blocks - s->least_blocks <= s->least_blocks / SEEP_T_STAIR_BLOCKS &&
           s->most_blocks <= SEEP_T_MANY;
}

/* After the last step one block is made of all that was kept: it was gathered for a use. */
static bool is_used_at_the_end(const struct outlook *o)
{
    const struct seep_case *c = o->c;
    const double kept = (double)seep_level_at(&o->g->level, c->span->last).bytes;

    for (size_t i = 0; i < c->m->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        const struct seep_totals *t = &site->totals;
        if (site->first_step <= c->span->last || !t->allocations || o->g->by_process)
            continue;
        double size = site->extra ? (double)c->m->extras[site->extra - 1].max_bytes
                                  : (double)t->allocated_bytes / (double)t->allocations;
        if (fabs(size - kept) <= SEEP_T_USED_OFF * kept)
            return true;
    }
    return false;
}

/* An evaluation after each lap leaves as much behind as the one before. */
static bool comes_lap_by_lap(const struct outlook *o)
{
    return comes_in_jumps(o) && o->passed && o->g->epochs >= SEEP_T_EVEN_LAPS &&
           !is_remade(o->signs, o->signs->makers.joins) && !is_used_at_the_end(o);
}

/* It has not gone up for much longer than any earlier pause. */
static bool has_stopped(const struct outlook *o)
{
    const int32_t since = o->g->to - o->r.last;

    return !o->g->by_process && since >= SEEP_T_STEPS &&
           since > SEEP_T_STOPPED_GAPS * o->r.longest_gap;
}

/* What is stored under keys is there once for each key: new ones may come ever more rarely. */
static bool is_keyed(const struct seep_kept_by *k)
{
    return k->length && (strcmp(k->type, "dict") == 0 || strcmp(k->type, "set") == 0);
}

/* Things that are met ever more rarely (shapes, words, rows) add less and less. A level that was
 * only large at its start and has kept its pace since does not slow down; nor does one where a
 * third just missed a burst. */
static bool slows_down(const struct outlook *o)
{
    const struct seep_growth *g = o->g;
    const int32_t third = (g->to - g->from) / 3, begin = g->from + 2 * third;

    if (g->by_process || third < SEEP_T_STEPS)
        return false;
    const double first = gained(g, g->from, g->from + third);
    const double last = gained(g, begin, begin + third) + largest_burst(g, &o->r, g->from + third);
    const double chance = is_keyed(o->k) ? SEEP_T_TREND_Z * error_of(g, begin, third) : 0;
    return last < SEEP_T_SLOWED * first ||
           (last - chance <= SEEP_T_SLOWING * first && !keeps_pace(g, g->from + third, third));
}

static bool is_made_each_step(const struct seep_case *c)
{
    uint64_t made = 0;

    for (size_t i = 0; i < c->n_sites; i++)
        made += c->m->sites[c->sites[i]].totals.allocations;
    return 2 * made > (uint64_t)c->span->last;
}

static bool is_enlarged(const struct outlook *o)
{
    return is_remade(o->signs, is_made_each_step(o->c) && o->r.n > o->r.looks / 2);
}

/* ---- by what keeps its pace ----------------------------------------------------------------- */

/* Derived data that items keep from their first use: no more of them were used so far than there
 * are, and there were as many before. A list that is added to was shorter when it was looked at. */
static bool is_of_items(const struct outlook *o)
{
    const struct seep_growth *g = o->g;
    const struct seep_kept_by *k = o->k;
    const struct seep_site_signs *main = &o->signs->sites[0];

    for (size_t i = 1; i < o->c->n_sites; i++) {
        if (o->signs->sites[i].kept.bytes > main->kept.bytes)
            main = &o->signs->sites[i];
    }
    return !g->by_process && k->in_entries && !k->grows && !k->rose && k->length >= SEEP_T_MANY &&
           (uint64_t)o->r.n <= k->length && main->kept.blocks <= k->length &&
           (k->stays || k->step <= g->to - (g->to - g->from) / SEEP_T_ENDED);
}

/* The cost of items' first use looks like growth until every item was used. */
static bool may_be_first_use(const struct outlook *o)
{
    const bool appended = o->k->grows && strcmp(o->k->type, "dict") != 0;

    return !o->passed && o->signs->is_data && !o->c->has_workers && !appended;
}

static bool has_growing_holder(const struct outlook *o)
{
    return o->k->grows;
}

static bool is_in_a_librarys_data(const struct outlook *o)
{
    return *o->k->library && seep_library_keeps_its_own(o->c, o->signs);
}

static bool outlasts_a_lap(const struct outlook *o)
{
    return o->passed;
}

/* By time slices alone, what a library makes for itself (compiled code, pools, tables) cannot be
 * told from whatever it does for the first time. */
static bool library_unjudgeable_by_time(const struct outlook *o)
{
    return o->signs->timed && !o->c->code->lines->is_own[o->c->m->sites[o->c->sites[0]].stack];
}

/* Small blocks of a library, little beside the job, and nothing was seen that holds ever more of
 * them: what a library fills once, a queue of its own or a table, keeps its pace until it is full.
 */
static bool is_little(const struct outlook *o)
{
    const struct seep_growth *g = o->g;
    const struct seep_kept_by *k = o->k;
    const bool is_held = k->length || (k->known && k->state == SEEP_HOLDERS_CYCLE);
    const double total = g->slope.value * (g->to - g->from);

    return o->c->m->spaces[o->c->space].name.host_like && !is_held &&
           gains_blocks_below(g, SEEP_T_SMALL_BYTES) &&
           total * SEEP_T_RSS_SHARE < (double)seep_resident_at_most(o->c->m).bytes &&
           seep_library_makes_it(o->c, o->signs);
}

/* What is left. */
static bool grows(const struct outlook *o)
{
    return o->g->growing;
}

/* ---- the table ------------------------------------------------------------------------------ */

enum kind { ENDS, OPEN, ENDLESS };

static const struct {
    enum kind kind;
    const char *text;
} prospects[] = {
#define SEEP_PROSPECT(kind, id, fits, text) [SEEP_##kind##_##id] = {kind, text},
#define SEEP_PROSPECT_ALSO(kind, id, fits)
#include "libprof/verdict/prospects.def"
#undef SEEP_PROSPECT
#undef SEEP_PROSPECT_ALSO
};

static const struct {
    bool (*fits)(const struct outlook *);
    enum seep_prospect prospect;
} reasons[] = {
#define SEEP_PROSPECT(kind, id, fits, text) {fits, SEEP_##kind##_##id},
#define SEEP_PROSPECT_ALSO(kind, id, fits)  {fits, SEEP_##kind##_##id},
#include "libprof/verdict/prospects.def"
#undef SEEP_PROSPECT
#undef SEEP_PROSPECT_ALSO
};

enum seep_prospect seep_prospect_of(const struct seep_case *c, const struct seep_signs *signs)
{
    struct outlook o = {.c = c, .signs = signs, .g = &signs->growth, .k = &signs->kept_by};
    size_t i = 0; /* the last row fits all that grows, and what does not was caught before it */

    o.passed = o.g->past_epoch && c->span->epoch_passed;
    if (o.g->growing)
        o.r = rises_of(o.g);
    while (!reasons[i].fits(&o))
        i++;
    return reasons[i].prospect;
}

bool seep_prospect_is_endless(enum seep_prospect p)
{
    return prospects[p].kind == ENDLESS;
}

bool seep_prospect_is_open(enum seep_prospect p)
{
    return prospects[p].kind == OPEN;
}

const char *seep_prospect_text(enum seep_prospect p)
{
    return prospects[p].text;
}

bool seep_prospect_is_open_text(const char *text)
{
    for (size_t p = 0; p < sizeof prospects / sizeof *prospects; p++) {
        if (prospects[p].kind == OPEN && strcmp(text, prospects[p].text) == 0)
            return true;
    }
    return false;
}
