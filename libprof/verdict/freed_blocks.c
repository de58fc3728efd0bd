#include "libprof/verdict/freed_blocks.h"

#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/work_areas.h"

enum {
    LARGEST_STEP = 8, /* between sizes: of a number */
    LATE = 8,         /* 1/n more: a site's first sizes leave no mark */
};

/* Blocks of some sites, and the sizes that these ever asked for. */
struct pile {
    uint64_t blocks, bytes;
    uint64_t least, most; /* 0: no size is known */
    uint64_t marks;
    uint64_t caches;
    bool is_sampled; /* few sizes left marks, and the numbers are estimates */
};

static struct pile pile_of(const struct seep_case *c, const struct seep_signs *signs, size_t i)
{
    const struct seep_model_site *site = &c->m->sites[c->sites[i]];
    const struct seep_held *kept = &signs->sites[i].kept;
    struct pile p = {.blocks = (uint64_t)kept->blocks,
                     .bytes = (uint64_t)kept->bytes,
                     .caches = seep_site_processes(c->m, site),
                     .is_sampled = site->sampling_variance > 0};

    p.caches += !p.caches;
    if (site->extra) {
        const struct seep_model_extra *extra = &c->m->extras[site->extra - 1];
        p.least = extra->min_bytes;
        p.most = extra->max_bytes;
        p.marks = extra->size_marks;
    }
    return p;
}

static void pile_up(struct pile *all, const struct pile *p)
{
    all->blocks += p->blocks;
    all->bytes += p->bytes;
    if (p->least && (!all->least || p->least < all->least))
        all->least = p->least;
    if (p->most > all->most)
        all->most = p->most;
    if (p->caches > all->caches)
        all->caches = p->caches;
    all->marks |= p->marks;
    all->is_sampled |= p->is_sampled;
}

/* The marks of all multiples of `step` between the least and the most size, and how many of these
 * have left theirs. */
static uint64_t marks_of(const struct pile *p, uint64_t step, uint64_t *n)
{
    uint64_t marks = 0;

    *n = 0;
    for (uint64_t s = (p->least + step - 1) / step * step; s <= p->most; s += step) {
        marks |= seep_size_mark(s);
        *n += (p->marks & seep_size_mark(s)) != 0;
    }
    return marks;
}

/* How many sizes these may be at most. They are multiples of a number if that accounts for all
 * marks, and multiples of its half would have left others. */
static uint64_t sizes_of(const struct pile *p)
{
    uint64_t step = LARGEST_STEP, n = 0, finer_n = 0;

    if (p->is_sampled)
        return p->most - p->least + 1;
    while (step > 1 &&
           ((p->marks & ~marks_of(p, step, &n)) || !(marks_of(p, step / 2, &finer_n) & ~p->marks)))
        step /= 2;
    (void)marks_of(p, step, &n);
    return n;
}

/* Whether so many blocks of each size at most can be these: by how many sizes there are, and by
 * their mean, since not all can be of the largest sizes. */
static bool is_some_of_each(const struct pile *p, uint64_t of_each)
{
    const double n = (double)p->blocks, of = (double)of_each * (double)p->caches;
    const double largest = n * (double)p->most - n * (n / of) / 2;
    const double slack = 1 + 1. / LATE;

    return n <= of * (double)sizes_of(p) * slack && (double)p->bytes <= largest * slack;
}

const struct seep_library_cache *seep_freed_blocks_cache(const struct seep_case *c,
                                                         const struct seep_signs *signs)
{
    const struct seep_library_cache *cache = NULL;
    struct pile all = {0};
    double its = 0, others = 0;

    for (size_t i = 0; i < c->n_sites && !signs->kept_by.known; i++) {
        const struct pile p = pile_of(c, signs, i);
        const double bytes = (double)seep_site_gained(&signs->sites[i]);
        const struct seep_library_cache *of =
            seep_library_cache_of_freed(&c->m->dict, c->m->sites[c->sites[i]].stack);
        if (!bytes)
            continue;
        if (!of || (cache && of != cache) || p.most >= of->block_bytes) {
            others += bytes;
            continue;
        }
        cache = of;
        /* All of one size, as what describes each array that is alive. */
        if (p.most && !p.is_sampled && p.bytes == p.blocks * p.most &&
            p.blocks > signs->sites[i].first.blocks + p.caches * of->blocks / of->block_bytes)
            return NULL;
        pile_up(&all, &p);
        its += bytes;
    }
    return cache && all.most && its >= SEEP_T_MOST * (its + others) &&
                   is_some_of_each(&all, cache->blocks / cache->block_bytes)
               ? cache
               : NULL;
}
