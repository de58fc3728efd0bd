#include "libprof/print/fix_text.h"

#include "libprof/print/put_text.h"
#include "libprof/print/text_parts.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <string.h>

static void put_finding(FILE *out, const char *what, const json_t *finding,
                        const struct seep_report_job *job)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);

    fprintf(out, "  %-9s ", what);
    seep_put_text(out, f.pattern);
    fprintf(out, " (%s) ", seep_severity_name(f.severity));
    seep_put_frame(out, f.frame, job->cwd);
    fputs(": ", out);
    seep_put_size(out, (double)f.live_bytes);
    fputs(" kept", out);
    if (f.growth_bytes_per_step.value > 0) {
        fputs(", ", out);
        seep_put_change(out, f.growth_bytes_per_step.value);
        fprintf(out, " a %s", seep_get_step_unit(job));
    }
    if (seep_get_holder_name(&f)) {
        fputs(", held by ", out);
        seep_put_text(out, seep_get_holder_name(&f));
    }
    fputc('\n', out);
}

static void put_saving(FILE *out, const json_t *saving)
{
    double predicted = seep_get_number(saving, "predicted_bytes"),
           measured = seep_get_number(saving, "measured_bytes");

    fputs("  saving    ", out);
    seep_put_text(out, seep_get_text(saving, "space", "?"));
    fputs(": predicted ", out);
    seep_put_size(out, predicted);
    fputs("; the peak fell by ", out);
    seep_put_size(out, measured);
    if (json_is_true(json_object_get(saving, "agrees")))
        fputs(": within 10 %\n", out);
    else
        fprintf(out, ": %.0f %% %s\n", 100 * fabs(measured - predicted) / predicted,
                measured > predicted ? "more" : "less");
}

int seep_fix_text(const json_t *verdict, FILE *out, bool colour)
{
    const struct seep_report_job job = seep_report_job_read(json_object_get(verdict, "after"));
    bool fixed = strcmp(seep_get_text(verdict, "verdict", ""), "fixed") == 0;
    json_t *one;
    size_t i;

    seep_put_colour(out, colour, fixed ? "1;32" : "1;31");
    fprintf(out, "seep verify: %s", fixed ? "fixed" : "not fixed");
    seep_put_colour(out, colour, "0");
    fputs(": ", out);
    seep_put_text(out, seep_get_text(verdict, "why", ""));
    fputs("\n\n", out);
    json_array_foreach (json_object_get(verdict, "findings"), i, one) {
        const char *state = seep_get_text(one, "state", "?");
        bool gone = strcmp(state, "vanished") == 0;
        put_finding(out, state, json_object_get(one, gone ? "before" : "after"), &job);
        if (strcmp(state, "remains") == 0)
            put_finding(out, "  before", json_object_get(one, "before"), &job);
    }
    fputc('\n', out);
    seep_spaces_text(json_object_get(verdict, "spaces"), out, seep_get_step_unit(&job));
    json_array_foreach (json_object_get(verdict, "savings"), i, one)
        put_saving(out, one);
    seep_put_notes(out, json_object_get(verdict, "notes"));
    return ferror(out) ? -SEEP_EIO : 0;
}
