#include "libprof/report_read/holder_view.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Percent: a smaller share is stated; one that rounds to the whole is told as that. */
enum { MOST = 90 };
#define ALL 99.5

const json_t *seep_get_holders(const json_t *holders)
{
    return json_is_object(holders) && *seep_get_text(holders, "state", "") ? holders : NULL;
}

static struct seep_report_finding_holders holders_of(const struct seep_report_finding *f)
{
    return seep_report_finding_holders_read(seep_get_holders(f->holders));
}

const char *seep_get_holder_name(const struct seep_report_finding *f)
{
    const json_t *first = json_array_get(holders_of(f).paths, 0);

    return json_string_value(
        seep_report_container_read(seep_report_holder_path_read(first).holder).name);
}

bool seep_get_holder_grows(const struct seep_report_finding *f)
{
    return holders_of(f).grows > 0;
}

bool seep_get_holder_stays(const struct seep_report_finding *f)
{
    return holders_of(f).grows == 0;
}

const json_t *seep_get_container(const json_t *report, const char *name)
{
    json_t *one;
    size_t i;

    json_array_foreach (json_object_get(json_object_get(report, "holders"), "named"), i, one) {
        if (strcmp(seep_get_text(one, "name", ""), name) == 0)
            return one;
    }
    return NULL;
}

const char *seep_get_holders_words(const json_t *holders)
{
    static const struct {
        const char *state, *words;
    } words[] = {
        {"shared", "all of these; only deleting all of them frees it:"},
        {"cycle", "only itself, a reference cycle for gc:"},
        {"lost", "nobody: lost by native code"},
        {"reference", "nobody: native code took a reference and never released it:"},
    };
    const char *state = seep_get_text(holders, "state", "");

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].state, state) == 0)
            return words[i].words;
    }
    return "";
}

/* " (deque, at most 100)" */
static void put_bound(FILE *out, const json_t *holder)
{
    const struct seep_report_container its = seep_report_container_read(holder);
    const char *type = json_string_value(its.type);

    if (its.bound >= 0)
        fprintf(out, " (%s, at most %lld)", type ? type : "bounded", (long long)its.bound);
}

static double length_at(const json_t *length, size_t at)
{
    return json_number_value(json_array_get(json_array_get(length, at), 1));
}

static void put_length(FILE *out, const struct seep_report_finding_holders *holders)
{
    const size_t n = json_array_size(holders->length);

    if (n < 2)
        return;
    double first = length_at(holders->length, 0), last = length_at(holders->length, n - 1);
    if (holders->grows > 0)
        fprintf(out, "; it grew from %.0f to %.0f entries", first, last);
    else if (holders->grows == 0)
        fprintf(out, "; it has %.0f entries and does not grow", last);
}

/* How many percent of what the line made that is. */
static double share_of(const struct seep_report_finding_holders *holders, uint64_t bytes,
                       double of_nothing)
{
    return holders->bytes ? 100 * (double)bytes / (double)holders->bytes : of_nothing;
}

/* How much of the memory that the line made deleting this path frees, together with those before
 * it. */
static void put_share(FILE *out, const struct seep_report_finding_holders *holders,
                      int64_t sole_bytes, bool first)
{
    if (sole_bytes < 0)
        return;
    const double share = share_of(holders, (uint64_t)sole_bytes, 0);

    if (share >= ALL)
        fprintf(out, "; deleting %s frees all of it", first ? "it" : "it and those above");
    else if (share >= 1)
        fprintf(out, "; deleting %s frees at least %.0f %%", first ? "it" : "it and those above",
                share);
    else
        fprintf(out, "; deleting %s frees nothing", first ? "it alone" : "it and those above");
}

static void put_explained(FILE *out, const struct seep_report_finding_holders *holders)
{
    const double share = share_of(holders, holders->explained_bytes, 100);

    if (share < MOST && strcmp(holders->state, "cycle") != 0)
        fprintf(out, "; that explains %.0f %%", share);
}

char *seep_get_path_words(const json_t *holders, const json_t *path)
{
    const struct seep_report_finding_holders all = seep_report_finding_holders_read(holders);
    const struct seep_report_holder_path its = seep_report_holder_path_read(path);
    const bool first = json_array_get(all.paths, 0) == path;
    const size_t n_pids = json_array_size(all.pids);
    const char *words = json_string_value(its.text);
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (!out)
        return NULL;
    fputs(words ? words : "?", out);
    put_bound(out, its.holder);
    if (strcmp(all.state, "held") == 0 || strcmp(all.state, "shared") == 0)
        put_share(out, &all, its.sole_bytes, first);
    if (first) {
        put_explained(out, &all);
        put_length(out, &all);
    }
    if (first && n_pids > 1)
        fprintf(out, "; the same in each of %zu processes", n_pids);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static char *line_words(const json_t *line, const char *cwd)
{
    if (!line)
        return NULL;
    char *frame = seep_get_frame_text(line, cwd);
    char *words =
        frame ? seep_text_format("%s: %s", frame, seep_get_text(line, "text", "?")) : NULL;
    free(frame);
    return words;
}

char *seep_get_kept_words(const struct seep_report_finding *f, const char *cwd, size_t i)
{
    return line_words(json_array_get(f->kept_at, i), cwd);
}

char *seep_get_passed_words(const struct seep_report_finding *f, const char *cwd, size_t i)
{
    return line_words(json_array_get(f->passed_at, i), cwd);
}

/* All of them in one line. */
static char *kept_line(const struct seep_report_finding *f, const char *cwd)
{
    const size_t n = json_array_size(f->kept_at);
    char *line = seep_text_format("kept at %s", n > 1 ? "one of " : "");

    for (size_t i = 0; i < n && line; i++) {
        char *words = seep_get_kept_words(f, cwd, i);
        char *more = seep_text_format("%s%s%s", line, i ? "; " : "", words ? words : "?");
        free(words);
        free(line);
        line = more;
    }
    return line;
}

static bool is_same_place(const json_t *a, const json_t *b)
{
    return strcmp(seep_get_text(a, "file", ""), seep_get_text(b, "file", "")) == 0 &&
           json_equal(json_object_get(a, "line"), json_object_get(b, "line"));
}

/* The finding's line. Of a thread that runs no Python it says whose it is: nobody wrote a line for
 * it. */
static char *made_at(const struct seep_report_finding *f, const char *cwd)
{
    const struct seep_report_native_caller its = seep_report_native_caller_read(f->native_caller);
    char *frame = seep_get_frame_text(f->frame, cwd), *both;

    if (!frame || !json_is_object(f->native_caller))
        return frame;
    both = seep_text_format("%s (%s%s%s%sin a thread without Python)", frame,
                            its.package ? its.package : "", its.version ? " " : "",
                            its.version ? its.version : "", its.package ? ", " : "");
    free(frame);
    return both;
}

const json_t *seep_get_line_to_change(const struct seep_report_finding *f)
{
    const json_t *kept = f->kept_at;

    return json_array_size(kept) == 1 ? json_array_get(kept, 0) : f->frame;
}

char *seep_get_finding_place(const struct seep_report_finding *f, const char *cwd)
{
    const json_t *kept = f->kept_at, *first = json_array_get(kept, 0);
    char *made = made_at(f, cwd);

    if (json_array_size(kept) != 1 || is_same_place(first, f->frame))
        return made;
    char *keeps = seep_get_frame_text(first, cwd);
    char *both = made && keeps ? seep_text_format("kept at %s, made at %s", keeps, made) : NULL;
    free(keeps);
    free(made);
    return both;
}

char *seep_get_holders_line(const struct seep_report_finding *f, const char *cwd, size_t i)
{
    const json_t *holders = seep_get_holders(f->holders),
                 *paths = json_object_get(holders, "paths");
    const char *words = seep_get_holders_words(holders);
    const size_t n_kept = json_array_size(f->kept_at) ? 1 : 0;

    if (n_kept && i == 0)
        return kept_line(f, cwd);
    i -= n_kept;
    if (*words && i == 0)
        return seep_text_format("held by %s", words);
    i -= *words ? 1 : 0;
    if (i >= json_array_size(paths))
        return NULL;
    char *path = seep_get_path_words(holders, json_array_get(paths, i));
    char *line = path ? seep_text_format("%s%s", *words ? "" : "held by ", path) : NULL;
    free(path);
    return line;
}
