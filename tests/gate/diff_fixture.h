/* The difference of two reports that have their sites in them, as one document. */
#ifndef SEEP_TESTS_GATE_DIFF_FIXTURE_H
#define SEEP_TESTS_GATE_DIFF_FIXTURE_H

#include "libprof/gate/site_diff.h"

/* A seep_json_stream_user. */
static inline int keep_diff(void *to, json_t *diff, struct seep_json_stream *sites)
{
    if (json_object_set_new(diff, "sites", seep_json_stream_all(sites)))
        return -SEEP_ENOMEM;
    *(json_t **)to = json_incref(diff);
    return 0;
}

static inline int diff_of(const json_t *before, const json_t *after, bool by_growth, json_t **diff)
{
    struct seep_json_stream_of_list sites[2];

    seep_json_stream_of_list(&sites[0], json_object_get(before, "sites"));
    seep_json_stream_of_list(&sites[1], json_object_get(after, "sites"));
    return seep_diff(
        (struct seep_compared[]){{before, &sites[0].stream}, {after, &sites[1].stream}}, by_growth,
        keep_diff, diff);
}

#endif
