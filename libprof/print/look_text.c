#include "libprof/print/look_text.h"

#include "libprof/print/put_text.h"

#include <string.h>

enum { MOST_SHOWN = 12, SECONDS_A_MINUTE = 60, MINUTES_AN_HOUR = 60, HOURS_A_DAY = 24 };

static double number(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static const char *text(const json_t *json, const char *key)
{
    const char *value = json_string_value(json_object_get(json, key));

    return value ? value : "";
}

static const json_t *look_at(const json_t *look, bool last)
{
    const json_t *looks = json_object_get(look, "looks");

    return json_array_get(looks, last ? json_array_size(looks) - 1 : 0);
}

static double minutes_of(const json_t *look)
{
    return (number(look_at(look, true), "t_s") - number(look_at(look, false), "t_s")) /
           SECONDS_A_MINUTE;
}

static void put_head(const json_t *look, FILE *out)
{
    const json_t *last = look_at(look, true), *limit = json_object_get(look, "limit");
    const char *python = text(look, "python");

    fputs(text(look, "command"), out);
    fprintf(out, " (process %.0f%s%s): RSS ", number(look, "pid"), *python ? ", Python " : "",
            python);
    seep_put_size(out, number(last, "rss_bytes"));
    if (json_is_object(limit)) {
        fputs(" of ", out);
        seep_put_size(out, number(limit, "bytes"));
        fprintf(out, " (%s)", text(limit, "kind"));
    }
    fputs("\n", out);
    seep_put_size(out, number(last, "live_bytes"));
    fprintf(out, " live in ");
    seep_put_count(out, number(last, "objects"), "object");
    fputs("; only cycles hold ", out);
    seep_put_size(out, number(last, "cycle_bytes"));
    fputs(", and no holder was found for ", out);
    seep_put_size(out, number(last, "lost_bytes"));
    fputs("\n", out);
    if (*text(last, "incomplete"))
        fprintf(out, "Not everything was read: %s\n", text(last, "incomplete"));
}

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

static void put_holder(const json_t *holder, FILE *out)
{
    fputs("  ", out);
    seep_put_text(out, text(json_object_get(holder, "path"), "text"));
    put_container(holder, out);
    fputs("\n", out);
}

static void put_holders(const json_t *look, FILE *out)
{
    const json_t *holders = json_object_get(look, "holders"), *holder;
    size_t i, n = 0;

    fputs("\nWhat holds most (what would be freed without it):\n", out);
    json_array_foreach (holders, i, holder) {
        if (n == MOST_SHOWN)
            break;
        if (!json_is_null(json_object_get(holder, "within")))
            continue;
        n++;
        seep_put_size(out, number(holder, "retained_bytes"));
        put_holder(holder, out);
    }
    if (!n)
        fputs("nothing of more than 64 KiB\n", out);
}

/* ---- growth ---------------------------------------------------------------------------------- */

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

static void put_total(const json_t *look, FILE *out)
{
    const json_t *first = look_at(look, false), *last = look_at(look, true);
    const json_t *limit = json_object_get(look, "limit");
    const double minutes = minutes_of(look),
                 room = number(limit, "bytes") - number(last, "rss_bytes");
    const double rss = (number(last, "rss_bytes") - number(first, "rss_bytes")) / minutes;

    fputs("\nIn ", out);
    seep_put_count(out, (double)json_array_size(json_object_get(look, "looks")), "look");
    fprintf(out, " over %.0f s: live memory ", minutes * SECONDS_A_MINUTE);
    seep_put_change(out, (number(last, "live_bytes") - number(first, "live_bytes")) / minutes);
    fputs(" a minute, RSS ", out);
    seep_put_change(out, rss);
    fputs(" a minute\n", out);
    if (json_is_object(limit) && rss > 0 && room > 0) {
        fputs("At this pace the limit is reached in ", out);
        put_time(out, room / rss);
        fputs("\n", out);
    }
}

static bool is_shown(const json_t *holder, bool endless)
{
    const char *growth = text(holder, "growth");

    return !json_is_true(json_object_get(holder, "by_another")) &&
           strcmp(growth, endless ? "endless" : "grew") == 0;
}

static size_t put_growing(const json_t *look, bool endless, const char *title, FILE *out)
{
    const json_t *holders = json_object_get(look, "holders"), *holder;
    size_t i, n = 0;

    json_array_foreach (holders, i, holder) {
        if (!is_shown(holder, endless) || n == MOST_SHOWN)
            continue;
        if (!n++)
            fprintf(out, "\n%s:\n", title);
        seep_put_change(out, number(holder, "growth_bytes_per_minute"));
        fputs(" a minute, now ", out);
        seep_put_size(out, number(holder, "retained_bytes"));
        put_holder(holder, out);
    }
    return n;
}

static void put_growth(const json_t *look, FILE *out)
{
    put_total(look, out);
    const size_t n = put_growing(look, true, "Grows in every look, and has no bound", out) +
                     put_growing(look, false, "Holds more than at the first look", out);
    if (!n)
        fputs("No holder grew by 64 KiB or more\n", out);
}

static void put_stops(const json_t *look, FILE *out)
{
    const json_t *last = look_at(look, true);
    const double ms = number(last, "stop_ns") / 1e6;
    const char *way = text(last, "way"), *why = text(last, "why");

    if (strcmp(way, "live") == 0) {
        fputs("\nIt was read while it ran: what changed meanwhile may be missing\n", out);
        return;
    }
    fprintf(out, "\nIt stood still for %.0f ms", ms);
    if (strcmp(way, "stop") == 0)
        fprintf(out, " while it was read%s%s", *why ? ": " : "", why);
    else
        fputs(" to be copied", out);
    fputs("\n", out);
}

int seep_look_text(const json_t *look, FILE *out, bool colour)
{
    (void)colour;
    put_head(look, out);
    if (json_array_size(json_object_get(look, "looks")) > 1)
        put_growth(look, out);
    put_holders(look, out);
    put_stops(look, out);
    return 0;
}
