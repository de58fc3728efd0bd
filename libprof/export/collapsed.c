/* This file writes stacks as lines of text, as Brendan Gregg's stackcollapse scripts do. Flame
 * graphs add up all lines of a file, and tensors lie inside other memory, so tensors have files of
 * their own. */
#include "libprof/export/sites.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

/* The format cannot represent its separator: as in stackcollapse-perf.pl, a colon replaces it. */
static char *title_of(const json_t *frame, const char *cwd)
{
    char *title = seep_frame_title(frame, cwd);

    for (char *p = title; p && *p; p++) {
        if (*p == ';')
            *p = ':';
        else if ((unsigned char)*p < ' ')
            *p = ' ';
    }
    return title;
}

static void put_site(const json_t *site, int64_t value, const struct seep_frames *frames,
                     char *const *titles, FILE *out)
{
    const json_t *stack = json_object_get(site, "stack");

    for (const char *p = seep_get_text(site, "space", "?"); *p; p++)
        fputc(*p == ';' ? ':' : *p, out);
    for (size_t i = json_array_size(stack); i > 0; i--) {
        fputc(';', out);
        fputs(titles[seep_frames_number(frames, json_array_get(stack, i - 1))], out);
    }
    fprintf(out, " %lld\n", (long long)value);
}

/* Returns how many lines it wrote: one or none. */
static size_t put_chosen(const json_t *site, const struct seep_export_options *o,
                         const struct seep_frames *frames, char *const *titles, FILE *out)
{
    const int64_t value = seep_site_value(site, o->measure);
    const bool is_of_tensors = seep_site_is_of_tensors(site);

    if (is_of_tensors && !o->tensors && o->left_out &&
        __builtin_add_overflow(*o->left_out, value, o->left_out))
        *o->left_out = INT64_MAX;
    if (!value || is_of_tensors != o->tensors)
        return 0;
    put_site(site, value, frames, titles, out);
    return 1;
}

int seep_export_collapsed(const json_t *report, struct seep_json_stream *sites,
                          const struct seep_export_options *o, FILE *out)
{
    const char *cwd = seep_get_job(report).cwd;
    struct seep_frames frames;
    bool has_tensors;
    size_t i, n = 0;
    int rc = seep_frames_of_sites(sites, &frames, &has_tensors);
    char **titles = calloc(frames.n + 1, sizeof *titles);

    if (!titles)
        rc = -SEEP_ENOMEM;
    for (i = 0; !rc && i < frames.n; i++) {
        titles[i] = title_of(frames.list[i], cwd);
        rc = titles[i] ? 0 : -SEEP_ENOMEM;
    }
    for (i = 0; !rc && i < sites->n; i++) {
        json_t *site = sites->make(sites, i);
        rc = site ? 0 : -SEEP_ENOMEM;
        n += site ? put_chosen(site, o, &frames, titles, out) : 0;
        json_decref(site);
    }
    for (i = 0; titles && i < frames.n; i++)
        free(titles[i]);
    free(titles);
    seep_frames_fini(&frames);
    if (rc || !n)
        return rc ? rc : -SEEP_ENODATA;
    return ferror(out) ? -SEEP_EIO : 0;
}
