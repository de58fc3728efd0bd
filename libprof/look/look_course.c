#include "libprof/look/look_course.h"

#include "libprof/base/json_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Less is housekeeping that any program has. */
enum { MIN_GROWTH = 64 << 10 };

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

/* What it retained, whether or not that look listed it; NULL: too little for that look. */
static const uint64_t *retained_by(const struct seep_look_moment *moment, uint64_t key)
{
    const struct seep_look_holder *holder = holder_in(moment, key);

    if (holder)
        return holder->retained;
    for (size_t i = 0; i < moment->holders.n_passed; i++)
        if (moment->holders.passed[i].key == key)
            return moment->holders.passed[i].retained;
    return NULL;
}

/* A look has only the memories in which something is. */
static uint64_t retained_in(const struct seep_look_moment *moment, uint64_t key, uint16_t device)
{
    const uint64_t *retained = retained_by(moment, key);

    for (size_t m = 0; retained && m < moment->holders.n_memories; m++)
        if (moment->holders.memories[m].device == device)
            return retained[m];
    return 0;
}

/* Whether it retained more each time, and at about the same rate: a cache that fills, or a batch
 * that was larger once, adds nearly all of it at one time. */
static bool rose_each_time(const struct seep_look_course *course, uint64_t key, uint16_t device)
{
    enum { EVEN = 4 }; /* the least rate is at least one in so many of the average one */
    const struct seep_look_moment *m = course->moments, *last = last_of(course);
    const double rise =
        (double)retained_in(last, key, device) - (double)retained_in(m, key, device);

    for (size_t i = 1; i < course->n; i++) {
        const double was = (double)retained_in(&m[i - 1], key, device);
        const double is = (double)retained_in(&m[i], key, device);
        const double share = (m[i].t_s - m[i - 1].t_s) / (last->t_s - m->t_s); /* of the time */
        if (is <= was || (is - was) * EVEN < rise * share)
            return false;
    }
    return true;
}

/* Whether it is a container that got longer each time. */
static bool got_longer_each_time(const struct seep_look_course *course,
                                 const struct seep_look_holder *holder)
{
    for (size_t i = 1; i < course->n && holder->length >= 0; i++) {
        const struct seep_look_holder *was = holder_in(&course->moments[i - 1], holder->key);
        const struct seep_look_holder *is = holder_in(&course->moments[i], holder->key);
        if (!is || (was && is->length <= was->length))
            return false;
    }
    return holder->length >= 0;
}

/* What a step works on is larger or smaller at each look, and rises three times by chance: what has
 * no length that rises as well has to do so more often. */
static enum seep_look_growth growth_of(const struct seep_look_course *course,
                                       const struct seep_look_holder *holder, uint16_t device)
{
    enum { MIN_LOOKS = 3, LOOKS_WITHOUT_LENGTH = 6 };

    if (course->n < MIN_LOOKS || holder->bound >= 0 || !rose_each_time(course, holder->key, device))
        return SEEP_LOOK_GREW;
    if (got_longer_each_time(course, holder))
        return SEEP_LOOK_ENDLESS;
    return holder->length < 0 && course->n >= LOOKS_WITHOUT_LENGTH ? SEEP_LOOK_ENDLESS
                                                                   : SEEP_LOOK_STEADY;
}

/* Whether a container has more entries than in the first look, */
static bool gets_entries(const struct seep_look_course *course, size_t i)
{
    const struct seep_look_holder *is = &last_of(course)->holders.list[i];
    const struct seep_look_holder *was = holder_in(course->moments, is->key);

    return was && was->length >= 0 && is->length > was->length;
}

/* and whether it has more of the objects that may be its entries: then the container grows. */
static bool gets_objects(const struct seep_look_course *course, size_t i)
{
    const struct seep_look_holder *is = &last_of(course)->holders.list[i];
    const struct seep_look_holder *was = holder_in(course->moments, is->key);

    return is->objects > (was ? was->objects : 0);
}

/* What one memory's part of a holder has done. */
struct part {
    enum seep_look_growth growth;
    double rate;
};

static struct part part_of(const struct seep_look_course *course, const struct seep_look_holder *h,
                           size_t memory)
{
    enum { SECONDS_A_MINUTE = 60 };
    const struct seep_look_moment *last = last_of(course), *first = course->moments;
    const uint16_t device = last->holders.memories[memory].device;
    const double minutes = (last->t_s - first->t_s) / SECONDS_A_MINUTE;
    const double more = (double)h->retained[memory] - (double)retained_in(first, h->key, device);

    return (struct part){.growth =
                             more < MIN_GROWTH ? SEEP_LOOK_SAME : growth_of(course, h, device),
                         .rate = minutes > 0 ? more / minutes : 0};
}

/* Who stands for the growth of a holder and of the one that it belongs to, in each memory. */
static void choose(const struct seep_look_course *course, struct seep_look_change *changes,
                   size_t i)
{
    enum { NEARLY_ALL = 8, OF = 10 };
    const struct seep_look_holders *holders = &last_of(course)->holders;
    const uint32_t within = holders->list[i].within;

    if (within == SEEP_LOOK_NO_HOLDER)
        return;
    const size_t silent = gets_entries(course, within) && gets_objects(course, i) ? i : within;
    for (size_t m = 0; m < holders->n_memories; m++)
        if (changes[i].grows_in >> m & 1 &&
            changes[i].bytes_per_minute[m] * OF >= changes[within].bytes_per_minute[m] * NEARLY_ALL)
            changes[silent].another_in |= UINT32_C(1) << m;
}

void seep_look_changes(const struct seep_look_course *course, struct seep_look_change *changes)
{
    const struct seep_look_holders *holders = &last_of(course)->holders;

    for (size_t i = 0; i < holders->n; i++) {
        struct seep_look_change *change = &changes[i];
        *change = (struct seep_look_change){.growth = SEEP_LOOK_SAME};
        for (size_t m = 0; m < holders->n_memories; m++) {
            const struct part part = part_of(course, &holders->list[i], m);
            change->bytes_per_minute[m] = part.rate;
            change->grows_in |= (uint32_t)(part.growth != SEEP_LOOK_SAME) << m;
            change->growth = part.growth > change->growth ? part.growth : change->growth;
        }
    }
    for (size_t i = 0; i < holders->n; i++)
        choose(course, changes, i);
    for (size_t i = 0; i < holders->n; i++)
        changes[i].by_another =
            changes[i].another_in && !(changes[i].grows_in & ~changes[i].another_in);
}

/* {"cuda:0": …}: what one_json() makes of each device. */
static json_t *devices_json(const struct seep_look_holders *holders,
                            json_t *(*one_json)(const struct seep_look_holders *holders, size_t m,
                                                const void *arg),
                            const void *arg)
{
    json_t *json = json_object();
    bool failed = !json;

    for (size_t m = SEEP_LOOK_HOST + 1; m < holders->n_memories; m++)
        seep_json_set(json, holders->memories[m].name, one_json(holders, m, arg), &failed);
    return seep_json_whole(json, failed);
}

static json_t *total_json(const struct seep_look_holders *holders, size_t m, const void *arg)
{
    (void)arg;
    return seep_json_count(holders->memories[m].bytes);
}

static json_t *part_json(const struct seep_look_holders *holders, size_t m, const void *holder)
{
    (void)holders;
    return seep_json_count(((const struct seep_look_holder *)holder)->retained[m]);
}

static json_t *rate_json(const struct seep_look_holders *holders, size_t m, const void *change)
{
    (void)holders;
    return json_real(((const struct seep_look_change *)change)->bytes_per_minute[m]);
}

static json_t *others_json(const struct seep_look_holders *holders)
{
    json_t *list = json_array();
    bool failed = !list;

    for (size_t i = 0; i < holders->n_others; i++) {
        const struct seep_look_other *other = &holders->others[i];
        seep_json_append(list,
                         json_pack("{s:o, s:o, s:o}", "type", seep_json_text_or_null(other->type),
                                   "bytes", seep_json_count(other->bytes), "objects",
                                   seep_json_count(other->objects)),
                         &failed);
    }
    return seep_json_whole(list, failed);
}

static json_t *moment_json(const struct seep_look_moment *m)
{
    const struct seep_look_holders *h = &m->holders;
    json_t *json = json_pack("{s:f, s:s, s:o, s:b, s:o}", "t_s", m->t_s, "way", m->way, "why",
                             seep_json_text_or_null(m->why), "complete", !m->incomplete,
                             "incomplete", seep_json_text_or_null(m->incomplete));
    bool failed = !json;

    seep_json_set(json, "round", json_integer(m->round), &failed);
    seep_json_set(json, "allocator", seep_json_text_or_null(m->allocator), &failed);
    seep_json_set(json, "stop_ns", seep_json_count(m->stop_ns), &failed);
    seep_json_set(json, "rss_bytes", m->rss_bytes ? seep_json_count(m->rss_bytes) : json_null(),
                  &failed);
    seep_json_set(json, "pss_bytes", m->pss_bytes ? seep_json_count(m->pss_bytes) : json_null(),
                  &failed);
    seep_json_set(json, "private_bytes",
                  m->pss_bytes ? seep_json_count(m->private_bytes) : json_null(), &failed);
    seep_json_set(json, "file_bytes", m->rss_bytes ? seep_json_count(m->file_bytes) : json_null(),
                  &failed);
    seep_json_set(json, "objects", seep_json_count(h->nodes), &failed);
    seep_json_set(json, "free_bytes", seep_json_count(h->free_bytes), &failed);
    seep_json_set(json, "live_bytes", seep_json_count(h->live_bytes), &failed);
    seep_json_set(json, "device_bytes", devices_json(h, total_json, NULL), &failed);
    seep_json_set(json, "held_bytes", seep_json_count(h->reached_bytes), &failed);
    seep_json_set(json, "others", others_json(h), &failed);
    seep_json_set(json, "cycle_bytes", seep_json_count(h->cycle_bytes), &failed);
    seep_json_set(json, "reference_bytes", seep_json_count(h->reference_bytes), &failed);
    seep_json_set(json, "lost_bytes", seep_json_count(h->lost_bytes), &failed);
    return seep_json_whole(json, failed);
}

/* null where it was too small to be known. */
static json_t *retained_json(const struct seep_look_course *course, uint64_t key)
{
    json_t *list = json_array();
    bool failed = !list;

    for (size_t i = 0; i < course->n; i++) {
        const uint64_t *retained = retained_by(&course->moments[i], key);
        seep_json_append(list, retained ? seep_json_count(retained[SEEP_LOOK_HOST]) : json_null(),
                         &failed);
    }
    return seep_json_whole(list, failed);
}

/* null where a look did not list it, or it is no container. */
static json_t *lengths_json(const struct seep_look_course *course, uint64_t key)
{
    json_t *list = json_array();
    bool failed = !list;

    for (size_t i = 0; i < course->n; i++) {
        const struct seep_look_holder *h = holder_in(&course->moments[i], key);
        seep_json_append(list, h ? seep_json_count_or_null(h->length) : json_null(), &failed);
    }
    return seep_json_whole(list, failed);
}

struct series {
    const struct seep_look_course *course;
    uint64_t key;
};

/* null as in retained_json(). */
static json_t *part_course_json(const struct seep_look_holders *holders, size_t m, const void *arg)
{
    const struct series *of = arg;
    json_t *list = json_array();
    bool failed = !list;

    for (size_t i = 0; i < of->course->n; i++) {
        const struct seep_look_moment *moment = &of->course->moments[i];
        seep_json_append(
            list,
            retained_by(moment, of->key)
                ? seep_json_count(retained_in(moment, of->key, holders->memories[m].device))
                : json_null(),
            &failed);
    }
    return seep_json_whole(list, failed);
}

const char *seep_look_growth_word(enum seep_look_growth growth)
{
    static const char *const words[] = {[SEEP_LOOK_SAME] = "no",
                                        [SEEP_LOOK_GREW] = "grew",
                                        [SEEP_LOOK_STEADY] = "steady",
                                        [SEEP_LOOK_ENDLESS] = "endless"};

    return words[growth];
}

static json_t *holder_json(const struct seep_look_course *course, const struct seep_look_holder *h,
                           const struct seep_look_change *change)
{
    const struct seep_look_holders *holders = &last_of(course)->holders;
    char key[24];
    bool failed = false;

    snprintf(key, sizeof key, "%016" PRIx64, seep_path_key(&h->path));
    json_t *json = json_pack(
        "{s:s, s:o, s:o, s:o, s:o}", "key", key, "type", seep_json_text_or_null(h->type), "length",
        seep_json_count_or_null(h->length), "bound", seep_json_count_or_null(h->bound), "within",
        h->within == SEEP_LOOK_NO_HOLDER ? json_null() : seep_json_count(h->within));
    seep_json_set(json, "state", json_string(seep_hold_state_word(h->state)), &failed);
    seep_json_set(json, "retained_bytes", seep_json_count(h->retained[SEEP_LOOK_HOST]), &failed);
    seep_json_set(json, "device_bytes", devices_json(holders, part_json, h), &failed);
    seep_json_set(json, "objects", seep_json_count(h->objects), &failed);
    seep_json_set(json, "path", seep_path_json(&h->path), &failed);
    seep_json_set(json, "made_at", json_incref(h->made_at), &failed);
    seep_json_set(json, "growth", json_string(seep_look_growth_word(change->growth)), &failed);
    seep_json_set(json, "growth_bytes_per_minute",
                  json_real(change->bytes_per_minute[SEEP_LOOK_HOST]), &failed);
    seep_json_set(json, "device_growth_bytes_per_minute", devices_json(holders, rate_json, change),
                  &failed);
    seep_json_set(json, "by_another", json_boolean(change->by_another), &failed);
    seep_json_set(json, "retained_by_look", retained_json(course, h->key), &failed);
    seep_json_set(json, "device_bytes_by_look",
                  devices_json(holders, part_course_json, &(struct series){course, h->key}),
                  &failed);
    seep_json_set(json, "length_by_look", lengths_json(course, h->key), &failed);
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
