/* Findings on many lines at once: what each step leaves to the next one, and pages that forked
 * workers copy by counting references. */
#include "libprof/base/text.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/pattern_judge.h"
#include "libprof/words/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads what a site holds at the end of a step. Returns 0 or -SEEP_ENOMEM. */
static int live_at(const struct seep_case *c, uint32_t site, int32_t step, struct seep_held *out)
{
    struct seep_level level = {0};
    int rc = seep_level_sum(c->m, &site, 1, SEEP_LEVEL_ALL, &level);
    const struct seep_level_point p =
        rc ? (struct seep_level_point){0} : seep_level_at(&level, step);

    seep_level_fini(&level);
    *out = (struct seep_held){p.bytes > 0 ? (uint64_t)p.bytes : 0,
                              p.blocks > 0 ? (uint64_t)p.blocks : 0};
    return rc;
}

/* ---- carry-over: a step's blocks die in the next one, beside its own ---------------------- */

/* Whether the site's blocks are freed in the step after their own. */
static bool dies_in_next_step(const struct seep_case *c, const struct seep_model_site *s)
{
    const struct seep_model_extra *e = s->extra ? &c->m->extras[s->extra - 1] : NULL;
    uint64_t frees = 0;

    if (!e || s->n_slots != 1 || !c->code->lines->is_own[s->stack] ||
        c->code->lines->importing[s->stack] || s->last_step - s->first_step < SEEP_T_STEPS ||
        s->totals.allocations < 2 * SEEP_T_STEPS)
        return false;
    for (unsigned b = 0; b < SEEP_LIFETIME_BUCKETS; b++)
        frees += seep_frees_of_age(&e->counts, b);
    return frees && (double)seep_frees_of_age(&e->counts, 1) >= SEEP_T_NEARLY_ALL * (double)frees;
}

/* Bytes that a site has twice at its peak and once (*steady) at the ends of steps; 0 if it does not
 * do that. */
static uint64_t carried_by(const struct seep_model_site *s, uint64_t steady)
{
    const uint64_t peak = s->totals.peak_bytes, more = peak > steady ? peak - steady : 0;

    if (!steady || (double)more < SEEP_T_CARRIED_TWICE * (double)steady)
        return 0;
    return more < steady ? more : steady;
}

/* Whether a site's blocks lie where carry-over is looked for; host memory counts as one. */
static bool is_of_space(const struct seep_case *c, const struct seep_model_site *site,
                        uint16_t space)
{
    return space == c->m->host ? c->m->spaces[site->space].name.host_like : site->space == space;
}

/* The host, and what holds a device's blocks: the tensors if an allocator hands them out. */
static bool may_carry(const struct seep_case *c)
{
    const enum seep_space_class class = seep_case_space(c)->class;
    uint16_t tensors;

    return c->space == c->m->host || class == SEEP_CLASS_TENSOR ||
           (class == SEEP_CLASS_DEVICE && !seep_model_tensor_space(c->m, c->space, &tensors));
}

/* Adds up what sites carry over. Returns 0 or -SEEP_ENOMEM. */
static int gather_carried(struct seep_case *c, struct seep_finding *f, uint64_t *sum)
{
    const uint16_t space = c->space;
    const int32_t middle = c->span->warm + (c->span->last - c->span->warm) / 2;
    uint64_t most = 0;

    *sum = 0;
    for (uint32_t i = 0; i < c->m->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        struct seep_held steady;
        if (!is_of_space(c, site, space) || !dies_in_next_step(c, site))
            continue;
        if (live_at(c, i, middle, &steady))
            return -SEEP_ENOMEM;
        const uint64_t carried = carried_by(site, steady.bytes);
        if (!carried)
            continue;
        *sum += carried;
        seep_finding_keep(f, i, steady.bytes, steady.blocks);
        if (carried > most) {
            most = carried;
            c->frame = c->code->lines->shown[site->stack];
            c->part = (enum seep_part)c->code->lines->part[site->stack];
            c->space = site->space;
        }
    }
    return 0;
}

int seep_find_carry_over(struct seep_case *c, struct seep_finding *f, bool *found)
{
    char size[SEEP_SIZE_TEXT], space[SEEP_SPACE_WORDS];
    uint64_t sum;

    if (!may_carry(c))
        return 0;
    if (gather_carried(c, f, &sum))
        return -SEEP_ENOMEM;
    const uint64_t peak = f->n_sites ? c->m->spaces[c->space].totals.peak_bytes : 0;
    *found = sum >= SEEP_T_PEAK_BYTES && sum * SEEP_T_CARRIED_SHARE >= peak;
    if (!*found)
        return 0;
    seep_finding_verdict(f, SEEP_PATTERN_CARRY_OVER, SEEP_INFO, SEEP_LIKELY);
    f->saving_bytes = sum;
    seep_finding_note(f,
                      "A step's blocks are freed during the next step, so %s of them exists twice",
                      seep_text_size((double)sum, size));
    f->advice = seep_text_format("del the step's batch, outputs and loss at the end of the loop "
                                 "body. This lowers the peak by %s; nothing is leaking.",
                                 size);
    seep_finding_note(f, "Nothing grows; the peak of %s could be %s (%.0f %%) lower",
                      seep_space_words(c->m->spaces[c->space].name.text, space), size,
                      100.0 * (double)sum / (double)peak);
    return 0;
}

/* ---- cow-growth: no allocation, and a forked child's own pages rise ---------------------- */

static bool is_of_process(const struct seep_model *m, const struct seep_model_site *site,
                          uint32_t process)
{
    for (uint32_t k = site->slots; k; k = m->slots[k - 1].next) {
        if (m->slots[k - 1].process == process)
            return true;
    }
    return false;
}

/* What a site had in a process at the end of a step. */
static int had_at(const struct seep_case *c, uint32_t site, uint32_t process, int32_t step,
                  struct seep_held *out)
{
    struct seep_level level = {0};
    const int rc = seep_level_sum(c->m, &site, 1, process, &level);
    const struct seep_level_point p =
        rc ? (struct seep_level_point){0} : seep_level_at(&level, step);

    seep_level_fini(&level);
    *out = (struct seep_held){(uint64_t)p.bytes, (uint64_t)p.blocks};
    return rc;
}

/* Small objects that the trainer had when it forked its workers lie in the arenas of Python's
 * allocator. Which line asked for an arena is chance, so the finding is about all of them; the line
 * that asked for most had made most. Returns 0 or -SEEP_ENOMEM. */
static int find_arenas(struct seep_case *c, uint32_t parent, int32_t forked, struct seep_finding *f)
{
    const struct seep_model *m = c->m;
    const uint64_t arena_bytes =
        m->processes[parent].id.arena_bytes; /* libraries map other sizes */
    uint64_t *by_line = calloc(m->dict.n_frames, sizeof *by_line), most = 0;
    struct seep_held live;
    int rc = by_line ? 0 : -SEEP_ENOMEM;

    for (uint32_t i = 0; i < m->n_sites && !rc; i++) {
        const struct seep_model_site *site = &m->sites[i];
        const struct seep_totals *t = &site->totals;
        if (m->spaces[site->space].name.class != SEEP_CLASS_MMAP || !t->allocations ||
            !is_of_process(m, site, parent) || c->code->lines->importing[site->stack] ||
            !c->code->lines->is_own[site->stack] ||
            t->allocated_bytes / t->allocations != arena_bytes)
            continue;
        rc = had_at(c, i, parent, forked, &live); /* before, and at the job's end, they may go */
        if (rc || !live.bytes)
            continue;
        const uint32_t line = c->code->lines->shown[site->stack];
        seep_finding_keep(f, i, live.bytes, live.blocks);
        by_line[line] += live.bytes;
        if (by_line[line] > most) {
            most = by_line[line];
            c->frame = line;
            c->space = site->space;
            c->part = (enum seep_part)c->code->lines->part[site->stack];
        }
    }
    free(by_line);
    return rc;
}

static uint64_t own_live(const struct seep_model_process *p)
{
    uint64_t sum = 0;

    for (int s = 0; s < SEEP_MAX_SPACES; s++)
        sum += p->space_of[s] ? p->spaces[s].peak_bytes : 0;
    return sum;
}

/* Pages that forked workers came to own without allocating. */
struct copied {
    uint64_t bytes, own_bytes; /* own: at most, of their own blocks */
    uint32_t workers, parent;  /* parent: index + 1 */
    int32_t forked;            /* step in which the last of them was */
    double steps, rise;
};

/* It has its parent's memory, and does not train with a copy of it. */
static bool is_forked(const struct seep_model_process *p)
{
    return p->parent &&
           (p->role == SEEP_ROLE_WORKER || (p->role == SEEP_ROLE_HELPER && p->recording.inherits));
}

static struct copied add_copied(const struct seep_model *m)
{
    struct copied sum = {0};

    for (uint32_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        const struct seep_process *e = p->entry;
        uint64_t held = own_live(p);
        if (!is_forked(p) || !e || e->private_last_bytes <= held)
            continue;
        uint64_t base = held + SEEP_T_INTERPRETER_BYTES;
        if (e->private_first_bytes < base)
            base = e->private_first_bytes;
        uint64_t copied = e->private_last_bytes > base ? e->private_last_bytes - base : 0;
        if (copied < SEEP_T_LARGE_BYTES || copied < SEEP_T_COPIED_TIMES * held)
            continue;
        sum.bytes += copied;
        sum.own_bytes += held;
        sum.parent = p->parent;
        const int32_t forked = seep_model_step_at(m, p->start_ns);
        sum.forked = !sum.workers || forked > sum.forked ? forked : sum.forked;
        sum.workers++;
        if (e->private_last_period > e->private_first_period) {
            sum.steps += (double)(e->private_last_period - e->private_first_period);
            sum.rise += (double)e->private_last_bytes - (double)e->private_first_bytes;
        }
    }
    return sum;
}

/* The same of large blocks, which only a write copies: where the kernel says whose each page is. */
struct written {
    uint64_t bytes;
    uint32_t children, workers; /* that could be judged; of these, that write */
    uint32_t site, process;     /* that wrote to most */
    int32_t from, to;           /* steps of the first and the last sample of all workers */
};

/* A page becomes a child's alone also where its parent writes to it, as a trainer does to all of
 * its parameters at once, and where the last other child ends. So what a child writes to has to
 * rise from sample to sample. */
static bool rises(const struct seep_rss_sample *first, const struct seep_rss_sample *last)
{
    const double rise = (double)last->written_bytes - (double)first->written_bytes;
    double most = 0;

    for (const struct seep_rss_sample *s = first + 1; s <= last; s++)
        most = fmax(most, (double)s->written_bytes - (double)s[-1].written_bytes);
    return rise >= SEEP_T_PEAK_BYTES && most < SEEP_T_NEARLY_ALL * rise;
}

static void add_written(const struct seep_model *m, const struct seep_model_process *p,
                        struct written *sum, uint64_t *most)
{
    const struct seep_rss_sample *list = p->samples.list, *first = NULL, *last = NULL;

    for (uint32_t i = 0; i < p->samples.n; i++) {
        first = first || !list[i].written_bytes ? first : &list[i];
        last = last && last->written_bytes > list[i].written_bytes ? last : &list[i];
    }
    if (!first || last - first + 1 < SEEP_T_SERIES)
        return;
    sum->children++;
    if (!p->written_site_plus_1 || !rises(first, last))
        return;
    const uint64_t rise = last->written_bytes - first->written_bytes;
    const int32_t from = seep_model_step(m, p, first->period);
    const int32_t to = seep_model_step(m, p, last->period);
    sum->from = sum->workers && sum->from < from ? sum->from : from;
    sum->to = sum->workers && sum->to > to ? sum->to : to;
    sum->workers++;
    sum->bytes = seep_sum(sum->bytes, rise);
    if (rise > *most) {
        *most = rise;
        sum->site = p->written_site_plus_1 - 1;
        sum->process = (uint32_t)(p - m->processes);
    }
}

/* Where pages are large, few writes copy much. */
static void note_large_pages(const struct seep_case *c, uint32_t process, struct seep_finding *f)
{
    const uint32_t page_bytes = c->m->processes[process].id.page_bytes;

    if (page_bytes > SEEP_LEAST_PAGE_BYTES)
        seep_finding_note(
            f, "A page of this machine has %u KiB: the first write to one copies so much",
            page_bytes / 1024);
}

static bool find_written(struct seep_case *c, struct seep_finding *f)
{
    const struct seep_model *m = c->m;
    struct written sum = {0};
    char all[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];
    uint64_t most = 0;

    for (uint32_t i = 0; i < m->n_processes; i++)
        if (is_forked(&m->processes[i]))
            add_written(m, &m->processes[i], &sum, &most);
    if (sum.bytes < SEEP_T_LARGE_BYTES || sum.workers <= SEEP_T_HALF * sum.children)
        return false;
    const uint32_t stack = m->sites[sum.site].stack;
    c->frame = c->code->lines->shown[stack];
    c->part = (enum seep_part)c->code->lines->part[stack];
    seep_finding_keep(f, sum.site, sum.bytes, 0);
    seep_finding_verdict(f, SEEP_PATTERN_COW_GROWTH, SEEP_RETENTION, SEEP_LIKELY);
    f->saving_bytes = sum.bytes;
    const double slope = sum.to > sum.from ? (double)sum.bytes / (sum.to - sum.from) : 0;
    f->growth = (struct seep_slope){slope, slope, slope};
    f->returns = true;
    seep_finding_note(f,
                      "%u forked processes wrote to %s each (%s in all) of large blocks that they "
                      "had inherited, and so copied it; this line had made most of that",
                      sum.workers, seep_text_size((double)sum.bytes / sum.workers, each),
                      seep_text_size((double)sum.bytes, all));
    note_large_pages(c, sum.process, f);
    f->advice = strdup("Copy what is changed (row = self.rows[i].copy()) and let the copy go; or "
                       "change all of it once, before the processes start; or keep it in shared "
                       "memory (tensor.share_memory_()), if all may see the changes.");
    return true;
}

int seep_find_cow_growth(struct seep_case *c, struct seep_finding *f, bool *found)
{
    const struct copied sum = add_copied(c->m);
    char all[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT], live[SEEP_SIZE_TEXT];

    if (c->space != c->m->host)
        return 0;
    *found = find_written(c, f);
    if (*found)
        return f->advice ? 0 : -SEEP_ENOMEM;
    if (!sum.workers)
        return 0;
    if (find_arenas(c, sum.parent - 1, sum.forked, f))
        return -SEEP_ENOMEM;
    /* If more is copied than lies there, other pages are copied, too: those that the trainer itself
     * writes to, its parameters, also become the worker's private pages. */
    *found = f->n_sites > 0 && (double)sum.bytes <= SEEP_T_COPIED_ARENAS * (double)f->live_bytes *
                                                        (double)sum.workers;
    if (!*found)
        return 0;
    seep_finding_verdict(f, SEEP_PATTERN_COW_GROWTH, SEEP_RETENTION, SEEP_LIKELY);
    f->saving_bytes = sum.bytes;
    if (sum.steps > 0) {
        double slope = sum.rise / (sum.steps / sum.workers);
        f->growth = (struct seep_slope){slope, slope, slope};
        f->returns = true;
    }
    seep_finding_note(f,
                      "%u forked processes came to own %s of pages each (%s in all) that they did "
                      "not allocate; their own blocks never exceeded %s",
                      sum.workers, seep_text_size((double)sum.bytes / sum.workers, each),
                      seep_text_size((double)sum.bytes, all),
                      seep_text_size((double)sum.own_bytes / sum.workers, live));
    seep_finding_note(f, "Reading a Python object writes its reference count, and that copies its "
                         "page; this line made most of the objects before the fork");
    note_large_pages(c, sum.parent - 1, f);
    return 0;
}
