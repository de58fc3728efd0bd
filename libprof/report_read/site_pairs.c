#include "libprof/report_read/site_pairs.h"

#include "libprof/base/json_build.h"
#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/space.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is the same -------------------------------------------------------------------- */

static bool is_of_python(const json_t *frame)
{
    const char *module = seep_text_base(seep_get_text(frame, "module", ""));

    return strncmp(module, "python", 6) == 0 || strncmp(module, "libpython", 9) == 0;
}

/* A map of CPython itself: an arena of its small objects (Objects/obmalloc.c: 256 KiB, from 3.10 on
 * 1 MiB), or a piece of its stack (Python/pystate.c: 16 KiB). It is chance which line needs the
 * next one, so all maps of a job are one site. Stacks do not contain frames of the interpreter's
 * own code. By place, all memory for which no line of Python asked belongs here too: CPython
 * allocates some when threads and processes start and end. */
static bool is_interpreters(const json_t *site, enum seep_compare_by by)
{
    const json_t *frame = json_array_get(json_object_get(site, "stack"), 0);

    if (by == SEEP_BY_PLACE && is_of_python(seep_get_site_frame(site)))
        return true;
    return (strcmp(seep_get_text(frame, "kind", ""), "python") == 0 || is_of_python(frame)) &&
           seep_space_parse(seep_get_text(site, "space", "")).class == SEEP_CLASS_MMAP &&
           seep_get_number(site, "allocated_bytes") <=
               (1 << 20) * seep_get_number(site, "allocations");
}

static const char *space_of(const json_t *site, enum seep_compare_by by)
{
    const char *space = seep_get_text(site, "space", "");

    return by == SEEP_BY_PLACE ? seep_get_space_class(space) : space;
}

static struct seep_pair_key key_of_site(const json_t *site, enum seep_compare_by by)
{
    struct seep_pair_key key = seep_pair_key_begin(space_of(site, by));
    json_t *frame;
    size_t i;

    if (is_interpreters(site, by)) {
        seep_pair_key_add(&key, "interpreter");
        return key;
    }
    if (by == SEEP_BY_PLACE) {
        seep_pair_key_add_frame(&key, seep_get_site_frame(site));
        return key;
    }
    json_array_foreach (json_object_get(site, "stack"), i, frame)
        seep_pair_key_add_frame(&key, frame);
    return key;
}

/* ---- pairs ------------------------------------------------------------------------------- */

/* The name as the pairs keep it; NULL without memory. */
static const char *keep_space(struct seep_site_pairs *pairs, const char *name)
{
    if (!json_object_get(pairs->spaces, name) &&
        json_object_set_new(pairs->spaces, name, json_null()))
        return NULL;
    return json_object_iter_key(json_object_iter_at(pairs->spaces, name));
}

/* The pair of a site; NULL without memory. */
static struct seep_site_pair *pair_of(struct seep_site_pairs *pairs, const json_t *site)
{
    const struct seep_pair_key key = key_of_site(site, pairs->by);
    uint32_t id, at = seep_hash_begin(&pairs->index, key.a);

    while ((id = seep_hash_next(&pairs->index, key.a, &at)) != SEEP_HASH_NONE) {
        if (pairs->list[id].key.a == key.a && pairs->list[id].key.b == key.b)
            return &pairs->list[id];
    }
    const char *space = keep_space(pairs, space_of(site, pairs->by));
    if (!space || seep_grow(&pairs->list, &pairs->capacity, pairs->n + 1, sizeof *pairs->list) ||
        seep_hash_add(&pairs->index, key.a, (uint32_t)pairs->n))
        return NULL;
    pairs->list[pairs->n] = (struct seep_site_pair){
        .key = key, .space = space, .is_interpreters = is_interpreters(site, pairs->by)};
    return &pairs->list[pairs->n++];
}

static void add_to_side(struct seep_pair_side *side, const json_t *site, uint32_t i, uint32_t *next)
{
    struct seep_slope slope;

    seep_get_slope(site, "growth_bytes_per_step", &slope);
    side->retained += seep_get_number(site, "retained_bytes");
    side->peak += seep_get_number(site, "peak_bytes");
    side->growth.value += slope.value;
    side->growth.low += slope.low;
    side->growth.high += slope.high;
    if (side->n++)
        next[side->last] = i;
    else
        side->first = i;
    side->last = i;
}

static int add_sites(struct seep_site_pairs *pairs, int run)
{
    struct seep_json_stream *sites = pairs->sites[run];

    pairs->next[run] = calloc(sites->n + 1, sizeof *pairs->next[run]);
    if (!pairs->next[run])
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < sites->n; i++) {
        json_t *site = sites->make(sites, i);
        struct seep_site_pair *pair = site ? pair_of(pairs, site) : NULL;
        if (pair)
            add_to_side(&pair->sides[run], site, i, pairs->next[run]);
        json_decref(site);
        if (!pair)
            return -SEEP_ENOMEM;
    }
    return 0;
}

int seep_site_pairs_init(struct seep_site_pairs *pairs, const struct seep_compared runs[2],
                         enum seep_compare_by by)
{
    *pairs = (struct seep_site_pairs){
        .by = by, .sites = {runs[0].sites, runs[1].sites}, .spaces = json_object()};
    pairs->interpreter = json_pack("{s:s, s:s, s:n, s:n}", "kind", "native", "function",
                                   "[the Python interpreter]", "file", "line");
    int rc = pairs->spaces && pairs->interpreter ? add_sites(pairs, 0) : -SEEP_ENOMEM;
    return rc ? rc : add_sites(pairs, 1);
}

void seep_site_pairs_fini(struct seep_site_pairs *pairs)
{
    free(pairs->list);
    free(pairs->next[0]);
    free(pairs->next[1]);
    seep_hash_fini(&pairs->index);
    json_decref(pairs->spaces);
    json_decref(pairs->interpreter);
    *pairs = (struct seep_site_pairs){0};
}

/* ---- as JSON ----------------------------------------------------------------------------- */

json_t *seep_site_pair_first(const struct seep_site_pairs *pairs, size_t i)
{
    const struct seep_site_pair *pair = &pairs->list[i];
    const int run = pair->sides[0].n ? 0 : 1;

    return pairs->sites[run]->make(pairs->sites[run], pair->sides[run].first);
}

static json_t *ids_of(const struct seep_site_pairs *pairs, const struct seep_pair_side *side,
                      int run)
{
    struct seep_json_stream *sites = pairs->sites[run];
    json_t *ids = json_array();
    bool failed = false;

    for (uint32_t k = 0, at = side->first; k < side->n && !failed; k++) {
        json_t *site = sites->make(sites, at), *id = json_object_get(site, "id");
        if (id)
            seep_json_append(ids, json_incref(id), &failed);
        failed |= !id;
        json_decref(site);
        at = pairs->next[run][at];
    }
    return seep_json_whole(ids, failed);
}

static json_t *side_json(const struct seep_site_pairs *pairs, size_t i, int run)
{
    const struct seep_pair_side *side = &pairs->list[i].sides[run];

    if (!side->n)
        return json_null();
    return json_pack("{s:f, s:f, s:{s:f, s:f, s:f}, s:o}", "retained_bytes", side->retained,
                     "peak_bytes", side->peak, "growth_bytes_per_step", "value", side->growth.value,
                     "low", side->growth.low, "high", side->growth.high, "sites",
                     ids_of(pairs, side, run));
}

json_t *seep_site_pair_json(const struct seep_site_pairs *pairs, size_t i)
{
    const struct seep_site_pair *its = &pairs->list[i];
    json_t *site = seep_site_pair_first(pairs, i);
    json_t *frame = its->is_interpreters ? json_incref(pairs->interpreter)
                                         : json_deep_copy(seep_get_site_frame(site));
    json_t *pair = json_pack("{s:s, s:s, s:o?, s:o, s:o}", "space", its->space, "part",
                             seep_get_part(site), "frame", frame, "before", side_json(pairs, i, 0),
                             "after", side_json(pairs, i, 1));

    if (its->is_interpreters)
        json_object_set_new(pair, "interpreter", json_true());
    else if (pairs->by == SEEP_BY_STACK)
        json_object_set(pair, "stack", json_object_get(site, "stack"));
    pair = seep_json_whole(pair, !site);
    json_decref(site);
    return pair;
}
