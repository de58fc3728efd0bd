#include "libprof/report_read/line_view.h"

#include "libprof/base/hash_index.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 1000 }; /* bytes of a place: no terminal is wider */

/* The lines while sites are assigned to them. */
struct reading {
    struct seep_line_views *lines;
    struct seep_hash_index index; /* of the lines, by key */
    const json_t *findings;
    json_t *by_id;     /* the first finding that names a site */
    uint32_t *line_of; /* of each site */
    const char *cwd;
    bool host_is_one;
};

/* FNV-1a. */
static uint64_t mix(uint64_t key, const char *text)
{
    for (; *text; text++)
        key = (key ^ (unsigned char)*text) * 0x100000001b3u;
    return (key ^ 0xff) * 0x100000001b3u;
}

/* Largest peak first, as the report's sites. */
static int by_peak(const void *a, const void *b)
{
    const struct seep_line_view *p = a, *q = b;

    if (p->peak != q->peak)
        return p->peak < q->peak ? 1 : -1;
    return (p->key > q->key) - (p->key < q->key);
}

/* A site's level now: its series takes into account which of its processes are gone; its own
 * counters do not. */
static double level_of(const struct seep_report_site *site)
{
    const json_t *levels = json_object_get(site->series, "live_bytes");
    size_t n = json_array_size(levels);

    return n ? json_number_value(json_array_get(levels, n - 1)) : (double)site->live_bytes;
}

static void add_site(struct seep_line_view *line, const json_t *json, uint32_t i)
{
    const struct seep_report_site site = seep_report_site_read(json);
    const double blocks = (double)site.allocations - (double)site.frees;
    const double live = level_of(&site), peak = (double)site.peak_bytes;

    line->live += live;
    line->peak += peak;
    line->highest = fmax(line->highest, peak);
    line->growth += site.growth_bytes_per_step.value;
    line->held += json_number_value(site.held_bytes);
    if (line->asked == UINT32_MAX && seep_get_holders(site.holders))
        line->asked = i;
    if (live < (double)site.live_bytes)
        line->blocks = -1;
    else if (line->blocks >= 0)
        line->blocks += fmax(0, blocks);
    line->n_sites++;
}

/* The peak of a space, or of all spaces that count as one with it. */
static double peak_of(const json_t *report, const char *name, bool host_is_one)
{
    const char *other;
    double peak = 0;
    json_t *space;

    json_object_foreach (json_object_get(report, "spaces"), other, space) {
        if (strcmp(host_is_one ? seep_get_space_class(other) : other, name) == 0)
            peak += seep_get_number(space, "peak_bytes");
    }
    return peak;
}

/* Findings are listed most severe first: a line gets the first finding that names a site of it. */
static json_t *findings_by_site(const json_t *findings)
{
    json_t *by_id = json_object(), *finding, *id;
    size_t i, k;

    json_array_foreach (findings, i, finding) {
        json_array_foreach (seep_report_finding_read(finding).sites, k, id) {
            const char *name = json_string_value(id);
            if (name && !json_object_get(by_id, name))
                json_object_set_new(by_id, name, json_integer((json_int_t)i));
        }
    }
    return by_id;
}

static void add_finding(const struct reading *r, struct seep_line_view *line, const json_t *site)
{
    const json_t *its = json_object_get(r->by_id, seep_get_text(site, "id", ""));

    if (its && json_integer_value(its) < line->finding_at)
        line->finding_at = (uint32_t)json_integer_value(its);
}

/* ---- lines ------------------------------------------------------------------------------- */

/* The name as the lines keep it; NULL without memory. */
static const char *space_of(struct seep_line_views *lines, const char *name)
{
    if (!json_object_get(lines->spaces, name) &&
        json_object_set_new(lines->spaces, name, json_null()))
        return NULL;
    return json_object_iter_key(json_object_iter_at(lines->spaces, name));
}

static uint32_t find_line(const struct reading *r, uint64_t key)
{
    uint32_t id, at = seep_hash_begin(&r->index, key);

    while ((id = seep_hash_next(&r->index, key, &at)) != SEEP_HASH_NONE) {
        if (r->lines->lines[id].key == key)
            break;
    }
    return id;
}

/* Takes over the place. SEEP_HASH_NONE without memory. */
static uint32_t add_line(struct reading *r, const char *space, char *place, uint64_t key)
{
    struct seep_line_views *lines = r->lines;
    const char *name = space_of(lines, space);

    if (!name || seep_grow(&lines->lines, &lines->capacity, lines->n + 1, sizeof *lines->lines) ||
        seep_hash_add(&r->index, key, (uint32_t)lines->n)) {
        free(place);
        return SEEP_HASH_NONE;
    }
    lines->lines[lines->n] = (struct seep_line_view){.place = place,
                                                     .space = name,
                                                     .pattern = "",
                                                     .finding_at = UINT32_MAX,
                                                     .asked = UINT32_MAX,
                                                     .key = key};
    return (uint32_t)lines->n++;
}

/* The number of a site's line; SEEP_HASH_NONE without memory. */
static uint32_t line_of(struct reading *r, const json_t *site)
{
    const char *space = seep_get_text(site, "space", "");
    char *place = seep_get_frame_text(seep_get_site_frame(site), r->cwd);

    if (!place)
        return SEEP_HASH_NONE;
    if (strlen(place) > MAX_TEXT)
        place[MAX_TEXT] = '\0';
    if (r->host_is_one)
        space = seep_get_space_class(space);
    const uint64_t key = mix(mix(0xcbf29ce484222325u, space), place);
    const uint32_t line = find_line(r, key);
    if (line == SEEP_HASH_NONE)
        return add_line(r, space, place, key);
    free(place);
    return line;
}

static int read_sites(struct reading *r, struct seep_json_stream *sites)
{
    for (uint32_t i = 0; i < sites->n; i++) {
        json_t *site = sites->make(sites, i);
        const uint32_t line = site ? line_of(r, site) : SEEP_HASH_NONE;
        if (line != SEEP_HASH_NONE) {
            add_site(&r->lines->lines[line], site, i);
            add_finding(r, &r->lines->lines[line], site);
        }
        json_decref(site);
        if (line == SEEP_HASH_NONE)
            return -1;
        r->line_of[i] = line;
    }
    return 0;
}

/* Lists the sites of each line, in their order. */
static void list_sites(struct seep_line_views *lines, const uint32_t *line_of_site, size_t n)
{
    uint32_t *next = lines->sites;

    for (size_t i = 0; i < lines->n; i++) {
        lines->lines[i].sites = next;
        next += lines->lines[i].n_sites;
        lines->lines[i].n_sites = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct seep_line_view *line = &lines->lines[line_of_site[i]];
        lines->sites[(size_t)(line->sites - lines->sites) + line->n_sites++] = i;
    }
}

static void finish(struct reading *r, const json_t *report, size_t n_sites)
{
    struct seep_line_views *lines = r->lines;

    list_sites(lines, r->line_of, n_sites);
    for (size_t i = 0; i < lines->n; i++) {
        struct seep_line_view *line = &lines->lines[i];
        const double highest = peak_of(report, line->space, r->host_is_one);
        if (highest > 0)
            line->peak = fmin(line->peak, highest);
        line->finding = json_array_get(r->findings, line->finding_at);
        const struct seep_report_finding f = seep_report_finding_read(line->finding);
        line->pattern = f.pattern;
        line->severity = line->finding ? f.severity : SEEP_N_SEVERITIES;
    }
    if (lines->n)
        qsort(lines->lines, lines->n, sizeof *lines->lines, by_peak);
}

int seep_line_views_init(struct seep_line_views *lines, const json_t *report,
                         struct seep_json_stream *sites, bool host_is_one)
{
    struct reading r = {.lines = lines,
                        .findings = json_object_get(report, "findings"),
                        .cwd = seep_get_job(report).cwd,
                        .host_is_one = host_is_one};

    *lines = (struct seep_line_views){.spaces = json_object(),
                                      .sites = calloc(sites->n + 1, sizeof *lines->sites)};
    r.line_of = calloc(sites->n + 1, sizeof *r.line_of);
    r.by_id = findings_by_site(r.findings);
    int rc = lines->spaces && lines->sites && r.line_of && r.by_id ? read_sites(&r, sites) : -1;
    if (!rc)
        finish(&r, report, sites->n);
    json_decref(r.by_id);
    free(r.line_of);
    seep_hash_fini(&r.index);
    return rc;
}

void seep_line_views_fini(struct seep_line_views *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        free(lines->lines[i].place);
    free(lines->lines);
    json_decref(lines->spaces);
    free(lines->sites);
    *lines = (struct seep_line_views){0};
}
