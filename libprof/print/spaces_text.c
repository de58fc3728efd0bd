#include "libprof/print/text_parts.h"

#include "libprof/base/text.h"
#include "libprof/print/put_text.h"
#include "libprof/report_read/report_view.h"

static void put_side(FILE *out, const json_t *side, const char *unit)
{
    char interval[SEEP_INTERVAL_TEXT];
    struct seep_slope growth;

    if (!json_is_object(side)) {
        fputs("not used", out);
        return;
    }
    fputs("peak ", out);
    seep_put_size(out, seep_get_number(side, "peak_bytes"));
    if (!seep_get_slope(side, "growth_bytes_per_step", &growth)) {
        fprintf(out, "; too few %ss to tell growth", unit);
        return;
    }
    fputs(", ", out);
    seep_put_change(out, growth.value);
    fprintf(out, " a %s%s", unit,
            seep_text_interval("", growth.value, growth.low, growth.high, interval));
}

void seep_spaces_text(const json_t *spaces, FILE *out, const char *unit)
{
    json_t *space;
    size_t i;

    json_array_foreach (spaces, i, space) {
        const json_t *before = json_object_get(space, "before"),
                     *after = json_object_get(space, "after");
        fputs("  ", out);
        seep_put_text(out, seep_get_text(space, "space", "?"));
        fputs("\n    before  ", out);
        put_side(out, before, unit);
        fputs("\n    after   ", out);
        put_side(out, after, unit);
        double change =
            seep_get_number(after, "peak_bytes") - seep_get_number(before, "peak_bytes");
        if (change != 0) {
            fputs("\n    peak    ", out);
            seep_put_change(out, change);
        }
        fputc('\n', out);
    }
}
