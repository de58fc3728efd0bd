/* What `seep verify` and `seep diff` say, as text. */
#include "libprof/base/text.h"
#include "libprof/document/report_view.h"
#include "libprof/gate/fix_verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SITES = 20 };

static void put(FILE *out, const char *text)
{
    char *clean = seep_text_clean(text, strlen(text));

    if (clean)
        fputs(clean, out);
    free(clean);
}

static void put_size(FILE *out, double bytes, bool sign)
{
    char size[SEEP_SIZE_TEXT];

    fprintf(out, "%s%s", sign && bytes > 0 ? "+" : "", seep_text_size(bytes, size));
}

static void paint(FILE *out, bool colour, const char *code)
{
    if (colour)
        fprintf(out, "\033[%sm", code);
}

static void put_frame(FILE *out, const json_t *entry, const char *cwd)
{
    char *text = seep_get_frame_text(json_object_get(entry, "frame"), cwd);

    fputs(text ? text : "?", out);
    free(text);
}

static void put_side(FILE *out, const json_t *side)
{
    struct seep_slope growth;

    if (!json_is_object(side)) {
        fputs("not there", out);
        return;
    }
    fputs("peak ", out);
    put_size(out, seep_get_number(side, "peak_bytes"), false);
    if (!seep_get_slope(side, "growth_bytes_per_step", &growth)) {
        fputs(", too few steps for a growth", out);
        return;
    }
    fputs(", ", out);
    put_size(out, growth.value, true);
    fputs(" a step (", out);
    put_size(out, growth.low, false);
    fputs(" to ", out);
    put_size(out, growth.high, false);
    fputc(')', out);
}

void seep_spaces_beside_text(const json_t *spaces, FILE *out)
{
    json_t *space;
    size_t i;

    json_array_foreach (spaces, i, space) {
        const json_t *before = json_object_get(space, "before"),
                     *after = json_object_get(space, "after");
        fputs("  ", out);
        put(out, seep_get_text(space, "space", "?"));
        fputs("\n    before  ", out);
        put_side(out, before);
        fputs("\n    after   ", out);
        put_side(out, after);
        fputs("\n    peak    ", out);
        put_size(out, seep_get_number(after, "peak_bytes") - seep_get_number(before, "peak_bytes"),
                 true);
        fputc('\n', out);
    }
}

static void put_notes(FILE *out, const json_t *notes)
{
    json_t *one;
    size_t i;

    json_array_foreach (notes, i, one) {
        fputs("  note: ", out);
        put(out, json_string_value(one) ? json_string_value(one) : "");
        fputc('\n', out);
    }
}

/* ---- verify ------------------------------------------------------------------------------ */

static void put_finding(FILE *out, const char *what, const json_t *finding, const char *cwd)
{
    struct seep_slope growth;

    fprintf(out, "  %-9s ", what);
    put(out, seep_get_text(finding, "pattern", "?"));
    fprintf(out, " (%s) ", seep_severities[seep_get_severity(finding)]);
    put_frame(out, finding, cwd);
    fputs(": ", out);
    put_size(out, seep_get_number(finding, "live_bytes"), false);
    fputs(" kept", out);
    if (seep_get_slope(finding, "growth_bytes_per_step", &growth) && growth.value > 0) {
        fputs(", ", out);
        put_size(out, growth.value, true);
        fputs(" a step", out);
    }
    fputc('\n', out);
}

static void put_saving(FILE *out, const json_t *saving)
{
    double predicted = seep_get_number(saving, "predicted_bytes"),
           measured = seep_get_number(saving, "measured_bytes");

    fputs("  saving    ", out);
    put(out, seep_get_text(saving, "space", "?"));
    fputs(": predicted ", out);
    put_size(out, predicted, false);
    fputs(", the peak fell by ", out);
    put_size(out, measured, false);
    if (json_is_true(json_object_get(saving, "agrees")))
        fputs(": within 10 %\n", out);
    else
        fprintf(out, ": %.0f %% %s\n", 100 * fabs(measured - predicted) / predicted,
                measured > predicted ? "more" : "less");
}

int seep_verify_text(const json_t *verdict, FILE *out, bool colour)
{
    const char *cwd = seep_get_text(json_object_get(verdict, "after"), "cwd", "");
    bool fixed = strcmp(seep_get_text(verdict, "verdict", ""), "fixed") == 0;
    json_t *one;
    size_t i;

    paint(out, colour, fixed ? "1;32" : "1;31");
    fprintf(out, "seep verify: %s", fixed ? "fixed" : "not fixed");
    paint(out, colour, "0");
    fputs(": ", out);
    put(out, seep_get_text(verdict, "why", ""));
    fputs("\n\n", out);
    json_array_foreach (json_object_get(verdict, "findings"), i, one) {
        const char *state = seep_get_text(one, "state", "?");
        bool gone = strcmp(state, "vanished") == 0;
        put_finding(out, state, json_object_get(one, gone ? "before" : "after"), cwd);
        if (strcmp(state, "remains") == 0)
            put_finding(out, "  before", json_object_get(one, "before"), cwd);
    }
    fputc('\n', out);
    seep_spaces_beside_text(json_object_get(verdict, "spaces"), out);
    json_array_foreach (json_object_get(verdict, "savings"), i, one)
        put_saving(out, one);
    put_notes(out, json_object_get(verdict, "notes"));
    return ferror(out) ? -SEEP_EIO : 0;
}

/* ---- diff -------------------------------------------------------------------------------- */

static void put_site(FILE *out, const json_t *site, const char *cwd)
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
    fprintf(out, "%s%s a step  ", change > 0 ? "+" : "", seep_text_size(change, text));
    put(out, seep_get_text(site, "space", "?"));
    fputs("  ", out);
    put_frame(out, site, cwd);
    fputs(!json_is_object(before)  ? "  (new)\n"
          : !json_is_object(after) ? "  (gone)\n"
                                   : "\n",
          out);
}

int seep_diff_text(const json_t *diff, FILE *out, bool colour)
{
    const json_t *sites = json_object_get(diff, "sites");
    const char *cwd = seep_get_text(json_object_get(diff, "new"), "cwd", "");
    size_t n = json_array_size(sites);

    paint(out, colour, "1");
    fprintf(out, "seep diff: %zu site%s changed", n, n == 1 ? "" : "s");
    paint(out, colour, "0");
    fputs("\n\n", out);
    seep_spaces_beside_text(json_object_get(diff, "spaces"), out);
    if (n)
        fputs("\nretained and growth, new less base\n", out);
    for (size_t i = 0; i < n && i < MAX_SITES; i++)
        put_site(out, json_array_get(sites, i), cwd);
    if (n > MAX_SITES)
        fprintf(out, "and %zu more: --format json lists them\n", n - MAX_SITES);
    put_notes(out, json_object_get(diff, "notes"));
    return ferror(out) ? -SEEP_EIO : 0;
}
