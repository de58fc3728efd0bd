#include "libprof/verdict/diagnosis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/measure/common_caller.h"
#include "libprof/measure/growth.h"
#include "libprof/measure/timeline_rows.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/arena_growth.h"
#include "libprof/verdict/case.h"
#include "libprof/verdict/finding.h"
#include "libprof/verdict/finding_list.h"
#include "libprof/verdict/library_sites.h"
#include "libprof/verdict/lines.h"
#include "libprof/verdict/messages.h"
#include "libprof/verdict/pattern_judge.h"
#include "libprof/verdict/prospect.h"
#include "libprof/verdict/what_if.h"
#include "libprof/words/step_words.h"

/* Memory that grows though no single line does: a little on each of many lines. */

struct seep_spread {
    bool found;
    uint32_t *sites; /* of all lines that do not grow by themselves; largest gain first */
    size_t n_sites;
    size_t n_gained;                    /* sites that have more at the end than when judging
                                         * began */
    size_t n_lines;                     /* lines that these sites lie on */
    double gained_bytes, largest_bytes; /* of all of them; of the line with most */
    uint32_t stack;                     /* the common caller's, 0 none; … */
    double below_bytes;                 /* … bytes gained below it */
};

/* What each site gained, and what each line gained. */
struct gains {
    struct gain {
        double bytes;
        uint32_t site;
    } * of_site;     /* [n] */
    double *of_line; /* [lines + 1]; the last: sites on no line */
};

static int by_bytes(const void *a, const void *b)
{
    const struct gain *p = a, *q = b;

    if (p->bytes > q->bytes || p->bytes < q->bytes)
        return p->bytes > q->bytes ? -1 : 1;
    return (p->site > q->site) - (p->site < q->site);
}

/* Segments belong to the tensor allocator: the tensors say what grows in them. */
static bool is_judged(const struct seep_model *m, uint16_t space)
{
    uint16_t tensors;

    return seep_space_of_line(m, space) == space && !seep_model_tensor_space(m, space, &tensors);
}

static int list_unexplained(const struct seep_model *m, const bool *explained, uint16_t space,
                            struct seep_spread *out)
{
    out->sites = malloc((m->n_sites + 1) * sizeof *out->sites);
    for (uint32_t i = 0; i < m->n_sites && out->sites; i++) {
        if (!explained[i] && seep_space_of_line(m, m->sites[i].space) == space)
            out->sites[out->n_sites++] = i;
    }
    return out->sites ? 0 : -SEEP_ENOMEM;
}

static uint64_t peak_of(const struct seep_model *m, uint16_t space)
{
    uint64_t peak = 0;

    for (uint16_t i = 0; i < m->n_spaces; i++) {
        if (seep_space_of_line(m, i) == space)
            peak = seep_sum(peak, m->spaces[i].totals.peak_bytes);
    }
    return peak;
}

/* A total that grows by less may be normal housekeeping. */
static bool is_worth_a_word(const struct seep_growth *g, uint64_t peak)
{
    const double total = g->slope.value * (g->to - g->from);

    return g->growing && total >= SEEP_T_PEAK_BYTES && total * SEEP_T_NEGLIGIBLE >= (double)peak;
}

static int weigh(const struct seep_model *m, const struct seep_growth *g,
                 const struct seep_lines *lines, struct gains *gains, struct seep_spread *out)
{
    struct seep_level level = {0};
    int rc = 0;

    for (size_t i = 0; i < out->n_sites && !rc; i++) {
        rc = seep_level_resident(m, &out->sites[i], 1, SEEP_LEVEL_ALL, &level);
        const int64_t last =
            g->by_process ? seep_level_highest(&level).bytes : seep_level_at(&level, g->to).bytes;
        const double gained = (double)(last - seep_level_at(&level, g->from).bytes);
        const uint32_t line = lines->of_site[out->sites[i]];
        gains->of_site[i] = (struct gain){gained > 0 ? gained : 0, out->sites[i]};
        gains->of_line[line ? line - 1 : lines->n] += gained;
    }
    seep_level_fini(&level);
    qsort(gains->of_site, out->n_sites, sizeof *gains->of_site, by_bytes);
    for (size_t i = 0; i < out->n_sites; i++) {
        out->sites[i] = gains->of_site[i].site;
        out->n_gained += gains->of_site[i].bytes > 0;
    }
    for (size_t i = 0; i <= lines->n; i++) {
        const double its = gains->of_line[i];
        if (its <= 0)
            continue;
        out->n_lines++;
        out->gained_bytes += its;
        out->largest_bytes = its > out->largest_bytes ? its : out->largest_bytes;
    }
    return rc;
}

static int find_caller(const struct seep_model *m, const struct gains *gains,
                       struct seep_spread *out)
{
    struct seep_common_caller caller;
    double *bytes = malloc((out->n_gained + 1) * sizeof *bytes);

    if (!bytes)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < out->n_gained; i++)
        bytes[i] = gains->of_site[i].bytes;
    const int rc = seep_common_caller_find(m, out->sites, bytes, out->n_gained, &caller);
    out->stack = caller.stack;
    out->below_bytes = caller.bytes;
    free(bytes);
    return rc;
}

/* If one line has most of it, that line was already judged by itself. */
static int look_at_lines(const struct seep_model *m, const struct seep_growth *g,
                         const struct seep_lines *lines, struct seep_spread *out)
{
    struct gains gains = {.of_site = calloc(out->n_sites + 1, sizeof *gains.of_site),
                          .of_line = calloc(lines->n + 1, sizeof *gains.of_line)};
    int rc = gains.of_site && gains.of_line ? weigh(m, g, lines, &gains, out) : -SEEP_ENOMEM;

    out->found =
        !rc && out->n_lines >= SEEP_T_MANY && out->largest_bytes < SEEP_T_HALF * out->gained_bytes;
    if (out->found)
        rc = find_caller(m, &gains, out);
    free(gains.of_site);
    free(gains.of_line);
    return rc;
}

/* Looks at one memory of the job, `space` (host stands for host and mmap): whether the sites of
 * lines that are not `explained` ([n_sites] of the model) grow as a whole, by an amount worth
 * reporting, without one line having most of it. Returns 0 or -SEEP_ENOMEM. Allocates: *out; free
 * with spread_fini(), also after an error. */
static int spread_find(const struct seep_code *code, const struct seep_span *span,
                       const struct seep_lines *lines, const bool *explained, uint16_t space,
                       struct seep_spread *out)
{
    const struct seep_model *m = code->model;
    struct seep_growth whole = {0};

    *out = (struct seep_spread){0};
    if (!is_judged(m, space))
        return 0;
    int rc = list_unexplained(m, explained, space, out);
    if (!rc)
        rc = seep_growth_measure(m, span, out->sites, out->n_sites, &whole);
    if (!rc && is_worth_a_word(&whole, peak_of(m, space)))
        rc = look_at_lines(m, &whole, lines, out);
    seep_growth_fini(&whole);
    return rc;
}

/* Notes in a finding's evidence how the growth is spread. */
static void spread_note(const struct seep_spread *spread, struct seep_finding *f)
{
    char most[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];

    seep_finding_note(f, "No line keeps growing by itself: the largest gained %s of %s",
                      seep_text_size(spread->largest_bytes, most),
                      seep_text_size(spread->gained_bytes, all));
    if (spread->below_bytes > 0)
        seep_finding_note(f, "%.0f %% of it was allocated below the line shown",
                          100 * spread->below_bytes / spread->gained_bytes);
}

static void spread_fini(struct seep_spread *spread)
{
    free(spread->sites);
    *spread = (struct seep_spread){0};
}

/* Findings on memory that was counted without stacks: its lines are unknown. */

/* A process's memory without stacks, at evenly spaced points over rows of its timeline. */
struct course {
    double y[SEEP_STATISTICS_MAX];
    size_t n;
    int32_t from, to;
    struct seep_trend trend;
};

static int sum_with_stacks(const struct seep_model *m, uint32_t process, struct seep_level *level)
{
    uint32_t *sites = malloc((m->n_sites + 1) * sizeof *sites);
    size_t n = 0;

    for (uint32_t i = 0; i < m->n_sites && sites; i++) {
        const uint32_t frame = m->dict.stacks[m->sites[i].stack].frame;
        if (m->spaces[m->sites[i].space].name.host_like && !m->dict.frames[frame].pseudo)
            sites[n++] = i;
    }
    const int rc = sites ? seep_level_sum(m, sites, n, process, level) : -SEEP_ENOMEM;
    free(sites);
    return rc;
}

/* False if there are too few rows in the judged steps. */
static bool follow(const struct seep_model *m, const struct seep_span *span,
                   const struct seep_model_process *p, const struct seep_level *with_stacks,
                   struct course *c)
{
    struct seep_timeline_rows rows;
    uint32_t first = UINT32_MAX, last = 0;

    for (uint32_t i = 0; i < p->n_rows && p->live; i++) {
        const int32_t step = seep_model_step(m, p, p->row_period[i]);
        if (step <= span->judge || step > span->last)
            continue;
        first = first < i ? first : i;
        last = i;
    }
    if (!seep_timeline_rows_spread(first, last, &rows))
        return false;
    c->n = rows.n;
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t row = seep_timeline_rows_at(&rows, i);
        const int32_t step = seep_model_step(m, p, p->row_period[row]);
        c->y[i] =
            seep_timeline_host_live(m, p, row) - (double)seep_level_at(with_stacks, step).bytes;
    }
    c->from = seep_model_step(m, p, p->row_period[first]);
    c->to = seep_model_step(m, p, p->row_period[last]);
    return c->to - c->from >= seep_span_steps_needed(m) &&
           seep_trend_measure(c->y, c->n, (double)(c->to - c->from) / (double)(c->n - 1),
                              &c->trend);
}

/* Judged like a total that is spread over many lines. */
static bool grows(const struct seep_model *m, const struct course *c)
{
    const double steps = c->to - c->from;

    return seep_trend_grows(&c->trend, steps, SEEP_T_PEAK_BYTES, SEEP_T_RISING) &&
           c->trend.slope.value * steps * SEEP_T_NEGLIGIBLE >=
               (double)m->spaces[m->host].totals.peak_bytes;
}

static int add_uncounted_finding(const struct seep_model *m, uint32_t process,
                                 const struct course *c, struct seep_findings *out)
{
    const char *unit = seep_step_unit(m->step_source == SEEP_STEP_TIME);
    const double last =
        fmin(fmax(c->y[c->n - 1], 0), 0x1p48); /* a damaged file may have any number here */
    char each[SEEP_SIZE_TEXT], events[SEEP_SIZE_TEXT];
    struct seep_finding f = {
        .pattern = SEEP_PATTERN_UNDETERMINED,
        .severity = SEEP_PRESSURE,
        .confidence = SEEP_POSSIBLE,
        .part = SEEP_PART_OTHER,
        .space = m->host,
        .live_bytes = (uint64_t)last,
        .peak_bytes = (uint64_t)last,
        .growth = c->trend.slope,
        .first_step = c->from,
        .sites = calloc(1, sizeof *f.sites),
        .processes = calloc(1, sizeof *f.processes),
        .n_processes = 1,
    };
    struct seep_finding *list = reallocarray(out->list, out->n + 1, sizeof *list);

    out->list = list ? list : out->list;
    if (!f.sites || !f.processes || !list) {
        seep_finding_fini(&f);
        return -SEEP_ENOMEM;
    }
    f.processes[0] = process;
    seep_finding_set_limit(m, &out->resident, &f);
    f.title = seep_text_format(
        "Host memory grows by %s a %s on lines that the full profile does not record",
        seep_text_size(c->trend.slope.value, each), unit);
    f.advice = strdup(
        "Run again with a larger --max-profile, or with --sample, to see which lines these are.");
    seep_finding_note(
        &f,
        "The profile reached --max-profile or --max-folder: %s allocations and frees were counted "
        "without their stacks",
        seep_text_count(seep_process_events_without_stacks(&m->processes[process]), events));
    out->list[out->n++] = f;
    return 0;
}

/* Adds a finding for each process whose profile was full and whose host memory, by its timeline,
 * grows beyond what sites with stacks have. Returns 0 or -SEEP_ENOMEM. */
static int uncounted_judge(const struct seep_model *m, struct seep_findings *out)
{
    struct seep_level level = {0};
    int rc = 0;

    for (uint32_t i = 0; i < m->n_processes && !rc; i++) {
        struct course c = {0};
        if (!seep_process_events_without_stacks(&m->processes[i]))
            continue;
        rc = sum_with_stacks(m, i, &level);
        if (!rc && follow(m, &out->span, &m->processes[i], &level, &c) && grows(m, &c))
            rc = add_uncounted_finding(m, i, &c, out);
    }
    seep_level_fini(&level);
    return rc;
}

/* ---- one finding ------------------------------------------------------------------------- */

static bool has_workers(const struct seep_case *c)
{
    for (size_t i = 0; i < c->n_sites; i++) {
        for (uint32_t k = c->m->sites[c->sites[i]].slots; k; k = c->m->slots[k - 1].next) {
            if (c->m->processes[c->m->slots[k - 1].process].role == SEEP_ROLE_WORKER)
                return true;
        }
    }
    return false;
}

/* The part with most bytes, and the space it lies in. */
static void describe_line(struct seep_case *c)
{
    uint64_t by_part[SEEP_N_PARTS] = {0}, best = 0;

    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[c->sites[i]];
        enum seep_part part = (enum seep_part)c->code->lines->part[site->stack];
        by_part[part] += site->totals.peak_bytes;
        if (by_part[part] > by_part[c->part])
            c->part = part;
        if (site->totals.peak_bytes > best) {
            best = site->totals.peak_bytes;
            c->space = site->space;
            c->parts = c->code->lines->parts[site->stack];
        }
    }
    c->has_workers = has_workers(c);
    c->space_peak = c->m->spaces[c->space].totals.peak_bytes;
}

static int list_processes(const struct seep_model *m, struct seep_finding *f)
{
    bool *in = calloc(m->n_processes, sizeof *in);

    f->processes = calloc(m->n_processes, sizeof *f->processes);
    if (!in || !f->processes) {
        free(in);
        return -SEEP_ENOMEM;
    }
    for (size_t i = 0; i < f->n_sites; i++) {
        for (uint32_t k = m->sites[f->sites[i]].slots; k; k = m->slots[k - 1].next)
            in[m->slots[k - 1].process] = true;
    }
    for (uint32_t i = 0; i < m->n_processes; i++) {
        if (in[i])
            f->processes[f->n_processes++] = i;
    }
    free(in);
    return 0;
}

/* The first step at which the finding's sites hold something. */
static int32_t first_step(const struct seep_model *m, const struct seep_finding *f)
{
    int32_t first = INT32_MAX;

    for (size_t i = 0; i < f->n_sites; i++) {
        if (m->sites[f->sites[i]].first_step < first)
            first = m->sites[f->sites[i]].first_step;
    }
    return first;
}

/* Where most of the finding's bytes lie; the line's largest site may not be among its sites. */
static uint16_t space_of(const struct seep_case *c, const struct seep_finding *f)
{
    uint64_t bytes[SEEP_MODEL_MAX_SPACES + 1] = {0};
    uint16_t space = c->space;

    for (size_t i = 0; i < f->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[f->sites[i]];
        bytes[site->space] = seep_sum(bytes[site->space], site->totals.peak_bytes);
        if (bytes[site->space] > bytes[space])
            space = site->space;
    }
    return space;
}

/* Where it is, since when, and its peak. */
static int describe(const struct seep_case *c, struct seep_finding *f)
{
    int rc = list_processes(c->m, f);

    f->frame = c->frame;
    f->space = space_of(c, f);
    f->part = c->part;
    f->first_step = first_step(c->m, f);
    if (!rc)
        rc = seep_finding_set_peak(c->m, f);
    seep_finding_set_limit(c->m, c->resident, f);
    return rc;
}

static int complete(const struct seep_case *c, struct seep_finding *f)
{
    const uint32_t sender = f->n_sites ? seep_message_sender(c, f->sites[0]) : 0;

    if (sender)
        seep_finding_note(f, "It arrived in messages from another process, where this line "
                             "allocates blocks of that size");
    f->sender = sender ? sender : f->sender;
    return describe(c, f);
}

/* For small objects, blame the line that adds to the container, not the lines that asked for
 * arenas. */
static int look_for_container(const struct seep_case *c, struct seep_finding *f)
{
    uint32_t line;
    const int rc = seep_container_line(c, &line);

    if (rc || !line)
        return rc;
    f->frame = line;
    free(f->title);
    f->title = strdup("Small Python objects pile up, and a list, dict or set grows at this line");
    seep_finding_note(f, "The table of a list, dict or set grows at this line, up to the end");
    return 0;
}

static int add_finding(const struct seep_case *c, struct seep_finding *f, struct seep_findings *out,
                       size_t *capacity)
{
    if (complete(c, f) || (f->of_arenas && look_for_container(c, f)) ||
        seep_grow(&out->list, capacity, out->n + 1, sizeof *out->list)) {
        seep_finding_fini(f);
        return -SEEP_ENOMEM;
    }
    out->list[out->n++] = *f;
    return 0;
}

static bool may_exchange(const struct seep_model *m, const struct seep_line *a,
                         const struct seep_line *b)
{
    return seep_finding_same_function(m, a->frame, b->frame) &&
           m->dict.frames[a->frame].qualname == m->dict.frames[b->frame].qualname &&
           a->space == b->space && a->in_worker_loop == b->in_worker_loop;
}

/* Whether other lines of the function lose what this line gains: a pool that one line fills, and
 * another puts newer blocks into. */
static int find_exchange(struct seep_case *c, const struct seep_lines *lines,
                         const struct seep_line *of)
{
    struct seep_growth whole = {0};
    uint32_t *sites = malloc((c->m->n_sites + 1) * sizeof *sites);
    size_t n = 0;

    if (!sites)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < lines->n; i++) {
        const struct seep_line *g = &lines->list[i];
        if (!may_exchange(c->m, g, of))
            continue;
        memcpy(sites + n, lines->sites + g->first, g->n * sizeof *sites);
        n += g->n;
    }
    int rc = n > c->n_sites ? seep_growth_measure(c->m, c->span, sites, n, &whole) : 0;
    c->offset_by_sibling_line = n > c->n_sites && !rc && !whole.growing &&
                                whole.slope.value < SEEP_T_EXCHANGE * c->signs->growth.slope.value;
    seep_growth_fini(&whole);
    free(sites);
    return rc;
}

/* Buffers reused from line to line. */
struct work {
    struct seep_signs signs;
    size_t capacity; /* of the findings' list */
    struct seep_lines lines;
    bool *explained; /* [n_sites] judged as part of a growing line, or part of a finding */
};

static void work_fini(struct work *work)
{
    seep_signs_fini(&work->signs);
    seep_lines_fini(&work->lines);
    free(work->explained);
}

static int compute_signs(struct seep_case *c, struct work *work)
{
    describe_line(c);
    c->signs = &work->signs;
    return seep_signs_compute(c, &work->signs);
}

static void explain(struct work *work, const uint32_t *sites, size_t n)
{
    for (size_t i = 0; i < n; i++)
        work->explained[sites[i]] = true;
}

static int judge_case(struct seep_case *c, const struct seep_line *line, struct work *work,
                      struct seep_findings *out)
{
    struct seep_finding f = {0};

    if (c->signs->growth.growing && find_exchange(c, &work->lines, line))
        return -SEEP_ENOMEM;
    f.sites = calloc(c->n_sites + 1, sizeof *f.sites);
    if (!f.sites)
        return -SEEP_ENOMEM;
    const bool found = seep_patterns_judge_line(c, &f);
    if (found || c->signs->growth.growing)
        explain(work, c->sites, c->n_sites);
    if (found && seep_holder_advise(c, &f)) {
        seep_finding_fini(&f);
        return -SEEP_ENOMEM;
    }
    if (found)
        return add_finding(c, &f, out, &work->capacity);
    seep_finding_fini(&f);
    return 0;
}

/* Moves sites that are part of a finding behind the others, and returns how many others there are.
 */
static size_t leave_explained_out(const struct work *work, uint32_t *sites, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        const uint32_t site = sites[i];
        if (work->explained[site])
            continue;
        sites[i] = sites[left];
        sites[left++] = site;
    }
    return left;
}

/* What libraries keep in their own caches is judged apart from what else the line allocated. */
static int judge_line(struct seep_case *c, const struct seep_line *line, struct work *work,
                      struct seep_findings *out)
{
    const struct seep_library_cache *cache = NULL;
    uint32_t *sites = work->lines.sites + line->first;
    size_t left = leave_explained_out(work, sites, line->n), n = 0;
    int rc = 0;

    while (left && !rc) {
        c->sites = sites;
        c->n_sites = left;
        c->cache = NULL;
        rc = compute_signs(c, work);
        if (!rc && (c->signs->growth.growing || c->signs->growth.plateau_gradual))
            rc = seep_library_sites_first(c, sites, &n, &cache);
        if (!rc && cache) {
            c->n_sites = n;
            c->cache = cache;
            rc = compute_signs(c, work);
        }
        if (!rc)
            rc = judge_case(c, line, work, out);
        sites += c->n_sites;
        left -= c->n_sites;
        cache = NULL;
    }
    return rc;
}

/* Arenas of Python's small objects, if one holder has what they grew by. */
static int judge_small_objects(const struct seep_case *all, struct work *work,
                               struct seep_findings *out)
{
    struct seep_arena_growth of = {0};
    struct seep_finding f = {0};
    struct seep_case c = *all;
    int rc = seep_arena_growth_find(all->code, &work->lines, all->holders, &of);

    if (!rc && of.found) {
        c.sites = of.sites;
        c.n_sites = of.n_sites;
        c.frame = of.frame;
        c.is_small_objects = true;
        f.sites = calloc(of.n_sites + 1, sizeof *f.sites);
        rc = f.sites ? compute_signs(&c, work) : -SEEP_ENOMEM;
    }
    const bool accused = !rc && of.found && seep_patterns_judge_line(&c, &f);
    /* What many workers have alike is told of each line that asked for arenas. */
    if (accused && (f.pattern == SEEP_PATTERN_UNBOUNDED_GROWTH || !c.has_workers)) {
        explain(work, of.sites, of.n_sites);
        f.is_small_objects = true;
        seep_arena_growth_note(&of, all->holders->small, &f);
        rc = seep_holder_advise(&c, &f);
        if (!rc)
            rc = add_finding(&c, &f, out, &work->capacity);
    } else {
        seep_finding_fini(&f);
    }
    seep_arena_growth_fini(&of);
    return rc;
}

static int judge_lines(const struct seep_case *all, struct work *work, struct seep_findings *out)
{
    int rc = seep_lines_find(all->code, &work->lines);

    if (!rc)
        rc = judge_small_objects(all, work, out);
    for (size_t i = 0; i < work->lines.n && !rc; i++) {
        const struct seep_line *line = &work->lines.list[i];
        struct seep_case c = *all;
        if (line->peak_bytes < SEEP_T_SHOWN_BYTES)
            continue;
        c.frame = line->frame;
        rc = judge_line(&c, line, work, out);
    }
    return rc;
}

/* One pattern of the job, in one space. */
static int judge_space(const struct seep_case *all, enum seep_pattern pattern, uint16_t space,
                       struct work *work, struct seep_findings *out)
{
    struct seep_case c = *all;
    struct seep_finding f = {.sites = calloc(c.m->n_sites + 1, sizeof *f.sites)};
    bool found = false;

    c.space = space;
    int rc = f.sites ? seep_patterns_judge_job(&c, pattern, &f, &found) : -SEEP_ENOMEM;
    if (!rc && found)
        return add_finding(&c, &f, out, &work->capacity);
    seep_finding_fini(&f);
    return rc;
}

static int judge_job(const struct seep_case *all, struct work *work, struct seep_findings *out)
{
    int rc = 0;

    for (int i = 0; i < SEEP_N_PATTERNS && !rc; i++) {
        const bool of_job = seep_pattern_row((enum seep_pattern)i)->scope == SEEP_SCOPE_JOB;
        for (uint16_t s = 0; s < all->m->n_spaces && of_job && !rc; s++)
            rc = judge_space(all, (enum seep_pattern)i, s, work, out);
    }
    return rc;
}

/* ---- what no line explains ------------------------------------------------------------------- */

/* At a program's start much of what its lines allocate stays, and without steps libraries go on so
 * for longer: a few steps are enough to judge a line, but not a total. */
static bool is_too_early(const struct seep_case *c)
{
    const struct seep_signs *signs = c->signs;

    return !signs->enough_steps || (signs->timed && seep_prospect_is_open(signs->prospect) &&
                                    !c->code->lines->is_own[c->m->sites[c->sites[0]].stack]);
}

/* Whether growth that no line shows by itself is reported: for the case's sites together, which
 * share no frame. Fills the verdict and the evidence; sites and bytes are the caller's. */
static bool judge_total(const struct seep_case *c, struct seep_finding *f)
{
    const bool shared = seep_case_space(c)->class == SEEP_CLASS_SHM;

    if (is_too_early(c))
        return false;
    if (seep_prospect_is_endless(c->signs->prospect))
        seep_finding_verdict(f, shared ? SEEP_PATTERN_SHM_GROWTH : SEEP_PATTERN_UNBOUNDED_GROWTH,
                             SEEP_LEAK, seep_signs_confidence(c->signs));
    else if (seep_prospect_is_open(c->signs->prospect))
        seep_finding_verdict(f, SEEP_PATTERN_UNDETERMINED, SEEP_PRESSURE, SEEP_POSSIBLE);
    else
        return false;
    seep_case_note_growth(c, f);
    seep_case_note_prospect(c, f);
    return true;
}

enum { SPREAD_SITES = 32 }; /* the largest, which stand for all */

/* The finding's figures cover all sites; listing thousands of them helps nobody. */
static int add_spread(const struct seep_case *c, const struct seep_spread *spread,
                      struct seep_finding *f, struct work *work, struct seep_findings *out)
{
    for (size_t i = 0; i < spread->n_sites; i++) {
        const struct seep_held start = c->signs->sites[i].start, kept = c->signs->sites[i].kept;
        if (kept.bytes > start.bytes)
            seep_finding_keep(f, spread->sites[i], kept.bytes - start.bytes,
                              kept.blocks > start.blocks ? kept.blocks - start.blocks : 0);
    }
    f->saving_bytes = f->live_bytes;
    f->n_lines = spread->n_lines;
    f->below_bytes = spread->below_bytes;
    spread_note(spread, f);
    if (describe(c, f) || seep_grow(&out->list, &work->capacity, out->n + 1, sizeof *out->list)) {
        seep_finding_fini(f);
        return -SEEP_ENOMEM;
    }
    f->n_sites = f->n_sites < SPREAD_SITES ? f->n_sites : SPREAD_SITES;
    out->list[out->n++] = *f;
    return 0;
}

/* The lines are judged as one; no holder was seen for any of them. */
static int judge_spread(const struct seep_case *all, const struct seep_spread *spread,
                        struct work *work, struct seep_findings *out)
{
    struct seep_case c = *all;
    struct seep_finding f = {.sites = calloc(spread->n_sites + 1, sizeof *f.sites)};

    c.sites = spread->sites;
    c.n_sites = spread->n_sites;
    int rc = f.sites ? compute_signs(&c, work) : -SEEP_ENOMEM;
    if (!rc && judge_total(&c, &f)) {
        c.frame = all->code->lines->shown[spread->stack];
        return add_spread(&c, spread, &f, work, out);
    }
    seep_finding_fini(&f);
    return rc;
}

static int judge_totals(const struct seep_case *all, struct work *work, struct seep_findings *out)
{
    int rc = 0;

    for (size_t i = 0; i < out->n; i++)
        explain(work, out->list[i].sites, out->list[i].n_sites);
    for (uint16_t s = 0; s < all->m->n_spaces && !rc; s++) {
        struct seep_spread spread = {0};
        rc = spread_find(all->code, all->span, &work->lines, work->explained, s, &spread);
        if (!rc && spread.found)
            rc = judge_spread(all, &spread, work, out);
        spread_fini(&spread);
    }
    return rc;
}

/* ---- all of them ------------------------------------------------------------------------- */

int seep_diagnose(const struct seep_code *code, const struct seep_line_holders *holders,
                  struct seep_findings *out)
{
    const struct seep_model *m = code->model;
    struct work work = {0};

    *out = (struct seep_findings){0};
    seep_span_compute(m, &out->span);
    out->after = seep_span_after_training(m, &out->span);
    out->resident = seep_resident_trend(m, &out->span, SEEP_LEVEL_ALL);
    struct seep_case all = {.code = code, .m = m, .resident = &out->resident, .holders = holders};
    all.span = all.whole = &out->span;
    all.after = &out->after;
    work.explained = calloc(m->n_sites + 1, sizeof *work.explained);
    int rc = work.explained ? judge_lines(&all, &work, out) : -SEEP_ENOMEM;
    rc = rc ? rc : judge_job(&all, &work, out);
    rc = rc ? rc : judge_totals(&all, &work, out);
    work_fini(&work);
    if (!rc)
        rc = uncounted_judge(m, out);
    if (!rc)
        rc = seep_resident_rest_judge(code, out);
    if (!rc)
        rc = seep_contexts_judge(m, out);
    if (!rc)
        rc = seep_findings_relate(code, out);
    if (!rc)
        rc = seep_ooms_judge(code, out);
    if (!rc)
        rc = seep_what_ifs_note(code, out);
    for (size_t i = 0; i < out->n && !rc; i++) {
        const uint32_t frame = seep_finding_shown(&out->list[i]);
        rc = seep_symbols_resolve(code->symbols, &frame, 1);
        if (!rc)
            rc = seep_finding_set_words(code, &out->list[i]);
    }
    return rc;
}
