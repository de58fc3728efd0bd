#include "libprof/model/stages/step_axis.h"

#include "libprof/model/stages/process_import.h"
#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FOLLOWS = 64 };

/* If clocks differ by more, another boot is likelier than a step of the clock. */
#define MAX_CLOCK_STEP_NS (INT64_C(3600) * 1000000000)

/* ---- clocks ------------------------------------------------------------------------------ */

static int64_t to_unix_ns(const struct seep_process_identity *id)
{
    uint64_t unix_ns = id->start_unix_ns < SEEP_MAX_NS ? id->start_unix_ns : SEEP_MAX_NS;
    uint64_t start_ns = id->start_own_ns < SEEP_MAX_NS ? id->start_own_ns : SEEP_MAX_NS;

    return (int64_t)unix_ns - (int64_t)start_ns;
}

static int by_clock(const void *a, const void *b)
{
    const struct seep_model_process *p = a, *q = b;

    if (p->folder != q->folder)
        return p->folder < q->folder ? -1 : 1;
    int host = strcmp(p->id.host, q->id.host);
    if (host)
        return host;
    if (p->id.start_own_ns != q->id.start_own_ns)
        return p->id.start_own_ns < q->id.start_own_ns ? -1 : 1;
    return strcmp(p->id.file, q->id.file);
}

/* A job of `seep run` runs within one boot; a folder that only the shim fills may span several. */
static bool same_clock(const struct seep_model_process *p, const struct seep_model_process *q)
{
    int64_t apart = to_unix_ns(&q->id) - to_unix_ns(&p->id);

    if (p->folder != q->folder || strcmp(p->id.host, q->id.host) != 0)
        return false;
    if (p->entry && q->entry && p->job->launcher_pid)
        return true;
    return apart < MAX_CLOCK_STEP_NS && apart > -MAX_CLOCK_STEP_NS;
}

static int by_start(const void *a, const void *b)
{
    const struct seep_model_process *p = a, *q = b;

    if (p->start_ns != q->start_ns)
        return p->start_ns < q->start_ns ? -1 : 1;
    return strcmp(p->id.file, q->id.file);
}

void seep_axis_sort(struct seep_model *m)
{
    size_t n_clocks = 0, first = 0;

    seep_model_begin(m, SEEP_MODEL_SORTED);
    qsort(m->processes, m->n_processes, sizeof *m->processes, by_clock);
    for (size_t i = 0; i < m->n_processes; i++) {
        if (!i || !same_clock(&m->processes[first], &m->processes[i])) {
            first = i;
            n_clocks++;
        }
        m->processes[i].clock_ns = to_unix_ns(&m->processes[first].id);
    }
    for (size_t i = 0; i < m->n_processes; i++) {
        struct seep_model_process *p = &m->processes[i];
        seep_process_set_clock(p, n_clocks == 1 ? 0 : p->clock_ns);
    }
    qsort(m->processes, m->n_processes, sizeof *m->processes, by_start);
}

/* ---- steps ------------------------------------------------------------------------------- */

/* Returns the entry of the process whose periods p uses, or NULL. */
static const struct seep_process *find_periods(struct seep_model_process *p)
{
    const struct seep_process *e = p->entry;

    p->axis_start_ns = p->start_ns;
    p->axis_back = 1;
    if (!e)
        return NULL;
    p->steps = e->steps;
    for (int hops = 0; e->follows && hops < MAX_FOLLOWS; hops++) {
        if (e->follows > p->job->n_processes)
            break;
        e = &p->job->processes[e->follows - 1];
    }
    p->period = e->period;
    p->axis_steps = e->steps;
    p->axis_first = p->axis_last = e->first_step_period;
    if (e->back_steps && e->back_steps <= e->steps && e->back_period &&
        e->back_period <= e->first_step_period) {
        p->axis_first = e->back_period;
        /* Keeps products with 32-bit periods within 64 bits. */
        p->axis_back = e->back_steps < INT32_MAX / 2 ? e->back_steps : INT32_MAX / 2;
    }
    if (e->start_ns)
        p->axis_start_ns = seep_model_ns(p, e->start_ns);
    return e;
}

/* Whether its steps are those of a training, not just something that repeats. */
static bool trains(const struct seep_model_process *p)
{
    if (!p->steps)
        return false;
    switch (p->entry->step_source) {
    case SEEP_STEP_OPTIMIZER:
    case SEEP_STEP_NVTX:
    case SEEP_STEP_API:
    case SEEP_STEP_BATCH:
        return true;
    default:
        return false;
    }
}

static bool is_ancestor(const struct seep_model_process *q, const struct seep_model_process *p)
{
    const struct seep_process *e = p->entry;

    if (!e || !q->entry || p->job != q->job)
        return false;
    for (int hops = 0; e->parent_plus_1 && hops < MAX_FOLLOWS; hops++) {
        if (e->parent_plus_1 > p->job->n_processes)
            break;
        e = &p->job->processes[e->parent_plus_1 - 1];
        if (e == q->entry)
            return true;
    }
    return false;
}

/* When one of its own periods had not begun yet, by the last look before it. */
static uint64_t time_before(const struct seep_model_process *p, uint32_t period)
{
    uint32_t low = 0, high = p->n_rows;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->row_period[middle] < period)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? p->row_t_ns[low - 1] : p->start_ns;
}

/* Without a look, its last step may have been as late as its end. */
static uint64_t last_step_ns(const struct seep_model_process *p)
{
    return p->n_rows ? time_before(p, p->period) : p->end_ns;
}

/* For how long it made steps. */
static uint64_t stepping_ns(const struct seep_model_process *p)
{
    const uint64_t first = time_before(p, p->axis_first), last = last_step_ns(p);

    return last > first ? last - first : 0;
}

/* Whether q made its steps before p, its descendant, had begun in earnest: since then q only waits
 * for p, or finishes up. */
static bool is_over(const struct seep_model_process *q, const struct seep_model_process *p)
{
    return q->steps && is_ancestor(q, p) &&
           last_step_ns(q) < p->start_ns + (p->end_ns - p->start_ns) / (unsigned)SEEP_T_PARENT_OVER;
}

bool seep_step_serves(const struct seep_model_process *p, const struct seep_model_process *q)
{
    return trains(q) && !trains(p) && is_ancestor(q, p) && !is_over(q, p);
}

/* Whether q rather than p speaks for the job. Step counts of a training and of what repeats in a
 * child that comes after it cannot be compared: the longer one speaks. */
static bool is_better(const struct seep_model_process *q, const struct seep_model_process *p)
{
    if (seep_step_serves(p, q) || seep_step_serves(q, p))
        return seep_step_serves(p, q);
    if (p->steps && q->steps && trains(p) != trains(q) && (is_over(p, q) || is_over(q, p)))
        return stepping_ns(q) > stepping_ns(p);
    if (q->steps != p->steps)
        return q->steps > p->steps;
    return q->id.python_version && !p->id.python_version;
}

static void choose_main(struct seep_model *m)
{
    m->main = m->root = 0;
    for (uint32_t i = 1; i < m->n_processes; i++) {
        if (is_better(&m->processes[i], &m->processes[m->main]))
            m->main = i;
    }
}

/* ---- runs -------------------------------------------------------------------------------- */

/* Ranks are alive at the same time; of two runs in a row the second begins when the first has
 * ended, or is about to, or has made its last step and waits for the second. */
static bool side_by_side(const struct seep_model_process *p, const struct seep_model_process *q)
{
    uint64_t start = p->start_ns > q->start_ns ? p->start_ns : q->start_ns;
    uint64_t end = p->end_ns < q->end_ns ? p->end_ns : q->end_ns;
    uint64_t life = p->end_ns - p->start_ns, other = q->end_ns - q->start_ns;

    return end > start && end - start > (life < other ? life : other) / 2 && !is_over(p, q) &&
           !is_over(q, p);
}

static uint32_t last_run_before(const struct seep_model *m, uint64_t t_ns)
{
    uint32_t low = 0, high = (uint32_t)m->n_runs;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->runs[middle].start_ns <= t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

/* Each run continues from where the previous one ended; step 1 is the main run's. */
static void place_runs(struct seep_model *m)
{
    const int32_t bound = INT32_MAX / 2;
    size_t main = m->processes[m->main].run;
    int64_t at = 0;

    for (size_t i = main; i < m->n_runs; i++) {
        const struct seep_model_process *p = &m->processes[m->runs[i].leader];
        int64_t base = i == main ? 0 : at + p->axis_first;
        m->runs[i].low = (int32_t)(at < bound ? at : bound);
        m->runs[i].base = (int32_t)(base < bound ? base : bound);
        at = base + p->steps + 1;
        m->runs[i].high = (int32_t)(at < bound ? at : bound);
    }
    at = main ? 1 - (int64_t)m->processes[m->main].axis_first : 0;
    m->runs[main].low = (int32_t)(at > -bound ? at : -bound);
    for (size_t i = main; i-- > 0;) {
        const struct seep_model_process *p = &m->processes[m->runs[i].leader];
        m->runs[i].high = (int32_t)(at > -bound ? at : -bound);
        int64_t base = at - p->steps - 1;
        m->runs[i].base = (int32_t)(base > -bound ? base : -bound);
        at = base - p->axis_first + 1;
        m->runs[i].low = (int32_t)(at > -bound ? at : -bound);
    }
    m->runs[0].low = -bound;
    m->runs[m->n_runs - 1].high = bound;
}

/* followed[i]: index + 1 of the process whose periods i uses, 0: it has no profile. */
static int compute_runs(struct seep_model *m, const uint32_t *followed)
{
    if (m->step_source == SEEP_STEP_TIME)
        return 0;
    m->runs = calloc(m->n_processes, sizeof *m->runs);
    if (!m->runs)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < m->n_processes; i++) {
        struct seep_model_process *p = &m->processes[i];
        struct seep_model_run *run = m->n_runs ? &m->runs[m->n_runs - 1] : NULL;
        if (!p->steps)
            continue;
        if (!run || !side_by_side(&m->processes[run->leader], p)) {
            run = &m->runs[m->n_runs++];
            *run = (struct seep_model_run){.leader = i, .start_ns = p->start_ns};
        } else if (is_better(p, &m->processes[run->leader])) {
            run->leader = i;
        }
        p->run = (uint32_t)(run - m->runs);
    }
    for (size_t i = 0; i < m->n_processes; i++) {
        struct seep_model_process *p = &m->processes[i];
        if (!p->steps)
            p->run =
                followed[i] ? m->processes[followed[i] - 1].run : last_run_before(m, p->start_ns);
    }
    place_runs(m);
    return 0;
}

static void count_steps(struct seep_model *m)
{
    const struct seep_model_process *main = &m->processes[m->main];

    m->start_ns = UINT64_MAX;
    for (uint32_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (p->start_ns < m->start_ns)
            m->start_ns = p->start_ns;
        if (p->end_ns > m->end_ns)
            m->end_ns = p->end_ns;
    }
    if (main->steps) {
        m->n_steps = main->steps < INT32_MAX / 4 ? main->steps : INT32_MAX / 4;
        m->step_source = main->entry->step_source < SEEP_N_STEP_SOURCES
                             ? (enum seep_step_source)main->entry->step_source
                             : SEEP_STEP_TIME;
        m->step_why = main->entry->step_why < SEEP_N_STEP_WHYS
                          ? (enum seep_step_why)main->entry->step_why
                          : SEEP_WHY_UNKNOWN;
        if (main->entry->trained_steps < m->n_steps)
            m->trained = (int32_t)main->entry->trained_steps;
    } else {
        uint64_t slices = (m->end_ns - m->start_ns) / (SEEP_TIME_SLICE_MS * UINT64_C(1000000)) + 1;
        m->n_steps = slices < INT32_MAX / 4 ? (uint32_t)slices : INT32_MAX / 4;
        m->step_source = SEEP_STEP_TIME;
    }
}

static int find_epochs(struct seep_model *m)
{
    const struct seep_model_process *main = &m->processes[m->main];

    m->epochs = main->entry ? main->entry->epochs : main->n_epochs;
    if (m->epochs && main->entry && main->entry->epoch_source < SEEP_N_EPOCH_SOURCES)
        m->epoch_source = (enum seep_epoch_source)main->entry->epoch_source;
    if (!main->n_epochs)
        return 0;
    m->epoch_starts = calloc(main->n_epochs, sizeof *m->epoch_starts);
    if (!m->epoch_starts)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < main->n_epochs; i++) {
        int32_t step = seep_model_step(m, main, main->epoch_periods[i]);
        /* Without a training step since the last epoch began, this is a validation loader's
         * iteration. */
        if (m->n_epoch_starts && step <= m->epoch_starts[m->n_epoch_starts - 1])
            continue;
        m->epoch_starts[m->n_epoch_starts++] = step;
    }
    return 0;
}

/* Sets followed[i] for every process, by which entry belongs to which. */
static int find_followed(struct seep_model *m, uint32_t *followed)
{
    uint32_t *of_entry = calloc(m->n_jobs * SEEP_MAX_PROCESSES + 1, sizeof *of_entry);

    if (!of_entry)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (p->entry)
            of_entry[(size_t)p->folder * SEEP_MAX_PROCESSES +
                     (size_t)(p->entry - p->job->processes)] = i + 1;
    }
    for (size_t i = 0; i < m->n_processes; i++) {
        struct seep_model_process *p = &m->processes[i];
        const struct seep_process *e = find_periods(p);
        if (e)
            followed[i] =
                of_entry[(size_t)p->folder * SEEP_MAX_PROCESSES + (size_t)(e - p->job->processes)];
    }
    free(of_entry);
    return 0;
}

int seep_step_axis_compute(struct seep_model *m)
{
    uint32_t *followed = calloc(m->n_processes, sizeof *followed);
    seep_model_begin(m, SEEP_MODEL_PLACED);
    int rc = followed ? find_followed(m, followed) : -SEEP_ENOMEM;

    if (!rc) {
        choose_main(m);
        count_steps(m);
        rc = compute_runs(m, followed);
    }
    free(followed);
    return rc ? rc : find_epochs(m);
}
