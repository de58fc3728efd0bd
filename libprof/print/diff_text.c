#include "libprof/print/diff_text.h"

#include "libprof/base/text.h"
#include "libprof/print/put_text.h"
#include "libprof/print/text_parts.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <string.h>

enum { MAX_SITES = 20, SIZE_COLUMN = 11 };

/* Less than this is printed as zero. */
static const double LEAST = 0.05;

/* ---- rows -------------------------------------------------------------------------------- */

/* A site that is live only at other times has neither more nor less of what is shown. */
static bool is_shown(const json_t *site)
{
    return fabs(seep_get_number(site, "retained_bytes_change")) >= LEAST ||
           fabs(seep_get_number(site, "growth_change")) >= LEAST;
}

/* The sites that are shown, and how many there would be. */
struct shown {
    json_t *first; /* MAX_SITES at most */
    size_t n;
};

static int choose(struct seep_json_stream *sites, struct shown *shown)
{
    bool failed = !shown->first;

    for (size_t i = 0; i < sites->n && !failed; i++) {
        json_t *site = sites->make(sites, i);
        failed = !site;
        if (site && is_shown(site) && shown->n++ < MAX_SITES)
            failed = json_array_append(shown->first, site);
        json_decref(site);
    }
    return failed ? -SEEP_ENOMEM : 0;
}

static int space_width(const json_t *sites)
{
    int width = (int)strlen("space");
    json_t *site;
    size_t i;

    json_array_foreach (sites, i, site) {
        const int its = (int)strlen(seep_get_text(site, "space", "?"));
        width = its > width ? its : width;
    }
    return width;
}

/* Right-aligned; blank if nothing changed. */
static void put_change(FILE *out, double bytes, int width)
{
    char size[SEEP_SIZE_TEXT], text[SEEP_SIZE_TEXT + 1] = "";

    if (fabs(bytes) >= LEAST)
        snprintf(text, sizeof text, "%s%s", bytes > 0 ? "+" : "", seep_text_size(bytes, size));
    fprintf(out, "  %*s", width, text);
}

static void put_site(FILE *out, const json_t *site, int growth_width, int name_width,
                     const char *cwd)
{
    const char *space = seep_get_text(site, "space", "?");

    put_change(out, seep_get_number(site, "retained_bytes_change"), SIZE_COLUMN);
    put_change(out, seep_get_number(site, "growth_change"), growth_width);
    fputs("  ", out);
    seep_put_text(out, space);
    fprintf(out, "%*s", 2 + name_width - (int)strlen(space), "");
    seep_put_frame(out, json_object_get(site, "frame"), cwd);
    fputs(!json_is_object(json_object_get(site, "before"))  ? "  (new)\n"
          : !json_is_object(json_object_get(site, "after")) ? "  (gone)\n"
                                                            : "\n",
          out);
}

static void put_sites(FILE *out, const struct shown *shown, const struct seep_report_job *job)
{
    const char *unit = seep_get_step_unit(job);
    const int growth_width = (int)strlen("growth a ") + (int)strlen(unit);
    const int name_width = space_width(shown->first);
    json_t *site;
    size_t i;

    fprintf(out, "\n  %*s  growth a %s  %-*s  line\n", SIZE_COLUMN, "retained", unit, name_width,
            "space");
    json_array_foreach (shown->first, i, site)
        put_site(out, site, growth_width, name_width, job->cwd);
    if (shown->n > MAX_SITES)
        fprintf(out, "  and %zu more: --format json lists them\n", shown->n - MAX_SITES);
}

/* ---- all --------------------------------------------------------------------------------- */

static void put_all(const json_t *diff, const struct shown *shown, size_t others, FILE *out,
                    bool colour)
{
    const struct seep_report_job job = seep_report_job_read(json_object_get(diff, "new"));
    const json_t *notes = json_object_get(diff, "notes");

    seep_put_colour(out, colour, "1");
    fprintf(out, "seep diff: %zu site%s changed (NEW minus BASE)", shown->n,
            shown->n == 1 ? "" : "s");
    seep_put_colour(out, colour, "0");
    fputc('\n', out);
    if (json_array_size(notes)) {
        seep_put_colour(out, colour, "1;33");
        seep_put_notes(out, notes);
        seep_put_colour(out, colour, "0");
    }
    fputc('\n', out);
    seep_spaces_text(json_object_get(diff, "spaces"), out, seep_get_step_unit(&job));
    if (shown->n)
        put_sites(out, shown, &job);
    if (others)
        fprintf(out, "\n%zu site%s differ%s only in the peak: --format json lists %s\n", others,
                others == 1 ? "" : "s", others == 1 ? "s" : "", others == 1 ? "it" : "them");
}

int seep_diff_text(const json_t *diff, struct seep_json_stream *sites, FILE *out, bool colour)
{
    struct shown shown = {.first = json_array()};
    int rc = choose(sites, &shown);

    if (!rc)
        put_all(diff, &shown, sites->n - shown.n, out, colour);
    json_decref(shown.first);
    return rc ? rc : ferror(out) ? -SEEP_EIO : 0;
}
