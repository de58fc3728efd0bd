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

static size_t count_shown(const json_t *sites)
{
    json_t *site;
    size_t i, n = 0;

    json_array_foreach (sites, i, site)
        n += is_shown(site);
    return n;
}

static int space_width(const json_t *sites)
{
    int width = (int)strlen("space");
    size_t i, n = 0;
    json_t *site;

    json_array_foreach (sites, i, site) {
        const int its = (int)strlen(seep_get_text(site, "space", "?"));
        if (is_shown(site) && n++ < MAX_SITES && its > width)
            width = its;
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

static void put_sites(FILE *out, const json_t *sites, const json_t *job)
{
    const char *cwd = seep_get_text(job, "cwd", ""), *unit = seep_get_step_unit(job);
    const int growth_width = (int)strlen("growth a ") + (int)strlen(unit);
    const int name_width = space_width(sites);
    size_t i, n = 0;
    json_t *site;

    fprintf(out, "\n  %*s  growth a %s  %-*s  line\n", SIZE_COLUMN, "retained", unit, name_width,
            "space");
    json_array_foreach (sites, i, site) {
        if (is_shown(site) && n++ < MAX_SITES)
            put_site(out, site, growth_width, name_width, cwd);
    }
    if (n > MAX_SITES)
        fprintf(out, "  and %zu more: --format json lists them\n", n - MAX_SITES);
}

/* ---- all --------------------------------------------------------------------------------- */

int seep_diff_text(const json_t *diff, FILE *out, bool colour)
{
    const json_t *sites = json_object_get(diff, "sites");
    const json_t *job = json_object_get(diff, "new"), *notes = json_object_get(diff, "notes");
    const size_t n = count_shown(sites), others = json_array_size(sites) - n;

    seep_put_colour(out, colour, "1");
    fprintf(out, "seep diff: %zu site%s changed (NEW minus BASE)", n, n == 1 ? "" : "s");
    seep_put_colour(out, colour, "0");
    fputc('\n', out);
    if (json_array_size(notes)) {
        seep_put_colour(out, colour, "1;33");
        seep_put_notes(out, notes);
        seep_put_colour(out, colour, "0");
    }
    fputc('\n', out);
    seep_spaces_text(json_object_get(diff, "spaces"), out, seep_get_step_unit(job));
    if (n)
        put_sites(out, sites, job);
    if (others)
        fprintf(out, "\n%zu site%s differ%s only in the peak: --format json lists %s\n", others,
                others == 1 ? "" : "s", others == 1 ? "s" : "", others == 1 ? "it" : "them");
    return ferror(out) ? -SEEP_EIO : 0;
}
