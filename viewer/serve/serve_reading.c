#include "viewer/serve/serve_reading.h"

#include "libprof/export/export_formats.h"
#include "libprof/report_read/report_view.h"
#include "viewer/output.h"
#include "viewer/page/page_html.h"
#include "viewer/serve/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* After the job's end `seep run` still writes what it knows of it. So where a job was seen running,
 * its end counts only when the reading before showed it too. */
static enum seep_served_state state_of(struct seep_serve_reading *reading, const json_t *page)
{
    const bool before = reading->ended || !reading->seen;

    if (reading->of.look || reading->of.digest)
        return SEEP_SERVED_ENDED;
    reading->ended = seep_get_ended(page);
    if (reading->ended && before)
        return SEEP_SERVED_ENDED;
    return reading->ended || seep_get_runs(page) ? SEEP_SERVED_LIVE : SEEP_SERVED_UNKNOWN;
}

/* The figures of the reading, for monitoring; NULL without memory. */
static char *metrics_of(const struct seep_serve_reading *reading, const json_t *report)
{
    char *name = seep_output_name_of(reading->of.dir), *text = NULL;
    const struct seep_export_options options = {.profile = name, .read_unix_s = (double)time(NULL)};
    size_t n = 0;
    FILE *out = name ? open_memstream(&text, &n) : NULL;
    struct seep_json_stream_of_list none; /* its figures are the job's */
    seep_json_stream_of_list(&none, NULL);
    int r = out ? seep_export_openmetrics(report, &none.stream, &options, out) : -SEEP_ENOMEM;

    if (out && fclose(out) != 0)
        r = -SEEP_ENOMEM;
    free(name);
    if (!r)
        return text;
    free(text);
    return NULL;
}

static struct seep_served *served_of(struct seep_serve_reading *reading, struct seep_page *page,
                                     const json_t *report, enum seep_served_state state,
                                     const char *why)
{
    struct seep_served *served = seep_served_create(page, state, ++reading->version, why);

    if (served && report)
        served->metrics = metrics_of(reading, report);
    if (!report || (served && served->metrics))
        return served;
    seep_served_release(served);
    return NULL;
}

/* The folder of a job that has just begun is empty. */
static int read_job(void *context, void **seen, struct seep_error *err)
{
    struct seep_serve_reading *reading = context;
    struct seep_page *page = NULL;
    json_t *report = NULL;
    int r = seep_view_page(&reading->of, &page, &report, err);

    if (r == -SEEP_ENOMEM || (r < 0 && !reading->seen && r != -SEEP_ENODATA))
        return r;
    const enum seep_served_state state = page            ? state_of(reading, page->parts)
                                         : reading->seen ? SEEP_SERVED_FAILED
                                                         : SEEP_SERVED_WAITING;
    reading->seen = reading->seen || page;
    *seen = served_of(reading, page, report, state, page ? "" : err->text);
    seep_page_free(page);
    json_decref(report);
    if (*seen) {
        *err = (struct seep_error){0};
        return 0;
    }
    return seep_error_set(err, SEEP_ENOMEM, reading->of.dir, 0, "out of memory for its page");
}

static void drop_served(void *seen)
{
    seep_served_release(seen);
}

struct seep_follow_how seep_serve_reading_how(struct seep_serve_reading *reading)
{
    return (struct seep_follow_how){read_job, drop_served, reading};
}
