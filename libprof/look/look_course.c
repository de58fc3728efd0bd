#include "libprof/look/look_course.h"

#include "libprof/base/json_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Below that it is the odds and ends of any program. */
enum { LEAST_GROWTH = 64 << 10 };

static const struct seep_look_holder *holder_in(const struct seep_look_moment *moment, uint64_t key)
{
    for (size_t i = 0; i < moment->holders.n; i++)
        if (moment->holders.list[i].key == key)
            return &moment->holders.list[i];
    return NULL;
}

static const struct seep_look_moment *last_of(const struct seep_look_course *course)
{
    return &course->moments[course->n - 1];
}

/* What a look did not list was too small for it. */
static uint64_t retained_in(const struct seep_look_moment *moment, uint64_t key)
{
    const struct seep_look_holder *holder = holder_in(moment, key);

    return holder ? holder->retained : 0;
}

static bool grew_each_time(const struct seep_look_course *course,
                           const struct seep_look_holder *holder)
{
    enum { LEAST_LOOKS = 3 };

    if (course->n < LEAST_LOOKS || holder->bound >= 0)
        return false;
    for (size_t i = 1; i < course->n; i++) {
        const struct seep_look_moment *before = &course->moments[i - 1];
        const struct seep_look_holder *was = holder_in(before, holder->key);
        const struct seep_look_holder *is = holder_in(&course->moments[i], holder->key);
        if (!is || is->retained <= retained_in(before, holder->key))
            return false;
        if (holder->length >= 0 && was && is->length <= was->length)
            return false;
    }
    return true;
}

/* Whether a container has more entries than in the first look, */
static bool gets_entries(const struct seep_look_course *course, size_t i)
{
    const struct seep_look_holder *is = &last_of(course)->holders.list[i];
    const struct seep_look_holder *was = holder_in(course->moments, is->key);

    return was && was->length >= 0 && is->length > was->length;
}

/* and whether there are more of what it may hold as its entries: then it is what grows. */
static bool gets_objects(const struct seep_look_course *course, size_t i)
{
    const struct seep_look_holder *is = &last_of(course)->holders.list[i];
    const struct seep_look_holder *was = holder_in(course->moments, is->key);

    return is->objects > (was ? was->objects : 0);
}

void seep_look_changes(const struct seep_look_course *course, struct seep_look_change *changes)
{
    enum { NEARLY_ALL = 8, OF = 10, SECONDS_A_MINUTE = 60 };
    const struct seep_look_moment *last = last_of(course), *first = course->moments;
    const double minutes = (last->t_s - first->t_s) / SECONDS_A_MINUTE;

    for (size_t i = 0; i < last->holders.n; i++) {
        const struct seep_look_holder *h = &last->holders.list[i];
        const double more = (double)h->retained - (double)retained_in(first, h->key);
        changes[i] =
            (struct seep_look_change){.growth = more < LEAST_GROWTH         ? SEEP_LOOK_SAME
                                                : grew_each_time(course, h) ? SEEP_LOOK_ENDLESS
                                                                            : SEEP_LOOK_GREW,
                                      .bytes_per_minute = minutes > 0 ? more / minutes : 0};
    }
    for (size_t i = 0; i < last->holders.n; i++) {
        const uint32_t within = last->holders.list[i].within;
        if (within == SEEP_LOOK_NO_HOLDER || changes[i].growth == SEEP_LOOK_SAME ||
            changes[i].bytes_per_minute * OF < changes[within].bytes_per_minute * NEARLY_ALL)
            continue;
        if (gets_entries(course, within) && gets_objects(course, i))
            changes[i].by_another = true;
        else
            changes[within].by_another = true;
    }
}

static json_t *moment_json(const struct seep_look_moment *m)
{
    const struct seep_look_holders *h = &m->holders;
    json_t *json = json_pack("{s:f, s:s, s:o, s:b, s:o}", "t_s", m->t_s, "way", m->way, "why",
                             seep_json_text_or_null(m->why), "complete", !m->incomplete,
                             "incomplete", seep_json_text_or_null(m->incomplete));
    bool failed = !json;

    seep_json_set(json, "stop_ns", seep_json_count(m->stop_ns), &failed);
    seep_json_set(json, "rss_bytes", seep_json_count(m->rss_bytes), &failed);
    seep_json_set(json, "objects", seep_json_count(h->nodes), &failed);
    seep_json_set(json, "live_bytes", seep_json_count(h->live_bytes), &failed);
    seep_json_set(json, "held_bytes", seep_json_count(h->reached_bytes), &failed);
    seep_json_set(json, "cycle_bytes", seep_json_count(h->cycle_bytes), &failed);
    seep_json_set(json, "lost_bytes", seep_json_count(h->lost_bytes), &failed);
    return seep_json_whole(json, failed);
}

/* null where a look did not list it. */
static json_t *course_json(const struct seep_look_course *course, uint64_t key, bool lengths)
{
    json_t *list = json_array();
    bool failed = !list;

    for (size_t i = 0; i < course->n; i++) {
        const struct seep_look_holder *h = holder_in(&course->moments[i], key);
        seep_json_append(list,
                         !h        ? json_null()
                         : lengths ? seep_json_count_or_null(h->length)
                                   : seep_json_count(h->retained),
                         &failed);
    }
    return seep_json_whole(list, failed);
}

static const char *growth_word(enum seep_look_growth growth)
{
    return growth == SEEP_LOOK_ENDLESS ? "endless" : growth == SEEP_LOOK_GREW ? "grew" : "no";
}

static json_t *holder_json(const struct seep_look_course *course, const struct seep_look_holder *h,
                           const struct seep_look_change *change)
{
    char key[24];
    bool failed = false;

    snprintf(key, sizeof key, "%016" PRIx64, h->key);
    json_t *json = json_pack(
        "{s:s, s:o, s:o, s:o, s:o}", "key", key, "type", seep_json_text_or_null(h->type), "length",
        seep_json_count_or_null(h->length), "bound", seep_json_count_or_null(h->bound), "within",
        h->within == SEEP_LOOK_NO_HOLDER ? json_null() : seep_json_count(h->within));
    seep_json_set(json, "retained_bytes", seep_json_count(h->retained), &failed);
    seep_json_set(json, "objects", seep_json_count(h->objects), &failed);
    seep_json_set(json, "path", seep_path_json(&h->path), &failed);
    seep_json_set(json, "growth", json_string(growth_word(change->growth)), &failed);
    seep_json_set(json, "growth_bytes_per_minute", json_real(change->bytes_per_minute), &failed);
    seep_json_set(json, "by_another", json_boolean(change->by_another), &failed);
    seep_json_set(json, "retained_by_look", course_json(course, h->key, false), &failed);
    seep_json_set(json, "length_by_look", course_json(course, h->key, true), &failed);
    return seep_json_whole(json, failed);
}

json_t *seep_look_json(const struct seep_look_course *course)
{
    const struct seep_look_holders *holders = &last_of(course)->holders;
    struct seep_look_change *changes = calloc(holders->n + 1, sizeof *changes);
    json_t *looks = json_array(), *list = json_array();
    bool failed = !changes;

    if (changes)
        seep_look_changes(course, changes);
    for (size_t i = 0; i < course->n; i++)
        seep_json_append(looks, moment_json(&course->moments[i]), &failed);
    for (size_t i = 0; i < holders->n && !failed; i++)
        seep_json_append(list, holder_json(course, &holders->list[i], &changes[i]), &failed);
    free(changes);
    json_t *json = json_pack("{s:o, s:o}", "looks", looks, "holders", list);
    return seep_json_whole(json, failed);
}

void seep_look_course_fini(struct seep_look_course *course)
{
    for (size_t i = 0; i < course->n; i++)
        seep_look_holders_fini(&course->moments[i].holders);
    course->n = 0;
}
