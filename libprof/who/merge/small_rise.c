#include "libprof/who/merge/small_rise.h"

#include "libprof/thresholds/thresholds.h"
#include "libprof/who/merge/holders_json.h"
#include "libprof/who/merge/hops.h"

#include <stdlib.h>
#include <string.h>

/* The whole snapshots of one process, by step. */
struct course {
    const struct seep_holders_snapshot **list; /* [n] */
    size_t n;
};

/* A holder in the last of them, and what it gained. */
struct candidate {
    const struct seep_holders_small *small;
    const struct seep_holders_snapshot *of;
    uint32_t from_step;
    uint64_t bytes;
    struct seep_holders_length *lengths; /* [n_lengths] */
    size_t n_lengths;
};

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The same in another snapshot. Ways do not count hops that are alike, as those in a tree are: of
 * several it is the one that has most. What nobody holds has no container. */
static const struct seep_holders_small *same_in(const struct seep_holders_snapshot *s,
                                                const struct seep_holders_small *small)
{
    for (size_t i = 0; i < s->n_small; i++) {
        const struct seep_holders_path *path = &s->small[i].path;
        if (same_text(path->container, small->path.container) &&
            strcmp(path->way, small->path.way) == 0)
            return &s->small[i];
    }
    return NULL;
}

/* What keeps it: held, or why nobody holds it. */
static enum seep_holders_state state_of(const struct seep_holders_path *path)
{
    const char *kind = seep_hops_said(path->root, "kind");

    return strcmp(kind, "cycle") == 0       ? SEEP_HOLDERS_CYCLE
           : strcmp(kind, "reference") == 0 ? SEEP_HOLDERS_REFERENCE
           : strcmp(kind, "nobody") == 0    ? SEEP_HOLDERS_LOST
                                            : SEEP_HOLDERS_HELD;
}

/* What a container counts; of another object, the small objects that it holds. */
static uint64_t length_of(const struct seep_holders_path *path)
{
    return path->has_length ? path->length : path->blocks;
}

/* It may be too small to be told in the first snapshots, not later. */
static bool rises(const struct course *course, struct candidate *c)
{
    const struct seep_holders_path *was = NULL;

    for (size_t i = 0; i < course->n; i++) {
        const struct seep_holders_small *in = same_in(course->list[i], c->small);
        if (!in && was)
            return false;
        if (!in)
            continue;
        if (was && (in->path.bytes <= was->bytes || length_of(&in->path) <= length_of(was)))
            return false;
        c->lengths[c->n_lengths++] = (struct seep_holders_length){.step = course->list[i]->step,
                                                                  .length = length_of(&in->path)};
        was = &in->path;
    }
    return true;
}

static uint64_t bytes_in_first(const struct course *course, const struct seep_holders_small *small)
{
    const struct seep_holders_small *in = course->n > 1 ? same_in(course->list[0], small) : NULL;

    return in ? in->path.bytes : 0;
}

/* Of two that rose by nearly the same, one is a part of the other: a container that gets longer is
 * what to look at, the innermost; of a tree it is the outermost object. */
static bool is_better(const struct candidate *c, const struct candidate *than)
{
    const struct seep_holders_path *its = &c->small->path;

    if (!than->small || (double)than->bytes < SEEP_T_NEARLY_ALL * (double)c->bytes)
        return true;
    if ((double)c->bytes < SEEP_T_NEARLY_ALL * (double)than->bytes)
        return false;
    if (its->has_length != than->small->path.has_length)
        return its->has_length;
    return its->has_length ? its->bytes < than->small->path.bytes
                           : its->bytes > than->small->path.bytes;
}

static int consider(const struct course *course, const struct seep_holders_small *small,
                    struct candidate *best)
{
    const struct seep_holders_snapshot *last = course->list[course->n - 1];
    struct candidate c = {.small = small,
                          .of = last,
                          .from_step = course->list[0]->step,
                          .lengths = calloc(course->n, sizeof *c.lengths)};

    if (!c.lengths)
        return -SEEP_ENOMEM;
    const bool is_most = (double)small->path.bytes >= SEEP_T_MOST * (double)last->small_bytes;
    const bool seen = (small->path.container || state_of(&small->path) != SEEP_HOLDERS_HELD) &&
                      same_in(last, small) == small && rises(course, &c) &&
                      (course->n > 1 ? c.n_lengths > 1 : is_most);
    c.bytes = seen ? small->path.bytes - bytes_in_first(course, small) : 0;
    if (!seen || !is_better(&c, best)) {
        free(c.lengths);
        return 0;
    }
    free(best->lengths);
    *best = c;
    return 0;
}

/* files->list[from, to) are of one process. */
static int consider_process(const struct seep_holders_files *files, size_t from, size_t to,
                            struct candidate *best)
{
    struct course course = {.list = calloc(to - from + 1, sizeof(void *))};
    int rc = course.list ? 0 : -SEEP_ENOMEM;

    for (size_t i = from; i < to && !rc; i++) {
        const struct seep_holders_snapshot *s = &files->list[i];
        if (s->complete && s->small)
            course.list[course.n++] = s;
    }
    const struct seep_holders_snapshot *last = course.n ? course.list[course.n - 1] : NULL;
    for (size_t i = 0; last && i < last->n_small && !rc; i++)
        rc = consider(&course, &last->small[i], best);
    free(course.list);
    return rc;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The same as for a line that has nothing else. */
static json_t *answer_json(const struct candidate *c)
{
    const struct seep_holders_path *path = &c->small->path;
    const enum seep_holders_state state = state_of(path);
    const struct seep_holders_line line = {
        .state = state,
        .blocks = path->blocks,
        .bytes = path->bytes,
        .explained_bytes = state == SEEP_HOLDERS_LOST ? 0 : path->bytes,
        .lost_bytes = state == SEEP_HOLDERS_LOST ? path->bytes : 0,
        .cycle_bytes = state == SEEP_HOLDERS_CYCLE ? path->bytes : 0,
        .reference_bytes = state == SEEP_HOLDERS_REFERENCE ? path->bytes : 0,
        .paths = {*path},
        .n_paths = 1};
    const struct seep_holders_answer answer = {c->of, &line};
    struct seep_holders_container container = {.path = path};
    const struct seep_holders_series series = {.list = &container, .n = 1};

    if (path->has_length) {
        container.lengths = c->lengths;
        container.n_lengths = c->n_lengths;
        container.pace = seep_holders_pace_of(c->lengths, c->n_lengths);
    }
    return seep_holders_answer_json(&answer, 1, 0, 1, &series);
}

static double pace_of(const struct candidate *c)
{
    const struct seep_holders_length *first = c->lengths, *last = &c->lengths[c->n_lengths - 1];

    return last->step > first->step
               ? (double)(last->length - first->length) / (last->step - first->step)
               : 0;
}

static int take(const struct candidate *c, struct seep_small_rise *rise)
{
    *rise = (struct seep_small_rise){.answer = answer_json(c),
                                     .table = strdup(c->small->table),
                                     .pid = c->of->pid,
                                     .from_step = c->from_step,
                                     .to_step = c->of->step,
                                     .bytes = c->bytes,
                                     .pace = pace_of(c)};
    return rise->answer && rise->table ? 0 : -SEEP_ENOMEM;
}

int seep_small_rise_find(const struct seep_holders_files *files, struct seep_small_rise *rise)
{
    struct candidate best = {0};
    int rc = 0;

    *rise = (struct seep_small_rise){0};
    for (size_t i = 0, end; i < files->n && !rc; i = end) {
        for (end = i + 1;
             end < files->n && !seep_holders_by_process(&files->list[i], &files->list[end]);)
            end++;
        rc = consider_process(files, i, end, &best);
    }
    if (!rc && best.small && best.bytes)
        rc = take(&best, rise);
    free(best.lengths);
    return rc;
}

void seep_small_rise_fini(struct seep_small_rise *rise)
{
    json_decref(rise->answer);
    free(rise->table);
    *rise = (struct seep_small_rise){0};
}
