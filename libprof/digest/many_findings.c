/* The findings of many processes: in which they are, how they differ, and one of them as an
 * example. */
#include "libprof/digest/many_parts.h"

#include "libprof/base/json_build.h"
#include "libprof/base/text.h"
#include "libprof/report_read/report_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FINDINGS = 32, MAX_LINE = 512, MAX_EVIDENCE = 6 };

/* Where a finding is. */
enum spread { SPREAD_ALL, SPREAD_ONE, SPREAD_HOST, SPREAD_SOME };

struct told {
    const struct seep_digest *d;
    const struct seep_digest_group *g;
    const struct seep_digest_group *sites; /* of the report */
    size_t n_sites;
    enum spread spread;
    uint8_t role;                       /* that most of its processes have */
    uint64_t n, of;                     /* processes of that role with it, and in all */
    json_t *example_json;               /* NULL: none that can be read, */
    struct seep_report_finding example; /* which has the figures of one process */
    char place[SEEP_DIGEST_PLACE_TEXT];
    char n_text[SEEP_SIZE_TEXT], of_text[SEEP_SIZE_TEXT];
};

static void tell(struct told *t)
{
    const struct seep_digest *d = t->d;
    const struct seep_digest_group *g = t->g;

    for (uint8_t i = 0; i < SEEP_N_DIGEST_ROLES; i++)
        if (g->n_by_role[i] > g->n_by_role[t->role])
            t->role = i;
    t->n = g->n_by_role[t->role];
    t->of = seep_digest_count(d, t->role);
    t->of = t->of > t->n ? t->of : t->n;
    if (t->n == t->of)
        t->spread = SPREAD_ALL;
    else if (t->n == 1)
        t->spread = SPREAD_ONE;
    else if (g->found.least_host == g->found.most_host && d->hosts.n > 1)
        t->spread = SPREAD_HOST;
    else
        t->spread = SPREAD_SOME;
    seep_digest_place(d, &g->max, t->place);
    seep_text_count(t->n, t->n_text);
    seep_text_count(t->of, t->of_text);
    if (g->found.example)
        t->example_json = json_loads(d->texts[g->found.example], 0, NULL);
    t->example = seep_report_finding_read(t->example_json);
}

static const char *roles_of(const struct told *t)
{
    return seep_digest_role_words(t->role, t->of);
}

static const char *or_else(const char *text, const char *missing)
{
    return *text ? text : missing;
}

/* ---- sentences --------------------------------------------------------------------------- */

static void where(const struct told *t, char line[MAX_LINE])
{
    const struct seep_digest_found *f = &t->g->found;

    if (t->spread == SPREAD_ALL)
        snprintf(line, MAX_LINE, "In all %s %s", t->n_text, roles_of(t));
    else if (t->spread == SPREAD_ONE)
        snprintf(line, MAX_LINE,
                 t->g->max.rank == 0 ? "In %s alone, of %s %s: look at what only rank 0 does "
                                       "(evaluation, logging, checkpoints)"
                                     : "In %s alone, of %s %s",
                 t->place, t->of_text, roles_of(t));
    else if (t->spread == SPREAD_HOST)
        snprintf(line, MAX_LINE, "In %s of %s %s, all on %s: compare this node with another one",
                 t->n_text, t->of_text, roles_of(t), t->d->texts[f->least_host]);
    else if (f->ranks)
        snprintf(line, MAX_LINE, "In %s of %s %s, between rank %d and rank %d", t->n_text,
                 t->of_text, roles_of(t), f->least_rank, f->most_rank);
    else
        snprintf(line, MAX_LINE, "In %s of %s %s", t->n_text, t->of_text, roles_of(t));
}

static void title(const struct told *t, char line[MAX_LINE])
{
    const struct seep_digest_about *about = &t->d->subjects[t->g->about - 1];
    const char *own =
        or_else(t->example.title, seep_pattern_name((enum seep_pattern)about->pattern));
    char cut[MAX_LINE / 2], size[SEEP_SIZE_TEXT];

    snprintf(cut, sizeof cut, "%s", own);
    seep_text_size((double)t->g->sum, size);
    if (t->of == 1)
        snprintf(line, MAX_LINE, "%s", own);
    else if (t->spread == SPREAD_ALL)
        snprintf(line, MAX_LINE, "%s (in all %s %s, %s together)", cut, t->n_text, roles_of(t),
                 size);
    else if (t->spread == SPREAD_ONE)
        snprintf(line, MAX_LINE, "%s (in %s alone, of %s %s)", cut, t->place, t->of_text,
                 roles_of(t));
    else
        snprintf(line, MAX_LINE, "%s (in %s of %s %s, %s together)", cut, t->n_text, t->of_text,
                 roles_of(t), size);
    line[seep_text_clean_in_place(line, strlen(line))] = '\0';
}

static void add_line(json_t *list, const char *line, bool *failed)
{
    seep_json_append(list, seep_json_text(line), failed);
}

static json_t *evidence(const struct told *t)
{
    json_t *list = json_array(), *one;
    char line[MAX_LINE], mean[SEEP_SIZE_TEXT], most[SEEP_SIZE_TEXT];
    bool failed = false;
    size_t i;

    where(t, line);
    if (t->of > 1)
        add_line(list, line, &failed);
    if (t->g->n > 1) {
        snprintf(line, sizeof line, "%s on average; most in %s: %s",
                 seep_text_size((double)t->g->sum / (double)t->g->n, mean), t->place,
                 seep_text_size((double)t->g->max.value, most));
        add_line(list, line, &failed);
    }
    json_array_foreach (t->example.evidence, i, one) {
        const char *text = json_string_value(one);
        if (!text || !*text || i == MAX_EVIDENCE)
            break;
        snprintf(line, sizeof line, "There: %s", text);
        add_line(list, line, &failed);
    }
    const char *held_by = json_string_value(json_object_get(t->example_json, "held_by"));
    if (held_by && *held_by) {
        snprintf(line, sizeof line, "There: held by %s", held_by);
        add_line(list, line, &failed);
    }
    return seep_json_whole(list, failed);
}

/* ---- the finding ------------------------------------------------------------------------- */

static json_t *spread_json(const struct told *t)
{
    static const char *const names[] = {"all", "one", "host", "some"};
    const struct seep_digest_found *f = &t->g->found;

    return SEEP_REPORT_JSON(
        spread, .kind = names[t->spread], .role = seep_digest_roles[t->role], .processes = t->n,
        .of = t->of, .least_rank = f->least_rank, .most_rank = f->most_rank,
        .host = f->least_host == f->most_host ? t->d->texts[f->least_host] : NULL,
        .most_host = t->d->texts[t->g->max.host], .most_bytes = t->g->max.value,
        .histogram = seep_digest_histogram_json(t->g->buckets));
}

static enum seep_confidence confidence_of(const struct told *t)
{
    for (int i = 0; i < SEEP_N_CONFIDENCES; i++)
        if (strcmp(seep_confidence_word((enum seep_confidence)i), t->example.confidence_word) == 0)
            return (enum seep_confidence)i;
    return SEEP_N_CONFIDENCES - 1;
}

static json_t *frame_json(const struct seep_digest *d, uint32_t frame)
{
    return frame ? json_loads(d->texts[frame], 0, NULL) : json_null();
}

/* Sites of its line, the largest ones. */
static json_t *sites_of(const struct told *t)
{
    enum { MOST = 16 };
    const struct seep_digest *d = t->d;
    const struct seep_digest_about *about = &d->subjects[t->g->about - 1];
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < t->n_sites && json_array_size(list) < MOST && !failed; i++) {
        const struct seep_digest_stack *stack = &d->stacks[t->sites[i].about - 1];
        char id[24];
        if (!about->frame || t->sites[i].subject != about->space || stack->look_at < 0 ||
            d->stack_frames[stack->at + (size_t)stack->look_at] != about->frame)
            continue;
        snprintf(id, sizeof id, "S%zu", i + 1);
        seep_json_append(list, json_string(id), &failed);
    }
    return seep_json_whole(list, failed);
}

static json_t *finding_json(const struct told *t, size_t number)
{
    const struct seep_digest_about *about = &t->d->subjects[t->g->about - 1];
    const struct seep_digest_found *found = &t->g->found;
    const enum seep_pattern pattern = (enum seep_pattern)about->pattern;
    const double growth = (double)found->growth_sum / 1000;
    struct seep_report_finding f = seep_report_finding_read(NULL);
    char id[24], line[MAX_LINE];

    snprintf(id, sizeof id, "F%zu", number);
    title(t, line);
    f.id = id;
    f.pattern = seep_pattern_name(pattern);
    f.title = line;
    f.severity = (enum seep_severity)about->severity;
    f.confidence = seep_confidence_number(confidence_of(t));
    f.confidence_word = seep_confidence_word(confidence_of(t));
    f.space = t->d->texts[about->space];
    f.part = seep_digest_parts[about->part];
    f.processes = json_pack("[i]", (int)(t->g->max.pid & INT32_MAX));
    f.frame = frame_json(t->d, about->frame);
    f.sites = sites_of(t);
    f.holders = json_null();
    f.kept_at = json_null();
    f.shortage = json_null();
    f.spread = spread_json(t);
    f.live_bytes = f.peak_bytes = t->g->sum;
    f.count = found->blocks;
    f.growth_bytes_per_step = (struct seep_slope){growth, growth, growth};
    f.first_step = found->first_step;
    f.plateau_step = t->example.plateau_step;
    f.limit_bytes = t->example.limit_bytes;
    f.steps_to_limit = t->example.steps_to_limit;
    f.evidence = evidence(t);
    f.advice = or_else(t->example.advice, seep_pattern_row(pattern)->advice);
    return seep_report_finding_json(&f);
}

/* ---- all of them ------------------------------------------------------------------------- */

static int by_severity(const void *a, const void *b, void *context)
{
    const struct seep_digest *d = context;
    const struct seep_digest_group *p = a, *q = b;
    const uint8_t x = d->subjects[p->about - 1].severity, y = d->subjects[q->about - 1].severity;

    if (x != y)
        return x < y ? -1 : 1;
    return (p->sum < q->sum) - (p->sum > q->sum);
}

static int sorted_groups(const struct seep_digest *d, struct seep_digest_group **groups, size_t *n)
{
    int rc = seep_digest_groups(d, SEEP_DIGEST_FINDINGS, groups, n);

    if (!rc && *n)
        qsort_r(*groups, *n, sizeof **groups, by_severity, (void *)d);
    return rc;
}

json_t *seep_digest_findings_json(const struct seep_digest *d,
                                  const struct seep_digest_group *sites, size_t n_sites)
{
    struct seep_digest_group *groups;
    size_t n;
    bool failed = false;
    json_t *list = json_array();

    if (sorted_groups(d, &groups, &n)) {
        json_decref(list);
        return NULL;
    }
    for (size_t i = 0; i < n && i < MAX_FINDINGS && !failed; i++) {
        struct told t = {.d = d, .g = &groups[i], .sites = sites, .n_sites = n_sites};
        tell(&t);
        seep_json_append(list, finding_json(&t, i + 1), &failed);
        json_decref(t.example_json);
    }
    free(groups);
    return seep_json_whole(list, failed);
}

json_t *seep_digest_left_out_json(const struct seep_digest *d)
{
    uint64_t left_out[SEEP_N_SEVERITIES] = {0};
    struct seep_digest_group *groups;
    size_t n;

    if (sorted_groups(d, &groups, &n))
        return NULL;
    for (size_t i = MAX_FINDINGS; i < n; i++)
        left_out[d->subjects[groups[i].about - 1].severity]++;
    for (size_t i = 0; i < d->n_rows; i++) /* forgotten ones: at least one a pattern */
        left_out[d->rows[i].key.kind == SEEP_DIGEST_FOLDED ? d->rows[i].key.role : SEEP_INFO] +=
            d->rows[i].key.kind == SEEP_DIGEST_FOLDED;
    free(groups);
    return SEEP_REPORT_JSON(left_out, .leak = left_out[SEEP_LEAK],
                            .retention = left_out[SEEP_RETENTION],
                            .pressure = left_out[SEEP_PRESSURE], .info = left_out[SEEP_INFO]);
}
