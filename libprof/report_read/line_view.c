#include "libprof/report_read/line_view.h"

#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1000 }; /* bytes of a place: no terminal is wider */

/* A site that is being assigned to its line. */
struct member {
    const json_t *site;
    const char *space;
    char *place;
    uint64_t key;
    size_t at; /* in the report */
};

/* FNV-1a. */
static uint64_t mix(uint64_t key, const char *text)
{
    for (; *text; text++)
        key = (key ^ (unsigned char)*text) * 0x100000001b3u;
    return (key ^ 0xff) * 0x100000001b3u;
}

static int by_key(const void *a, const void *b)
{
    const struct member *p = a, *q = b;

    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

/* Largest peak first, as the report's sites. */
static int by_peak(const void *a, const void *b)
{
    const struct seep_line_view *p = a, *q = b;

    if (p->peak != q->peak)
        return p->peak < q->peak ? 1 : -1;
    return (p->key > q->key) - (p->key < q->key);
}

static int read_members(struct member *members, const json_t *report, bool host_is_one)
{
    const char *cwd = seep_get_text(json_object_get(report, "job"), "cwd", "");
    json_t *site;
    size_t i;

    json_array_foreach (json_object_get(report, "sites"), i, site) {
        struct member *m = &members[i];
        const char *space = seep_get_text(site, "space", "");
        m->site = site;
        m->at = i;
        m->space = host_is_one ? seep_get_space_class(space) : space;
        m->place = seep_get_frame_text(seep_get_site_frame(site), cwd);
        if (!m->place)
            return -1;
        if (strlen(m->place) > MOST_TEXT)
            m->place[MOST_TEXT] = '\0';
        m->key = mix(mix(0xcbf29ce484222325u, m->space), m->place);
    }
    return 0;
}

/* A site's level now: its series takes into account which of its processes are gone; its own
 * counters do not. */
static double level_of(const json_t *site)
{
    const json_t *levels = json_object_get(json_object_get(site, "series"), "live_bytes");
    size_t n = json_array_size(levels);

    return n ? json_number_value(json_array_get(levels, n - 1))
             : seep_get_number(site, "live_bytes");
}

static void add_site(struct seep_line_view *line, const json_t *site)
{
    double blocks = seep_get_number(site, "allocations") - seep_get_number(site, "frees");
    double live = level_of(site);
    struct seep_slope growth;

    line->live += live;
    line->peak += seep_get_number(site, "peak_bytes");
    line->growth += seep_get_slope(site, "growth_bytes_per_step", &growth) ? growth.value : 0;
    if (live < seep_get_number(site, "live_bytes"))
        line->blocks = -1;
    else if (line->blocks >= 0)
        line->blocks += fmax(0, blocks);
    line->sites[line->n_sites++] = site;
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

/* Members with the same key are adjacent. */
static void group(struct seep_line_views *lines, struct member *members, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || members[i].key != members[i - 1].key) {
            lines->lines[lines->n++] = (struct seep_line_view){.space = members[i].space,
                                                               .pattern = "",
                                                               .place = members[i].place,
                                                               .key = members[i].key,
                                                               .sites = lines->sites + i};
            members[i].place = NULL;
        }
        add_site(&lines->lines[lines->n - 1], members[i].site);
    }
}

/* Findings are listed most severe first: a line gets the first finding that names a site of it. */
static int name_findings(struct seep_line_views *lines, const json_t *report)
{
    const json_t *findings = json_object_get(report, "findings");
    json_t *by_id = json_object(), *finding, *id;
    size_t i, k;

    if (!by_id)
        return -1;
    json_array_foreach (findings, i, finding) {
        json_array_foreach (json_object_get(finding, "sites"), k, id) {
            const char *name = json_string_value(id);
            if (name && !json_object_get(by_id, name))
                json_object_set_new(by_id, name, json_integer((json_int_t)i));
        }
    }
    for (i = 0; i < lines->n; i++) {
        struct seep_line_view *line = &lines->lines[i];
        json_int_t best = (json_int_t)json_array_size(findings);
        for (k = 0; k < line->n_sites; k++) {
            const json_t *at = json_object_get(by_id, seep_get_text(line->sites[k], "id", ""));
            best = at && json_integer_value(at) < best ? json_integer_value(at) : best;
        }
        line->finding = json_array_get(findings, (size_t)best);
        line->pattern = seep_get_text(line->finding, "pattern", "");
    }
    json_decref(by_id);
    return 0;
}

int seep_line_views_init(struct seep_line_views *lines, const json_t *report, bool host_is_one)
{
    size_t n = json_array_size(json_object_get(report, "sites"));
    struct member *members = calloc(n + 1, sizeof *members);

    *lines = (struct seep_line_views){.lines = calloc(n + 1, sizeof *lines->lines),
                                      .sites = calloc(n + 1, sizeof *lines->sites)};
    int r = -1;
    if (members && lines->lines && lines->sites &&
        read_members(members, report, host_is_one) == 0) {
        qsort(members, n, sizeof *members, by_key);
        group(lines, members, n);
        for (size_t i = 0; i < lines->n; i++) {
            double highest = peak_of(report, lines->lines[i].space, host_is_one);
            if (highest > 0)
                lines->lines[i].peak = fmin(lines->lines[i].peak, highest);
        }
        qsort(lines->lines, lines->n, sizeof *lines->lines, by_peak);
        r = name_findings(lines, report);
    }
    for (size_t i = 0; members && i < n; i++)
        free(members[i].place);
    free(members);
    return r;
}

void seep_line_views_fini(struct seep_line_views *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        free(lines->lines[i].place);
    free(lines->lines);
    free(lines->sites);
    *lines = (struct seep_line_views){0};
}
