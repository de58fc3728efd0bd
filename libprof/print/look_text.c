#include "libprof/print/look_text.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libprof/print/put_text.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/patterns.h"

/* What a look document says of one process, or of all of a tree together. */

/* The first or the last look. */
static const json_t *look_at(const json_t *look, bool last)
{
    const json_t *looks = json_object_get(look, "looks");

    return json_array_get(looks, last ? json_array_size(looks) - 1 : 0);
}

/* The sum over all processes that were there, in the first or the last round. */
static double look_total(const json_t *look, bool last, const char *key)
{
    const json_t *tree = json_object_get(look, "tree"), *process, *moment;
    const json_t *round = json_object_get(look_at(look, last), "round");
    double sum = 0;
    size_t i, k;

    if (!tree)
        return seep_get_number(look_at(look, last), key);
    json_array_foreach (json_object_get(tree, "processes"), i, process) {
        json_array_foreach (json_object_get(process, "looks"), k, moment)
            sum += json_equal(json_object_get(moment, "round"), round)
                       ? seep_get_number(moment, key)
                       : 0;
    }
    return sum;
}

/* From the first look to the last. */
static double look_minutes(const json_t *look)
{
    return (seep_get_number(look_at(look, true), "t_s") -
            seep_get_number(look_at(look, false), "t_s")) /
           60;
}

/* The holders of one process, or of all processes together. */
static const json_t *look_holders(const json_t *look)
{
    const json_t *tree = json_object_get(look, "tree");

    return json_object_get(tree ? tree : look, "holders");
}

/* Bytes on each GPU, by name, in the last round. A new reference. */
static json_t *look_devices(const json_t *look)
{
    const json_t *tree = json_object_get(look, "tree"), *process, *moment, *bytes;
    const json_t *round = json_object_get(look_at(look, true), "round");
    json_t *sums = json_object();
    const char *name;
    size_t i, k;

    if (!tree)
        json_object_update(sums, (json_t *)json_object_get(look_at(look, true), "device_bytes"));
    json_array_foreach (json_object_get(tree, "processes"), i, process) {
        json_array_foreach (json_object_get(process, "looks"), k, moment) {
            if (!json_equal(json_object_get(moment, "round"), round))
                continue;
            json_object_foreach ((json_t *)json_object_get(moment, "device_bytes"), name, bytes)
                json_object_set_new(sums, name,
                                    json_integer((json_int_t)(seep_get_number(sums, name) +
                                                              json_number_value(bytes))));
        }
    }
    return sums;
}

/* What several looks say of a process's, or a tree's, growth as a whole. */

enum { SECONDS_A_MINUTE = 60, MINUTES_AN_HOUR = 60, HOURS_A_DAY = 24 };

/* "in 3 hours", in the largest unit that gives two or more. */
static void put_time(FILE *out, double minutes)
{
    if (minutes >= 2.0 * MINUTES_AN_HOUR * HOURS_A_DAY)
        seep_put_count(out, minutes / MINUTES_AN_HOUR / HOURS_A_DAY, "day");
    else if (minutes >= 2.0 * MINUTES_AN_HOUR)
        seep_put_count(out, minutes / MINUTES_AN_HOUR, "hour");
    else
        seep_put_count(out, minutes < 1 ? 1 : minutes, "minute");
}

/* Bytes a minute, of all processes. */
static double rate(const json_t *look, const char *key)
{
    return (look_total(look, true, key) - look_total(look, false, key)) / look_minutes(look);
}

/* What no holder's growth is. */
struct part {
    const char *name, *why;
    double rate;
};

/* Of a tree, what processes own alone and did not allocate; of one process, what lies in no block
 * and is not free. */
static struct part rest_of(const json_t *look, double growth)
{
    const double live = rate(look, "live_bytes"), free = rate(look, "free_bytes");
    const double files = rate(look, "file_bytes"), own = rate(look, "private_bytes");

    if (json_object_get(look, "tree"))
        return (struct part){"Pages that were shared",
                             "forked processes write to them, and so own them: reading a Python "
                             "object counts a reference, which is a write",
                             own - (live > 0 ? live : 0) - (free > 0 ? free : 0)};
    return (struct part){"Memory that was mapped",
                         "a library's own allocator, or a map that is used bit by bit",
                         growth - live - free - files};
}

static void put_part(const json_t *look, double growth, FILE *out)
{
    const struct part parts[] = {
        {"Free memory in malloc's heaps",
         "small blocks that stay lie between what is freed, and nothing else fits",
         rate(look, "free_bytes")},
        {"Pages of mapped files", "the kernel can drop those that were only read",
         json_object_get(look, "tree") ? 0 : rate(look, "file_bytes")},
        rest_of(look, growth)};

    if (!(growth > 0))
        return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].rate < growth / 2)
            continue;
        fprintf(out, "%s ", parts[i].name);
        seep_put_change(out, parts[i].rate);
        fprintf(out, " a minute: %s\n", parts[i].why);
        return;
    }
}

/* How fast live memory and what is resident grow; the part that most of the latter is, if it is not
 * what is live; and when the limit is reached. */
static void look_put_growth(const json_t *look, FILE *out)
{
    const bool tree = json_object_get(look, "tree");
    const json_t *limit = json_object_get(look, "limit");
    const char *resident = tree ? "pss_bytes" : "rss_bytes";
    const double growth = rate(look, resident);
    const double room =
        json_number_value(json_object_get(limit, "bytes")) - look_total(look, true, resident);

    fputs("\nIn ", out);
    seep_put_count(out, (double)json_array_size(json_object_get(look, "looks")), "look");
    fprintf(out, " over %.0f s: live memory ", look_minutes(look) * SECONDS_A_MINUTE);
    seep_put_change(out, rate(look, "live_bytes"));
    fprintf(out, " a minute, %s ", tree ? "PSS" : "RSS");
    seep_put_change(out, growth);
    fputs(" a minute\n", out);
    put_part(look, growth, out);
    if (json_is_object(limit) && growth > 0 && room > 0) {
        fputs("At this pace the limit is reached in ", out);
        put_time(out, room / growth);
        fputs("\n", out);
    }
}

enum {
    MOST_SHOWN = 12,
    MAX_UNHELD = 4,
    MAX_LINES = 3,   /* of those that made a holder's memory, */
    LINE_SHARE = 20, /* and none that made less than 1/n of it */
    UNHELD_SHARE = 100 /* 1/n of what is live */,
    FREE_SHARE = 10,    /* 1/n of the RSS, */
    MIN_FREE = 4 << 20, /* and so much is worth a word */
};

/* What grows without bound has the colour of leaks. */
static void put_title(FILE *out, bool colour, const char *title, const char *rest, bool endless)
{
    fputs("\n", out);
    if (endless)
        seep_put_severity(out, colour, SEEP_LEAK);
    else
        seep_put_colour(out, colour, "1");
    fputs(title, out);
    seep_put_colour(out, colour, "0");
    fputs(rest, out);
}

static double number(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static const char *text(const json_t *json, const char *key)
{
    const char *value = json_string_value(json_object_get(json, key));

    return value ? value : "";
}

/* ---- the processes --------------------------------------------------------------------------- */

static void put_limit(const json_t *look, FILE *out)
{
    const json_t *limit = json_object_get(look, "limit");

    if (!json_is_object(limit))
        return;
    fputs(" of ", out);
    seep_put_size(out, number(limit, "bytes"));
    fprintf(out, " (%s)", text(limit, "kind"));
}

/* What PyTorch's allocator reserves there, and what others take, comes on top. */
static void put_devices(const json_t *look, FILE *out)
{
    json_t *totals = look_devices(look);
    const json_t *bytes;
    const char *name;

    json_object_foreach (totals, name, bytes) {
        seep_put_size(out, json_number_value(bytes));
        fputs(" in tensors on ", out);
        seep_put_text(out, name);
        fputs("\n", out);
    }
    json_decref(totals);
}

static void put_core(const json_t *look, const json_t *core, FILE *out)
{
    fprintf(out, "core file of %s (process %.0f): ", text(look, "command"), number(look, "pid"));
    seep_put_size(out, number(core, "bytes"));
    fputs("\n", out);
}

static void put_resident(const json_t *look, const json_t *last, FILE *out)
{
    fputs(text(look, "command"), out);
    fprintf(out, " (process %.0f): RSS ", number(look, "pid"));
    seep_put_size(out, number(last, "rss_bytes"));
    put_limit(look, out);
    fputs("\n", out);
    seep_put_size(out, number(last, "file_bytes"));
    fputs(" of the RSS are pages of files and shared memory, as of libraries\n", out);
}

/* What malloc has taken, and nobody uses. */
static void put_free(const json_t *last, FILE *out)
{
    const double rest =
        number(last, "rss_bytes") - number(last, "file_bytes") - number(last, "live_bytes");
    const double free_bytes =
        number(last, "free_bytes"); /* some of it may never have been touched */
    const double bytes = free_bytes < rest ? free_bytes : rest;

    if (bytes < MIN_FREE || bytes * FREE_SHARE < number(last, "rss_bytes"))
        return;
    seep_put_size(out, bytes);
    fputs(" are free in malloc's heaps, which it does not give back\n", out);
}

static void put_one(const json_t *look, FILE *out)
{
    const json_t *last = look_at(look, true), *core = json_object_get(look, "core");

    if (json_is_object(core))
        put_core(look, core, out);
    else
        put_resident(look, last, out);
    seep_put_size(out, number(last, "live_bytes"));
    fputs(" live in ", out);
    seep_put_count(out, number(last, "objects"), "object");
    fputs("\n", out);
    put_free(last, out);
    put_devices(look, out);
    if (*text(last, "allocator"))
        fprintf(out,
                "malloc is %s's: sizes are those of objects by type; blocks of C and C++ libraries "
                "are not counted\n",
                text(last, "allocator"));
    if (*text(last, "incomplete"))
        fprintf(out, "Not everything was read: %s\n", text(last, "incomplete"));
}

/* "  4711  PSS 1.2 GiB, 900 MiB live: python train.py" */
static void put_process(const json_t *process, size_t n_looks, FILE *out)
{
    const json_t *last = look_at(process, true);
    const size_t n = json_array_size(json_object_get(process, "looks"));

    fprintf(out, "  %.0f: ", number(process, "pid"));
    if (last) {
        fputs("PSS ", out);
        seep_put_size(out, number(last, "pss_bytes"));
        fputs(", ", out);
        seep_put_size(out, number(last, "live_bytes"));
        fputs(" live", out);
        if (n < n_looks)
            fprintf(out, ", there at %zu of %zu looks", n, n_looks);
        if (*text(last, "allocator"))
            fprintf(out, " in objects by type (malloc is %s's)", text(last, "allocator"));
        if (*text(last, "incomplete"))
            fprintf(out, ", not read completely (%s)", text(last, "incomplete"));
    } else {
        fputs(text(process, "error"), out);
    }
    fprintf(out, ": %s\n", text(process, "command"));
}

static void put_tree(const json_t *look, FILE *out)
{
    const json_t *tree = json_object_get(look, "tree"), *process;
    const json_t *processes = json_object_get(tree, "processes");
    const size_t n_looks = json_array_size(json_object_get(look, "looks"));
    size_t i;

    fprintf(out, "%zu process%s: PSS ", json_array_size(processes),
            json_array_size(processes) == 1 ? "" : "es");
    seep_put_size(out, look_total(look, true, "pss_bytes"));
    put_limit(look, out);
    fputs("\n", out);
    json_array_foreach (processes, i, process)
        put_process(process, n_looks, out);
    put_devices(look, out);
    if (!json_is_true(json_object_get(tree, "complete")))
        fputs("  there are more, which were left out\n", out);
}

static void put_head(const json_t *look, FILE *out)
{
    if (json_object_get(look, "tree"))
        put_tree(look, out);
    else
        put_one(look, out);
}

/* ---- holders --------------------------------------------------------------------------------- */

/* "list, 20,000 long, at most 100" */
static void put_container(const json_t *holder, FILE *out)
{
    const json_t *lengths = json_object_get(holder, "length_by_look");
    const json_t *first = json_array_get(lengths, 0), *now = json_object_get(holder, "length");

    if (json_is_integer(now)) {
        fputs(": length ", out);
        if (json_is_integer(first) && json_integer_value(first) != json_integer_value(now)) {
            fprintf(out, "%.0f", json_number_value(first));
            fputs(" → ", out);
        }
        fprintf(out, "%.0f", json_number_value(now));
        if (json_is_integer(json_object_get(holder, "bound"))) {
            fprintf(out, ", at most %.0f", number(holder, "bound"));
        }
    }
    if (number(holder, "objects") > 1) {
        fputs("; ", out);
        seep_put_count(out, number(holder, "objects"), "object");
    }
}

/* "    made at train.py:9 in train_step: 12.5 MiB" */
static void put_lines(const json_t *holder, FILE *out)
{
    const json_t *line;
    size_t i;

    json_array_foreach (json_object_get(holder, "made_at"), i, line) {
        if (i == MAX_LINES || number(line, "bytes") * LINE_SHARE < number(holder, "retained_bytes"))
            break;
        fputs("    made at ", out);
        seep_put_frame(out, json_object_get(line, "frame"), "");
        fputs(": ", out);
        seep_put_size(out, number(line, "bytes"));
        fputs("\n", out);
    }
}

/* " (+ 512 MiB on cuda:0)" for each device; less than a byte is not said. */
static void put_by_device(const json_t *by_device, const char *before,
                          void (*put)(FILE *out, double bytes), FILE *out)
{
    const json_t *bytes;
    const char *name;

    json_object_foreach ((json_t *)by_device, name, bytes) {
        if (fabs(json_number_value(bytes)) < 1)
            continue;
        fputs(before, out);
        put(out, json_number_value(bytes));
        fputs(" on ", out);
        seep_put_text(out, name);
        fputs(")", out);
    }
}

/* "90.2 KiB (+ 512 MiB on cuda:0)" */
static void put_retained(const json_t *holder, FILE *out)
{
    seep_put_size(out, number(holder, "retained_bytes"));
    put_by_device(json_object_get(holder, "device_bytes"), " (+ ", seep_put_size, out);
}

/* "+2.0 MiB a minute (+64.0 MiB on cuda:0)" */
static void put_rate(const json_t *holder, FILE *out)
{
    seep_put_change(out, number(holder, "growth_bytes_per_minute"));
    fputs(" a minute", out);
    put_by_device(json_object_get(holder, "device_growth_bytes_per_minute"), " (", seep_put_change,
                  out);
}

static void put_holder(const json_t *holder, FILE *out)
{
    const json_t *pids = json_object_get(holder, "pids");

    if (json_array_size(pids) > 1)
        fprintf(out, " in %zu processes", json_array_size(pids));
    else if (pids)
        fprintf(out, " in %" JSON_INTEGER_FORMAT, json_integer_value(json_array_get(pids, 0)));
    fputs("  ", out);
    seep_put_text(out, text(json_object_get(holder, "path"), "text"));
    put_container(holder, out);
    fputs("\n", out);
    put_lines(holder, out);
}

static bool is_held(const json_t *holder)
{
    return strcmp(text(holder, "state"), "held") == 0;
}

/* Memory inside another holder is counted in that holder's size. */
static void put_holders(const json_t *look, FILE *out, bool colour)
{
    const json_t *holders = look_holders(look), *holder;
    size_t i, n = 0;

    put_title(out, colour, "What holds most", " (what would be freed without it):\n", false);
    json_array_foreach (holders, i, holder) {
        if (!is_held(holder) || !json_is_null(json_object_get(holder, "within")) || n == MOST_SHOWN)
            continue;
        n++;
        put_retained(holder, out);
        put_holder(holder, out);
    }
    if (!n)
        fputs("nothing of more than 64 KiB\n", out);
}

static bool is_much(const json_t *holder, const json_t *look, const json_t *totals)
{
    const json_t *bytes;
    const char *name;

    if (number(holder, "retained_bytes") * UNHELD_SHARE >= look_total(look, true, "live_bytes"))
        return true;
    json_object_foreach ((json_t *)json_object_get(holder, "device_bytes"), name, bytes) {
        if (json_integer_value(bytes) &&
            json_number_value(bytes) * UNHELD_SHARE >= number(totals, name))
            return true;
    }
    return false;
}

/* Of memory that nobody was seen to hold, where not all of it was seen. */
static const char *unseen_words(const json_t *look)
{
    if (*text(look_at(look, true), "allocator"))
        return " that what is not counted may hold\n";
    return json_is_true(json_object_get(look_at(look, true), "complete"))
               ? NULL
               : " that what was not read may hold\n";
}

static void put_unheld(const json_t *look, FILE *out, bool colour)
{
    const json_t *holders = look_holders(look), *holder;
    const char *unseen = unseen_words(look);
    json_t *totals = look_devices(look);
    size_t i, n = 0;

    put_title(out, colour, "No variable holds", " ", false);
    seep_put_size(out, look_total(look, true, "cycle_bytes"));
    fputs(" in reference cycles, ", out);
    if (!unseen) {
        seep_put_size(out, look_total(look, true, "reference_bytes"));
        fputs(" behind references that were never given back, ", out);
    }
    fputs("and ", out);
    seep_put_size(out, look_total(look, true, "lost_bytes"));
    fputs(unseen ? unseen : " that nothing points to\n", out);
    json_array_foreach (holders, i, holder) {
        if (is_held(holder) || n == MAX_UNHELD || !is_much(holder, look, totals))
            continue;
        n++;
        put_retained(holder, out);
        put_holder(holder, out);
    }
    json_decref(totals);
}

/* ---- growth ---------------------------------------------------------------------------------- */

static bool is_shown(const json_t *holder, const char *growth)
{
    return !json_is_true(json_object_get(holder, "by_another")) &&
           strcmp(text(holder, "growth"), growth) == 0;
}

static size_t put_growing(const json_t *look, const char *growth, const char *title, FILE *out,
                          bool colour)
{
    const json_t *holders = look_holders(look), *holder;
    size_t i, n = 0;

    json_array_foreach (holders, i, holder) {
        if (!is_shown(holder, growth) || n == MOST_SHOWN)
            continue;
        if (!n++)
            put_title(out, colour, title, ":\n", strcmp(growth, "endless") == 0);
        put_rate(holder, out);
        fputs(", now ", out);
        put_retained(holder, out);
        put_holder(holder, out);
    }
    return n;
}

static void put_growth(const json_t *look, FILE *out, bool colour)
{
    look_put_growth(look, out);
    const size_t n =
        put_growing(look, "endless", "Grows in every look, and has no bound", out, colour) +
        put_growing(look, "steady", "Holds more at every look", out, colour) +
        put_growing(look, "grew", "Holds more than at the first look", out, colour);
    if (!n)
        fputs("No holder grew by 64 KiB or more\n", out);
}

static void put_stops(const json_t *look, FILE *out)
{
    const json_t *last = look_at(look, true);
    const double ms = number(last, "stop_ns") / 1e6;
    const char *way = text(last, "way"), *why = text(last, "why");

    if (strcmp(way, "core") == 0)
        return;
    if (strcmp(way, "live") == 0) {
        fputs("\nIt was read while it ran: what changed meanwhile may be missing\n", out);
        return;
    }
    fprintf(out, "\nThe process was paused for %.0f ms", ms);
    if (strcmp(way, "stop") == 0)
        fprintf(out, " while it was read%s%s", *why ? ": " : "", why);
    fputs(".\n", out);
}

int seep_look_text(const json_t *look, FILE *out, bool colour)
{
    put_head(look, out);
    if (json_array_size(json_object_get(look, "looks")) > 1)
        put_growth(look, out, colour);
    put_holders(look, out, colour);
    put_unheld(look, out, colour);
    put_stops(look, out);
    return 0;
}
