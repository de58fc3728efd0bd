#include "libprof/who/merge/grown_lost.h"

#include "libprof/base/json_build.h"
#include "libprof/model/live_level.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/who/merge/holders_read.h"
#include "libprof/who/merge/hops.h"

#include <stdlib.h>
#include <string.h>

static double bytes_of(const json_t *answer, const char *key)
{
    return json_number_value(json_object_get(answer, key));
}

static bool is_held(const json_t *answer)
{
    const char *state = seep_hops_said(answer, "state");

    return strcmp(state, seep_holders_states[SEEP_HOLDERS_HELD]) == 0 ||
           strcmp(state, seep_holders_states[SEEP_HOLDERS_SHARED]) == 0;
}

/* What the line had in the answer's processes before most steps. */
static int measure_before(const struct seep_code *code, uint32_t line, const json_t *answer,
                          double *before)
{
    const struct seep_model *m = code->model;
    struct seep_level level = {0};
    uint32_t *sites = malloc((m->n_sites + (size_t)1) * sizeof *sites);
    const json_t *pid;
    size_t n = 0, i;
    int rc = sites ? 0 : -SEEP_ENOMEM;

    for (uint32_t s = 0; s < m->n_sites && !rc; s++) {
        if (m->spaces[m->sites[s].space].name.host_like &&
            code->lines->shown[m->sites[s].stack] == line)
            sites[n++] = s;
    }
    for (uint32_t p = 0; p < m->n_processes && !rc; p++) {
        json_array_foreach (json_object_get(answer, "pids"), i, pid) {
            if (rc || json_integer_value(pid) != (json_int_t)m->processes[p].id.pid)
                continue;
            rc = seep_level_sum(m, sites, n, p, &level);
            *before += rc ? 0 : (double)seep_level_at(&level, 1).bytes;
        }
    }
    seep_level_fini(&level);
    free(sites);
    return rc;
}

static json_t *as_lost(const json_t *answer)
{
    static const char *const of_holder[] = {"grows", "growth_per_step"};
    json_t *json = json_object();
    bool failed = json_object_update(json, (json_t *)answer) != 0;

    seep_json_set(json, "state", json_string(seep_holders_states[SEEP_HOLDERS_LOST]), &failed);
    seep_json_set(json, "paths", json_array(), &failed);
    seep_json_set(json, "length", json_array(), &failed);
    for (size_t i = 0; i < sizeof of_holder / sizeof *of_holder; i++)
        seep_json_set(json, of_holder[i], json_null(), &failed);
    return seep_json_whole(json, failed);
}

int seep_grown_lost(const struct seep_code *code, uint32_t line, const json_t *answer,
                    json_t **lost)
{
    const double all = bytes_of(answer, "bytes"), nobodys = bytes_of(answer, "lost_bytes");
    double before = 0;

    *lost = NULL;
    if (!is_held(answer) || !json_is_true(json_object_get(answer, "complete")) ||
        nobodys < SEEP_T_KEPT_LOST * all)
        return 0;
    if (measure_before(code, line, answer, &before))
        return -SEEP_ENOMEM;
    if (all - before < SEEP_T_SHOWN_BYTES || nobodys - before < SEEP_T_HALF * (all - before))
        return 0;
    *lost = as_lost(answer);
    return *lost ? 0 : -SEEP_ENOMEM;
}
