#include "libprof/page/page_comparison.h"

#include "libprof/base/json_build.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>

/* ---- findings ---------------------------------------------------------------------------- */

static void add_finding(json_t *list, const json_t *pair, bool *failed)
{
    const json_t *before = json_object_get(pair, "before"), *after = json_object_get(pair, "after");
    const bool was = json_is_object(before), is = json_is_object(after);
    json_t *row = json_object();

    seep_json_set(row, "state",
                  json_string(seep_get_text(pair, "state",
                                            was && is ? "remains"
                                            : was     ? "vanished"
                                                      : "new")),
                  failed);
    seep_json_set(row, "before", was ? seep_page_copy(before) : json_null(), failed);
    seep_json_set(row, "after", is ? seep_page_cut(seep_get_text(after, "id", "")) : json_null(),
                  failed);
    seep_json_append(list, row, failed);
}

static json_t *findings(const json_t *pairs)
{
    json_t *list = json_array();
    const json_t *pair;
    bool failed = false;
    size_t i;

    json_array_foreach (pairs, i, pair)
        add_finding(list, pair, &failed);
    return seep_json_whole(list, failed);
}

/* Adds a member if it exists. */
static void add_part(json_t *made, const json_t *of, const char *key, bool *failed)
{
    const json_t *part = json_object_get(of, key);

    if (part)
        seep_json_set(made, key, seep_page_copy(part), failed);
}

static void add_verdict(json_t *made, const json_t *report, const struct seep_page_base *base,
                        bool *failed)
{
    static const char *const parts[] = {"verdict", "why", "savings", "notes"};
    json_t *pairs = NULL;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_part(made, base->verdict, parts[i], failed);
    if (base->verdict) {
        seep_json_set(made, "findings", findings(json_object_get(base->verdict, "findings")),
                      failed);
        return;
    }
    seep_json_set(made, "why_not", seep_page_cut(base->why_not ? base->why_not : ""), failed);
    *failed = seep_compare_findings(base->run.report, report, &pairs) || *failed;
    seep_json_set(made, "findings", findings(pairs), failed);
    json_decref(pairs);
}

/* ---- sites ------------------------------------------------------------------------------- */

static bool is_light(const struct seep_site_pair *pair, const json_t *report, const json_t *base)
{
    return seep_page_pair_peak(pair) <
           SEEP_PAGE_LIGHT * seep_page_space_peak(report, base, pair->space);
}

static void add_sides(struct seep_page_columns *columns, const struct seep_site_pair *pair,
                      bool *failed)
{
    static const struct {
        const char *kept, *peak, *growth;
    } names[] = {{"kept_before", "peak_before", "growth_before"},
                 {"kept_after", "peak_after", "growth_after"}};

    for (int i = 0; i < 2; i++) {
        const struct seep_pair_side *side = &pair->sides[i];
        const double values[] = {side->retained, side->peak, side->growth.value};
        const char *const columns_of[] = {names[i].kept, names[i].peak, names[i].growth};
        for (int k = 0; k < 3; k++)
            seep_page_columns_add(columns, columns_of[k],
                                  side->n ? json_real(values[k]) : json_null(), failed);
    }
}

/* The line to look at is a copy of a frame of the stack: returns the frame itself, which has a
 * number already. */
static const json_t *line_of(const json_t *site)
{
    const json_t *wanted = seep_get_site_frame(site), *one;
    size_t i;

    json_array_foreach (json_object_get(site, "stack"), i, one) {
        if (json_equal(one, wanted))
            return one;
    }
    return wanted;
}

/* If the report has the site, uses its lines, which may have moved since the older run. The
 * interpreter's maps share no stack, only what they are. */
static void add_place(struct seep_page_columns *columns, const json_t *line, const json_t *stack,
                      struct seep_page_tables *t, bool *failed)
{
    json_t *alone = stack ? NULL : json_pack("[O?]", line);

    seep_page_columns_add(columns, "look_at", seep_page_number(seep_page_frame(t, line)), failed);
    seep_page_columns_add(columns, "stack",
                          seep_page_number(seep_page_stack(t, stack ? stack : alone)), failed);
    json_decref(alone);
}

static void add_pair(struct seep_page_columns *columns, const struct seep_site_pairs *pairs,
                     size_t i, struct seep_page_tables *t, bool *failed)
{
    const struct seep_site_pair *pair = &pairs->list[i];
    const uint32_t own_at = pair->sides[1].first;
    json_t *first = seep_site_pair_first(pairs, i);
    json_t *own = pair->sides[1].n ? pairs->sites[1]->make(pairs->sites[1], own_at) : NULL;

    *failed |= !first || (pair->sides[1].n && !own);
    seep_page_columns_add(columns, "space", json_integer(seep_page_text(t, pair->space)), failed);
    seep_page_columns_add(columns, "role",
                          json_integer(seep_page_text(t, seep_get_text(first, "role", "other"))),
                          failed);
    seep_page_columns_add(columns, "site",
                          json_integer(seep_page_text(t, seep_get_text(own, "id", NULL))), failed);
    if (pair->is_interpreters)
        add_place(columns, pairs->interpreter, NULL, t, failed);
    else if (own)
        add_place(columns, seep_get_site_frame(own), json_object_get(own, "stack"), t, failed);
    else
        add_place(columns, line_of(first), json_object_get(first, "stack"), t, failed);
    add_sides(columns, pair, failed);
    json_decref(first);
    json_decref(own);
}

/* ---- all --------------------------------------------------------------------------------- */

static void add_pairs(const json_t *report, const struct seep_page_base *base,
                      const struct seep_site_pairs *pairs, bool all,
                      struct seep_page_pairs *columns, struct seep_page_tables *tables,
                      bool *failed)
{
    uint32_t *small = calloc(pairs->n + 1, sizeof *small);
    size_t n = 0;

    *failed |= !small;
    for (uint32_t i = 0; i < pairs->n && !*failed; i++) {
        if (!all && is_light(&pairs->list[i], report, base->run.report))
            small[n++] = i;
        else
            add_pair(&columns->large, pairs, i, tables, failed);
    }
    if (!*failed)
        seep_page_small_pairs(report, base->run.report, pairs, small, n, &columns->small, tables,
                              failed);
    free(small);
}

json_t *seep_page_comparison(const json_t *report, const struct seep_page_base *base,
                             const struct seep_site_pairs *pairs, bool all,
                             struct seep_page_pairs *columns, struct seep_page_tables *tables)
{
    json_t *made = json_object();
    bool failed = false;

    add_part(made, base->run.report, "job", &failed);
    add_part(made, base->run.report, "timeline", &failed);
    add_verdict(made, report, base, &failed);
    seep_json_set(made, "spaces", seep_compare_spaces(base->run.report, report), &failed);
    seep_json_set(made, "pairs", json_null(), &failed);
    seep_json_set(made, "small", json_null(), &failed);
    add_pairs(report, base, pairs, all, columns, tables, &failed);
    return seep_json_whole(made, failed || tables->failed);
}
