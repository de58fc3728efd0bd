/* The table of what holds most, as the latest snapshots of the processes say. */
#include "libprof/report_read/report_view.h"
#include "viewer/top/top_picture.h"
#include "viewer/top/top_text.h"

#include <stdio.h>

enum {
    TYPE_COLUMNS = 13,
    PID_COLUMNS = 9,
    STEP_COLUMNS = 9,
    GROWS_COLUMNS = 8,
    NAME_COLUMNS = 40,
    WIDE = 130
};

/* A wide picture has the whole path behind the other columns. */
static int name_columns(const struct seep_top_picture *picture)
{
    const int rest =
        picture->n_columns - (PID_COLUMNS + STEP_COLUMNS + 11 + 9 + GROWS_COLUMNS + TYPE_COLUMNS);

    return picture->n_columns >= WIDE && rest > NAME_COLUMNS ? NAME_COLUMNS : rest > 8 ? rest : 8;
}

static void draw_head(struct seep_top_picture *picture, int at)
{
    picture->rows[at].style = SEEP_TOP_HEAD;
    seep_top_put(picture, at, name_columns(picture), "HOLDS MOST", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, PID_COLUMNS, " PID", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -STEP_COLUMNS, "AT STEP", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -11, "BYTES", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -9, "LENGTH", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, GROWS_COLUMNS, "", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, TYPE_COLUMNS, "TYPE", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, picture->n_columns, picture->n_columns >= WIDE ? " PATH" : "",
                 SEEP_TOP_PLAIN);
}

/* The process, or how many have it. */
static void put_pids(struct seep_top_picture *picture, int at, const json_t *pids)
{
    char text[32];
    const size_t n = json_array_size(pids);

    if (n == 1)
        snprintf(text, sizeof text, " %.0f", json_number_value(json_array_get(pids, 0)));
    else
        snprintf(text, sizeof text, " in %zu", n);
    seep_top_put(picture, at, PID_COLUMNS, text, SEEP_TOP_PLAIN);
}

/* What `length` of a report has for a snapshot. */
enum latest { STEP, ENTRIES };

/* Of the latest snapshot that has the holder. */
static void put_latest(struct seep_top_picture *picture, int at, const json_t *holder,
                       enum latest which, int columns)
{
    const json_t *lengths = json_object_get(holder, "length");
    const size_t n = json_array_size(lengths);
    char count[32] = "-";

    if (n)
        seep_top_count(json_number_value(json_array_get(json_array_get(lengths, n - 1), which)),
                       count);
    seep_top_put(picture, at, -columns, count, SEEP_TOP_PLAIN);
}

static void put_length(struct seep_top_picture *picture, int at, const json_t *holder)
{
    const bool grows = json_is_true(json_object_get(holder, "grows"));

    put_latest(picture, at, holder, ENTRIES, 9);
    seep_top_put(picture, at, GROWS_COLUMNS, grows ? " grows" : "",
                 grows ? SEEP_TOP_WARNING : SEEP_TOP_PLAIN);
}

static void draw_holder(struct seep_top_picture *picture, int at, const json_t *holder)
{
    const int name = name_columns(picture);

    seep_top_put(picture, at, name - 1, seep_get_text(holder, "name", ""), SEEP_TOP_PLAIN);
    seep_top_put(picture, at, 1, "", SEEP_TOP_PLAIN);
    put_pids(picture, at, json_object_get(holder, "pids"));
    put_latest(picture, at, holder, STEP, STEP_COLUMNS);
    seep_top_put_size(picture, at, seep_get_number(holder, "bytes"), SEEP_TOP_PLAIN);
    put_length(picture, at, holder);
    seep_top_put(picture, at, TYPE_COLUMNS, seep_get_text(holder, "type", "-"), SEEP_TOP_PLAIN);
    if (picture->n_columns >= WIDE) {
        seep_top_put(picture, at, 1, "", SEEP_TOP_PLAIN);
        seep_top_put(picture, at, picture->n_columns, seep_get_text(holder, "text", ""),
                     SEEP_TOP_PLAIN);
    }
}

int seep_top_draw_holders(struct seep_top_picture *picture, int at, int end,
                          const struct seep_top_view *view)
{
    const int n = (int)json_array_size(view->holders);

    if (!n || end - at < 2 || end > picture->n_rows)
        return at;
    draw_head(picture, at++);
    for (int i = 0; i < n && at < end; i++)
        draw_holder(picture, at++, json_array_get(view->holders, (size_t)i));
    return at;
}
