#include "libprof/print/diff_text.h"

#include "libprof/base/text.h"
#include "libprof/print/put_text.h"
#include "libprof/print/text_parts.h"
#include "libprof/report_read/report_view.h"

enum { MAX_SITES = 20 };

static void put_site(FILE *out, const json_t *site, const json_t *job)
{
    const json_t *before = json_object_get(site, "before"), *after = json_object_get(site, "after");
    char text[SEEP_SIZE_TEXT];
    double change = seep_get_number(site, "retained_bytes_change");

    fprintf(out, "%s%-11s ",
            change > 0   ? "+"
            : change < 0 ? ""
                         : " ",
            seep_text_size(change, text));
    change = seep_get_number(site, "growth_change");
    seep_put_change(out, change);
    fprintf(out, " a %s  ", seep_get_step_unit(job));
    seep_put_text(out, seep_get_text(site, "space", "?"));
    fputs("  ", out);
    seep_put_frame(out, json_object_get(site, "frame"), seep_get_text(job, "cwd", ""));
    fputs(!json_is_object(before)  ? "  (new)\n"
          : !json_is_object(after) ? "  (gone)\n"
                                   : "\n",
          out);
}

int seep_diff_text(const json_t *diff, FILE *out, bool colour)
{
    const json_t *sites = json_object_get(diff, "sites");
    const json_t *job = json_object_get(diff, "new");
    size_t n = json_array_size(sites);

    seep_put_colour(out, colour, "1");
    fprintf(out, "seep diff: %zu site%s changed", n, n == 1 ? "" : "s");
    seep_put_colour(out, colour, "0");
    fputs("\n\n", out);
    seep_spaces_text(json_object_get(diff, "spaces"), out, seep_get_step_unit(job));
    if (n)
        fputs("\nretained and growth, new less base\n", out);
    for (size_t i = 0; i < n && i < MAX_SITES; i++)
        put_site(out, json_array_get(sites, i), job);
    if (n > MAX_SITES)
        fprintf(out, "and %zu more: --format json lists them\n", n - MAX_SITES);
    seep_put_notes(out, json_object_get(diff, "notes"));
    return ferror(out) ? -SEEP_EIO : 0;
}
