#include "libprof/print/look_growth_text.h"

#include "libprof/print/look_sums.h"
#include "libprof/print/put_text.h"

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
    return (seep_look_total(look, true, key) - seep_look_total(look, false, key)) /
           seep_look_minutes(look);
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

void seep_look_put_growth(const json_t *look, FILE *out)
{
    const bool tree = json_object_get(look, "tree");
    const json_t *limit = json_object_get(look, "limit");
    const char *resident = tree ? "pss_bytes" : "rss_bytes";
    const double growth = rate(look, resident);
    const double room =
        json_number_value(json_object_get(limit, "bytes")) - seep_look_total(look, true, resident);

    fputs("\nIn ", out);
    seep_put_count(out, (double)json_array_size(json_object_get(look, "looks")), "look");
    fprintf(out, " over %.0f s: live memory ", seep_look_minutes(look) * SECONDS_A_MINUTE);
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
