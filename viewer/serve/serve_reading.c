#include "viewer/serve/serve_reading.h"

#include "libprof/export/export_formats.h"
#include "libprof/report_read/report_view.h"
#include "viewer/output.h"
#include "viewer/page/page_html.h"
#include "viewer/serve/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int piece_of(int (*put)(FILE *out), struct seep_piece *piece)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    int r = out ? put(out) : -SEEP_ENOMEM;

    if (out && fclose(out) != 0)
        r = -SEEP_ENOMEM;
    if (!r)
        r = seep_piece_init(piece, text, n);
    if (r < 0)
        free(text);
    return r < 0 ? -SEEP_ENOMEM : 0;
}

static int put_begin(FILE *out)
{
    return seep_page_put_begin(true, out);
}

static int put_end(FILE *out)
{
    return seep_page_put_end(false, out);
}

static int put_end_of_look(FILE *out)
{
    return seep_page_put_end(true, out);
}

int seep_serve_reading_init(struct seep_serve_reading *reading, const struct seep_view_of *of)
{
    *reading = (struct seep_serve_reading){.of = *of};
    if (piece_of(put_begin, &reading->begin) == 0 &&
        piece_of(of->look ? put_end_of_look : put_end, &reading->end) == 0)
        return 0;
    seep_serve_reading_fini(reading);
    return -SEEP_ENOMEM;
}

void seep_serve_reading_fini(struct seep_serve_reading *reading)
{
    free((char *)reading->begin.text);
    free((char *)reading->end.text);
    seep_piece_fini(&reading->begin);
    seep_piece_fini(&reading->end);
}

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

/* The figures of the reading, for monitoring. */
static int add_metrics(struct seep_served *served, const json_t *report, const char *name)
{
    const struct seep_export_options options = {.profile = name, .read_unix_s = (double)time(NULL)};
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    struct seep_json_stream_of_list none; /* its figures are the job's */
    seep_json_stream_of_list(&none, NULL);
    int r = out ? seep_export_openmetrics(report, &none.stream, &options, out) : -SEEP_ENOMEM;

    if (out && fclose(out) != 0)
        r = -SEEP_ENOMEM;
    if (r < 0) {
        free(text);
        return r;
    }
    return seep_served_add_metrics(served, text, n);
}

static struct seep_served *served_of(struct seep_serve_reading *reading, struct seep_page *page,
                                     const json_t *report, enum seep_served_state state,
                                     const char *why)
{
    struct seep_served *served =
        seep_served_create(page, state, ++reading->version, why, &reading->begin, &reading->end);
    char *name = report ? seep_output_name_of(reading->of.dir) : NULL;
    int r = !report ? 0 : served && name ? add_metrics(served, report, name) : -SEEP_ENOMEM;

    free(name);
    if (r == 0)
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
