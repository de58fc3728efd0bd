#include "libprof/page/page_comparison.h"

#include "libprof/base/json_build.h"
#include "libprof/page/page_parts.h"
#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"

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
    *failed = seep_compare_findings(base->report, report, &pairs) || *failed;
    seep_json_set(made, "findings", findings(pairs), failed);
    json_decref(pairs);
}

/* ---- sites ------------------------------------------------------------------------------- */

static bool is_light(const json_t *pair, const json_t *report, const json_t *base)
{
    return seep_page_pair_peak(pair) <
           SEEP_PAGE_LIGHT * seep_page_space_peak(report, base, seep_get_text(pair, "space", ""));
}

static void add_sides(json_t *columns, const json_t *pair, bool *failed)
{
    static const struct {
        const char *side, *kept, *peak, *growth;
    } sides[] = {{"before", "kept_before", "peak_before", "growth_before"},
                 {"after", "kept_after", "peak_after", "growth_after"}};

    for (int i = 0; i < 2; i++) {
        const json_t *side = json_object_get(pair, sides[i].side);
        const bool is = json_is_object(side);
        struct seep_slope growth = {0, 0, 0};
        seep_get_slope(side, "growth_bytes_per_step", &growth);
        seep_page_add(columns, sides[i].kept,
                      is ? json_real(seep_get_number(side, "retained_bytes")) : json_null(),
                      failed);
        seep_page_add(columns, sides[i].peak,
                      is ? json_real(seep_get_number(side, "peak_bytes")) : json_null(), failed);
        seep_page_add(columns, sides[i].growth, is ? json_real(growth.value) : json_null(), failed);
    }
}

/* {id: site}; a report from elsewhere may lack ids. */
static json_t *sites_by_id(const json_t *report, bool *failed)
{
    json_t *known = json_object(), *site;
    size_t i;

    json_array_foreach (json_object_get(report, "sites"), i, site) {
        const char *id = seep_get_text(site, "id", NULL);
        if (id)
            seep_json_set(known, id, json_incref(site), failed);
    }
    return known;
}

/* The line to look at is a copy of a frame of the stack: returns the frame itself, which has a
 * number already. */
static const json_t *line_of(const json_t *pair)
{
    const json_t *wanted = json_object_get(pair, "frame"), *one;
    size_t i;

    json_array_foreach (json_object_get(pair, "stack"), i, one) {
        if (json_equal(one, wanted))
            return one;
    }
    return wanted;
}

/* If the report has the site, uses its lines, which may have moved since the older run. The
 * interpreter's maps share no stack, only what they are. */
static void add_place(json_t *columns, const json_t *pair, const json_t *site,
                      struct seep_page_tables *t, bool *failed)
{
    const bool is_own = site && !json_is_true(json_object_get(pair, "interpreter"));
    const json_t *line = is_own ? seep_get_site_frame(site) : line_of(pair),
                 *stack = json_object_get(is_own ? site : pair, "stack");
    json_t *alone = stack ? NULL : json_pack("[O?]", line);

    seep_page_add(columns, "look_at", seep_page_number(seep_page_frame(t, line)), failed);
    seep_page_add(columns, "stack", seep_page_number(seep_page_stack(t, stack ? stack : alone)),
                  failed);
    json_decref(alone);
}

static void add_pair(json_t *columns, const json_t *pair, const json_t *known,
                     struct seep_page_tables *t, bool *failed)
{
    const json_t *own = json_object_get(json_object_get(pair, "after"), "sites");
    const char *id = json_string_value(json_array_get(own, 0));

    seep_page_add(columns, "space",
                  json_integer(seep_page_text(t, seep_get_text(pair, "space", ""))), failed);
    seep_page_add(columns, "role",
                  json_integer(seep_page_text(t, seep_get_text(pair, "role", "other"))), failed);
    seep_page_add(columns, "site", json_integer(seep_page_text(t, id)), failed);
    add_place(columns, pair, id ? json_object_get(known, id) : NULL, t, failed);
    add_sides(columns, pair, failed);
}

/* ---- all --------------------------------------------------------------------------------- */

json_t *seep_page_comparison(const json_t *report, const struct seep_page_base *base,
                             const json_t *pairs, bool all, struct seep_page_tables *tables)
{
    json_t *made = json_object(), *columns = json_object();
    const json_t *pair;
    bool failed = false;
    json_t *known = sites_by_id(report, &failed);
    json_t *small = json_array();
    size_t i;

    add_part(made, base->report, "job", &failed);
    add_part(made, base->report, "timeline", &failed);
    add_verdict(made, report, base, &failed);
    seep_json_set(made, "spaces", seep_compare_spaces(base->report, report), &failed);
    json_array_foreach (pairs, i, pair) {
        if (!all && is_light(pair, report, base->report))
            seep_json_append(small, json_incref((json_t *)pair), &failed);
        else if (!failed)
            add_pair(columns, pair, known, tables, &failed);
    }
    json_decref(known);
    seep_json_set(made, "pairs", columns, &failed);
    seep_json_set(made, "small", seep_page_small_pairs(report, base->report, small, tables),
                  &failed);
    json_decref(small);
    return seep_json_whole(made, failed || tables->failed);
}
