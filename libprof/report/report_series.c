/* Levels over steps and time, for whatever draws them: only with the option `series`. */
#include <stdio.h>

#include "libprof/report/report_pieces.h"
#include "libprof/words/step_words.h"

/* How the job's steps were counted and why so, and what its epochs are, in report.json. */

const char *seep_report_step_source(const struct seep_model *m)
{
    static const char *const names[SEEP_N_STEP_SOURCES] = {
#define SEEP_STEP_SOURCE(id, name) name,
#include "libprof/format/step_sources.def"
#undef SEEP_STEP_SOURCE
    };

    return names[m->step_source];
}

static const char *why_time(const struct seep_model *m)
{
    if (m->processes[m->main].recording.of_torch)
        return "the snapshot shows neither an optimizer, nor backward(), nor anything else that "
               "repeats";
    for (size_t i = 0; i < m->n_processes; i++) {
        if (m->processes[i].id.python_version)
            return "no optimizer step, DataLoader batch or main loop was seen for long "
                   "enough: call seep.step() at the end of each iteration";
    }
    return "a program without Python shows no steps: call seep_step() (seep.h) at "
           "the end of each iteration";
}

const char *seep_report_step_why(const struct seep_model *m)
{
    static const char *const sentences[SEEP_N_STEP_WHYS] = {
        [SEEP_WHY_TOLD] = "the job itself says where a step ends",
        [SEEP_WHY_OPTIMIZER] = SEEP_WHY_OPTIMIZER_TEXT,
        [SEEP_WHY_BATCHES] = "no optimizer steps, so each batch of a DataLoader is a step",
        [SEEP_WHY_BATCHES_BETWEEN] =
            "an optimizer steps only once in several batches of a DataLoader, so "
            "each batch is a step",
        [SEEP_WHY_BATCHES_ANEW] =
            "each optimizer steps only once, so each batch of a DataLoader is a step",
        [SEEP_WHY_LOOP] = "no optimizer steps and no DataLoader gives batches, so each iteration "
                          "of the main loop is a step",
        [SEEP_WHY_LOOP_BETWEEN] =
            "an optimizer steps only once in many iterations of the main loop, so "
            "each iteration is a step",
        [SEEP_WHY_BATCHES_AFTER] =
            "the optimizer has stopped stepping; from then on each batch of a "
            "DataLoader is a step",
        [SEEP_WHY_LOOP_AFTER] =
            "the optimizer has stopped stepping; from then on each iteration of the "
            "main loop is a step",
        [SEEP_WHY_TIME_AFTER] =
            "the optimizer has stopped stepping, and nothing that repeats is seen from then on: "
            "each tenth of a second is a step",
        [SEEP_WHY_OPTIMIZERS_ANEW] = "the job makes a PyTorch optimizer for each step",
        [SEEP_WHY_TASKS] = "no optimizer steps, no DataLoader gives batches and no main loop was "
                           "seen, so each task of a process pool is a step",
        [SEEP_WHY_ZERO_GRAD] = "the snapshot shows no optimizer's step(), so each zero_grad() ends "
                               "a step",
        [SEEP_WHY_BACKWARD] = "the snapshot shows no optimizer, so each backward() ends a step",
        [SEEP_WHY_REPEATS] =
            "the snapshot shows neither an optimizer nor backward(), so what is allocated again "
            "and again is taken for a step: likely, not certain",
    };

    return m->step_source == SEEP_STEP_TIME ? why_time(m) : sentences[m->step_why];
}

json_t *seep_json_epoch_source(const struct seep_model *m)
{
    static const char *const names[SEEP_N_EPOCH_SOURCES] = {
        [SEEP_EPOCHS_LOADER] = "loader",
        [SEEP_EPOCHS_TOLD] = "api",
        [SEEP_EPOCHS_LOOP] = "loop",
    };

    return m->epochs && names[m->epoch_source] ? json_string(names[m->epoch_source]) : json_null();
}

json_t *seep_json_epoch_line(const struct seep_report_pieces *pieces)
{
    return pieces->code->model->epoch_frame
               ? seep_json_shown(pieces, pieces->code->model->epoch_frame)
               : json_null();
}

json_t *seep_json_step_line(const struct seep_report_pieces *pieces)
{
    return pieces->code->model->step_frame
               ? seep_json_shown(pieces, pieces->code->model->step_frame)
               : json_null();
}

enum { MAX_POINTS = 128, PROCESS_ROWS = 128, MAX_THREADS = 16 };

static uint64_t positive(int64_t n)
{
    return n > 0 ? (uint64_t)n : 0;
}

/* All points of the level if they are few, else evenly spread ones, with the highest among them. */
static bool is_wanted(const struct seep_level *level, size_t i, size_t highest)
{
    if (level->n <= MAX_POINTS || i == 0 || i + 1 == level->n || i == highest)
        return true;
    return i * MAX_POINTS / level->n != (i - 1) * MAX_POINTS / level->n;
}

json_t *seep_json_series(const struct seep_level *level)
{
    json_t *steps = json_array(), *bytes = json_array();
    bool failed = false;
    size_t highest = 0;

    for (size_t i = 1; i < level->n; i++)
        highest = level->points[i].bytes > level->points[highest].bytes ? i : highest;
    for (size_t i = 0; i < level->n && !failed; i++) {
        const struct seep_level_point *p = &level->points[i];
        if (!is_wanted(level, i, highest))
            continue;
        seep_json_append(steps, json_integer(p->step), &failed);
        seep_json_append(bytes, seep_json_count(positive(p->bytes)), &failed);
    }
    return seep_json_whole(SEEP_REPORT_JSON(series, .step = steps, .live_bytes = bytes), failed);
}

static uint64_t age_from(unsigned class)
{
    return seep_lifetime_floor(class);
}

static uint64_t size_from(unsigned class)
{
    return class ? UINT64_C(1) << class : 0;
}

/* The counts of the classes that are not empty, with the value at which each begins: two lists.
 * False without memory. */
static bool histogram(const struct seep_model_extra *e, unsigned n,
                      uint64_t (*of)(const struct seep_site_counts *counts, unsigned class),
                      uint64_t (*from)(unsigned class), json_t **froms, json_t **list)
{
    bool failed = false;

    *froms = json_array();
    *list = json_array();
    for (unsigned c = 0; e && c < n && !failed; c++) {
        const uint64_t count = of(&e->counts, c);
        if (!count)
            continue;
        seep_json_append(*froms, seep_json_count(from(c)), &failed);
        seep_json_append(*list, seep_json_count(count), &failed);
    }
    return !failed;
}

json_t *seep_json_lifetimes(const struct seep_model_extra *e)
{
    json_t *ages, *frees;
    const bool whole =
        histogram(e, SEEP_LIFETIME_BUCKETS, seep_frees_of_age, age_from, &ages, &frees);

    return seep_json_whole(SEEP_REPORT_JSON(lifetimes, .steps_at_least = ages, .frees = frees),
                           !whole);
}

json_t *seep_json_sizes(const struct seep_model_extra *e)
{
    json_t *sizes, *counts;
    const bool whole =
        histogram(e, SEEP_SIZE_BUCKETS, seep_allocations_of_size, size_from, &sizes, &counts);

    return seep_json_whole(SEEP_REPORT_JSON(sizes, .bytes_at_least = sizes, .allocations = counts),
                           !whole);
}

static json_t *thread_json(const struct seep_model_process *p, uint32_t thread)
{
    const struct seep_process_thread *its = &p->threads.list[thread - 1];
    char name[sizeof its->name + 1];

    snprintf(name, sizeof name, "%.*s", (int)sizeof its->name, its->name);
    return SEEP_REPORT_JSON(thread, .pid = p->id.pid, .tid = its->tid, .name = name,
                            .threads = its->n);
}

/* The threads that allocated a site's blocks. */
json_t *seep_json_site_threads(const struct seep_model *m, const struct seep_model_site *site)
{
    json_t *list = json_array();
    bool failed = false;

    for (uint32_t k = site->slots; k && json_array_size(list) < MAX_THREADS && !failed;
         k = m->slots[k - 1].next) {
        const struct seep_model_slot *slot = &m->slots[k - 1];
        const struct seep_model_process *p = &m->processes[slot->process];
        if (slot->thread && slot->thread <= p->threads.n && p->threads.list[slot->thread - 1].tid)
            seep_json_append(list, thread_json(p, slot->thread), &failed);
    }
    return seep_json_whole(list, failed);
}

/* Every n-th row of a process, and the last. */
static bool is_row_wanted(const struct seep_model_process *p, uint32_t i)
{
    const uint32_t gap = p->n_rows / PROCESS_ROWS + 1;

    return i % gap == 0 || i + 1 == p->n_rows;
}

static json_t *live_of(const struct seep_model_process *p, int space)
{
    json_t *list = json_array();
    bool failed = false;

    for (uint32_t i = 0; i < p->n_rows && !failed; i++) {
        if (is_row_wanted(p, i))
            seep_json_append(list, seep_json_count(p->live[(size_t)space * p->n_rows + i]),
                             &failed);
    }
    return seep_json_whole(list, failed);
}

json_t *seep_json_process_timeline(const struct seep_report_pieces *pieces,
                                   const struct seep_model_process *p)
{
    const struct seep_model *m = pieces->code->model;
    json_t *times = json_array(), *rss = json_array(), *spaces = json_object();
    bool failed = false;

    for (uint32_t i = 0; i < p->n_rows && !failed; i++) {
        if (!is_row_wanted(p, i))
            continue;
        const uint64_t since = p->row_t_ns[i] > m->start_ns ? p->row_t_ns[i] - m->start_ns : 0;
        seep_json_append(times, seep_json_real((double)since / 1e9), &failed);
        seep_json_append(rss, seep_json_count(p->row_rss[i]), &failed);
    }
    for (int s = 0; s < SEEP_MAX_SPACES && p->live && !failed; s++) {
        if (p->space_of[s] && p->spaces[s].allocations)
            seep_json_set(spaces, m->spaces[p->space_of[s] - 1].name.text,
                          SEEP_REPORT_JSON(levels, .live_bytes = live_of(p, s)), &failed);
    }
    json_t *json = SEEP_REPORT_JSON(process_timeline, .t_s = times, .rss_bytes = rss,
                                    .spaces = spaces, .resident = seep_json_rss_course(m, p));
    return seep_json_whole(json, failed);
}

json_t *seep_json_epoch_steps(const struct seep_model *m)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < m->n_epoch_starts && !failed; i++)
        seep_json_append(list, json_integer(m->epoch_starts[i]), &failed);
    return seep_json_whole(list, failed);
}
