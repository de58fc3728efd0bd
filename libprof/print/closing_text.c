#include "libprof/print/text_parts.h"

#include "libprof/base/text.h"
#include "libprof/print/put_text.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_LINES = 16, /* with the lines around them they fit a screen of 24 rows */
    ID_COLUMNS = 4,
    SEVERITY_COLUMNS = 11,
    AMOUNT_COLUMNS = 18,
    OTHER_COLUMNS = ID_COLUMNS + SEVERITY_COLUMNS + AMOUNT_COLUMNS,
    MIN_PLACE = 24
};

struct page {
    FILE *out;
    bool colour;
    const json_t *job;
    int width, pattern; /* columns */
};

/* As much of a place as fits: folders are cut first, then the function. */
static void put_short_place(FILE *out, char *place, int room)
{
    char *in = strstr(place, " in "), *end = in ? in : place + strlen(place), *folder;

    while ((int)strlen(place) > room && (folder = memchr(place, '/', (size_t)(end - place))))
        place = folder + 1;
    if (in && (int)strlen(place) > room)
        *in = '\0';
    fputs(place, out);
}

static void put_cell(FILE *out, const char *text, int columns)
{
    seep_put_text(out, text);
    fprintf(out, "%*s", columns > (int)strlen(text) ? columns - (int)strlen(text) : 0, "");
}

/* "+64.3 KiB/step", "keeps 12.5 MiB" */
static void put_amount(FILE *out, const struct seep_report_finding *f, const char *unit)
{
    char text[AMOUNT_COLUMNS + 32], size[SEEP_SIZE_TEXT];

    if (f->growth_bytes_per_step.value > 0)
        snprintf(text, sizeof text, "+%s/%s", seep_text_size(f->growth_bytes_per_step.value, size),
                 strcmp(unit, "step") == 0 ? unit : "slice");
    else
        snprintf(text, sizeof text, "keeps %s", seep_text_size((double)f->live_bytes, size));
    put_cell(out, text, AMOUNT_COLUMNS);
}

/* The width of the column of patterns; 0 if that would leave too little for places. */
static int pattern_columns(const json_t *findings, int width)
{
    int longest = 0;
    json_t *one;
    size_t i;

    json_array_foreach (findings, i, one) {
        int n = (int)strlen(seep_report_finding_read(one).pattern) + 2;
        longest = i < MAX_LINES && n > longest ? n : longest;
    }
    return width - OTHER_COLUMNS - longest < MIN_PLACE ? 0 : longest;
}

static void put_finding(const struct page *p, const json_t *finding)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);
    const json_t *frame = seep_get_line_to_change(&f);
    char *place = seep_get_frame_text(frame, seep_get_text(p->job, "cwd", ""));

    put_cell(p->out, f.id, ID_COLUMNS);
    seep_put_severity(p->out, p->colour, f.severity);
    put_cell(p->out, seep_severity_name(f.severity), SEVERITY_COLUMNS);
    seep_put_colour(p->out, p->colour, "0");
    if (p->pattern)
        put_cell(p->out, f.pattern, p->pattern);
    put_amount(p->out, &f, seep_get_step_unit(p->job));
    if (place && json_is_object(frame))
        put_short_place(p->out, place, p->width - OTHER_COLUMNS - p->pattern);
    fputc('\n', p->out);
    free(place);
}

static struct page page_of(const json_t *report, FILE *out, bool colour)
{
    const int width = seep_put_width(out, SEEP_PUT_WIDTH);

    return (struct page){.out = out,
                         .colour = colour,
                         .job = json_object_get(report, "job"),
                         .width = width,
                         .pattern = pattern_columns(json_object_get(report, "findings"), width)};
}

/* Returns how many there are. */
static size_t put_findings(const struct page *p, const json_t *report, size_t from, size_t most)
{
    const json_t *findings = json_object_get(report, "findings");
    const size_t n = json_array_size(findings);

    for (size_t i = from; i < n && i < most; i++)
        put_finding(p, json_array_get(findings, i));
    return n;
}

void seep_closing_text(const json_t *report, FILE *out, bool colour, const char *folder)
{
    const struct page page = page_of(report, out, colour);

    fputc('\n', out);
    seep_verdict_text(report, out, colour);
    const size_t n = put_findings(&page, report, 0, MAX_LINES);
    if (n > MAX_LINES)
        fprintf(out, "and %zu more, above\n", n - MAX_LINES);
    if (!folder)
        return;
    fputs("\nIn a browser: seep view ", out);
    seep_put_text(out, folder);
    fputc('\n', out);
}

/* ---- the whole, in few lines --------------------------------------------------------------- */

enum { BRIEF_FINDINGS = 2 };

/* The finding that comes first is fixed first, so only it has its advice here. */
static void put_brief_findings(const struct page *p, const json_t *report)
{
    const struct seep_report_finding first =
        seep_report_finding_read(json_array_get(json_object_get(report, "findings"), 0));

    put_findings(p, report, 0, 1);
    seep_advice_text(&first, p->out, p->colour);
    const size_t n = put_findings(p, report, 1, BRIEF_FINDINGS);
    if (n > BRIEF_FINDINGS)
        fprintf(p->out, "and %zu more\n", n - BRIEF_FINDINGS);
}

static void put_what_it_had(const struct page *p, const json_t *report,
                            struct seep_json_stream *sites)
{
    seep_largest_text(report, sites, p->out);
    if (seep_get_crashed(report) || !seep_get_too_early(report))
        return;
    fprintf(p->out, "%-*s", SEEP_PUT_LABEL, "to do");
    seep_put_wrapped(p->out,
                     strcmp(seep_get_text(p->job, "step_source", ""), "time") == 0
                         ? "Run it longer, or call seep.step() (seep_step() in C) at the end of "
                           "each iteration."
                         : "Run it for more steps.",
                     SEEP_PUT_LABEL, SEEP_PUT_LABEL);
}

void seep_brief_text(const json_t *report, struct seep_json_stream *sites, FILE *out, bool colour,
                     const char *folder)
{
    const struct page page = page_of(report, out, colour);

    seep_verdict_text(report, out, colour);
    seep_ooms_text(report, out, true);
    if (json_array_size(json_object_get(report, "findings")))
        put_brief_findings(&page, report);
    else
        put_what_it_had(&page, report, sites);
    if (!folder)
        return;
    fprintf(out, "%-*sseep report ", SEEP_PUT_LABEL, "details");
    seep_put_text(out, folder);
    fputs(" (in a browser: seep view)\n", out);
}
