#include "libprof/print/text_parts.h"

#include "libprof/base/text.h"
#include "libprof/print/put_text.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/line_view.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/space.h"

#include <stdbool.h>
#include <string.h>

enum {
    MAX_SHOWN_LINES = 8,
    SIZE_COLUMNS = 11,
    HOLDER_COLUMN = SEEP_PUT_LABEL + SIZE_COLUMNS + 2 /* the column of a place, beside its size */
};

static const double MOST_OF_IT = 0.8;

struct page {
    FILE *out;
    const char *cwd, *unit;
    double steps;
};

/* The site of the line whose holders were looked for: a new reference, NULL for none. */
static json_t *asked_site(struct seep_json_stream *sites, const struct seep_line_view *line)
{
    return line->asked == UINT32_MAX ? NULL : sites->make(sites, line->asked);
}

/* A snapshot shows one instant, and all that a line has at that instant: the holders it names need
 * not hold what the line had at its peak. */
static void put_when_held(const struct page *p, const struct seep_line_view *line,
                          const json_t *site)
{
    const json_t *holders = seep_get_holders(json_object_get(site, "holders"));
    double seen = seep_get_number(holders, "bytes"), least = seen < line->peak ? seen : line->peak;
    char size[SEEP_SIZE_TEXT], when[SEEP_WHEN_TEXT];

    if (!json_array_size(json_object_get(holders, "paths")) && !*seep_get_holders_words(holders))
        return;
    if (seen >= MOST_OF_IT * line->peak && line->held >= MOST_OF_IT * least)
        return;
    fprintf(p->out, "%*sof its %s %s:\n", HOLDER_COLUMN, "", seep_text_size(seen, size),
            seep_get_when(p->unit, seep_get_number(holders, "step"), p->steps, when));
}

/* A line's stacks may peak at different times: the sum of their peaks is an upper bound. */
static bool is_bound(const struct seep_line_view *line)
{
    return line->highest < 0.95 * line->peak;
}

/* "≤ 41.8 MiB  train.py:9 in <module>", and who holds it, if sites tell. */
static void put_line(const struct page *p, const char *label, const struct seep_line_view *line,
                     struct seep_json_stream *sites)
{
    char size[SEEP_SIZE_TEXT], words[SEEP_SPACE_WORDS];
    const bool bound = is_bound(line);
    struct seep_paragraph row;
    FILE *to;

    seep_text_size(line->peak, size);
    fprintf(p->out, "%-*s%*s%s%s  ", SEEP_PUT_LABEL, label,
            SIZE_COLUMNS - (int)strlen(size) - 2 * bound, "", bound ? "≤ " : "", size);
    to = seep_put_begin(&row, p->out, HOLDER_COLUMN, HOLDER_COLUMN);
    seep_put_text(to, line->place);
    if (strcmp(line->space, "host") != 0)
        fprintf(to, ", %s", seep_space_words(line->space, words));
    seep_put_end(&row);
    json_t *site = sites ? asked_site(sites, line) : NULL;
    if (site) {
        put_when_held(p, line, site);
        seep_holders_text(json_object_get(site, "holders"), p->out, HOLDER_COLUMN);
    }
    json_decref(site);
}

/* Lines that no finding names, by their peaks; as many as that. */
static void put_lines(const json_t *report, struct seep_json_stream *sites, FILE *out, int most,
                      bool holders)
{
    const struct seep_report_job job = seep_get_job(report);
    const struct page page = {out, job.cwd, seep_get_step_unit(&job), (double)job.steps};
    const bool any = json_array_size(json_object_get(report, "findings"));
    struct seep_line_views lines;
    int shown = 0;

    if (seep_line_views_init(&lines, report, sites, true) == 0) {
        for (size_t i = 0; i < lines.n && shown < most; i++) {
            if (!lines.lines[i].finding)
                put_line(&page,
                         shown++ ? ""
                         : any   ? "others"
                                 : "largest",
                         &lines.lines[i], holders ? sites : NULL);
        }
    }
    seep_line_views_fini(&lines);
}

void seep_lines_text(const json_t *report, struct seep_json_stream *sites, FILE *out)
{
    put_lines(report, sites, out, MAX_SHOWN_LINES, true);
}

void seep_largest_text(const json_t *report, struct seep_json_stream *sites, FILE *out)
{
    put_lines(report, sites, out, 1, false);
}
