/* The tables of the job, its spaces, its processes, its lines, and of what holds most. */
#include "libprof/report_read/report_view.h"
#include "viewer/top/top_picture.h"
#include "viewer/top/top_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BAR_COLUMNS = 18,
    SHARE_COLUMNS = 9,
    FULL_COLUMNS = 12,
    CPU_COLUMNS = 10,
    LINE_COLUMNS = 28,
    WIDE = 100,
    NARROW = 72
};

/* Time until a space is full: highlighted; with a warning; and too far off to be written out. */
enum { BAD_S = 600, NEAR_S = 3600, FAR_S = 99 * 3600 };

/* A space is highlighted from these shares of its limit on. */
static const double full_share = 0.9, filling_share = 0.75;

int seep_top_draw_job(struct seep_top_picture *picture, int at, const struct seep_top_view *view,
                      bool paused)
{
    char text[160], rate[32] = "", since[32], count[32];

    if (view->steps_per_s >= 0)
        snprintf(rate, sizeof rate, "  %.*f/s", view->steps_per_s < 10 ? 2 : 0, view->steps_per_s);
    seep_top_duration(view->since_s, since);
    seep_top_count(view->steps, count);
    const char *state = paused          ? "paused"
                        : view->running ? "running"
                        : view->ended   ? "ended"
                                        : "not running here";
    int n = snprintf(text, sizeof text, "  %s %s%s%s  %s  ", count, view->step_unit,
                     view->steps == 1 ? "" : "s", rate, since);
    int room = picture->n_columns - n - (int)strlen(state);
    seep_top_put(picture, at, room > 8 ? room : 8, view->command, SEEP_TOP_STRONG);
    seep_top_put(picture, at, n, text, SEEP_TOP_PLAIN);
    seep_top_put(picture, at, (int)strlen(state), state,
                 paused          ? SEEP_TOP_WARNING
                 : view->running ? SEEP_TOP_GOOD
                                 : SEEP_TOP_STRONG);
    return at + 1;
}

/* Between columns whose names have blanks. */
static int gap_columns(const struct seep_top_picture *picture)
{
    return picture->n_columns < NARROW ? 1 : 2;
}

/* A wide picture has room for a bar of the share; a narrow one only for the number. */
static int bar_columns(const struct seep_top_picture *picture)
{
    return picture->n_columns >= WIDE ? BAR_COLUMNS : SHARE_COLUMNS;
}

static void draw_full_in(struct seep_top_picture *picture, int at, double seconds)
{
    char text[32] = "-";

    if (seconds >= FAR_S)
        strcpy(text, "> 99 h");
    else if (seconds >= 0)
        seep_top_duration(seconds, text);
    seep_top_put(picture, at, -FULL_COLUMNS, text,
                 seconds < 0        ? SEEP_TOP_PLAIN
                 : seconds < BAD_S  ? SEEP_TOP_BAD
                 : seconds < NEAR_S ? SEEP_TOP_WARNING
                                    : SEEP_TOP_PLAIN);
    seep_top_put(picture, at, gap_columns(picture), "", SEEP_TOP_PLAIN);
}

static void draw_space(struct seep_top_picture *picture, int at, const struct seep_top_view *view,
                       const struct seep_top_space *space)
{
    char drawn[SEEP_TOP_MOST_COLUMNS * SEEP_TOP_CELL + 1];
    double levels[SEEP_TOP_MOST_COLUMNS];
    const double told =
        view->running ? space->live : space->peak; /* at the end all is given back */
    double share = space->limit > 0 ? told / space->limit : 0;

    seep_top_put(picture, at, 9, space->name, SEEP_TOP_PLAIN);
    seep_top_put_size(picture, at, space->peak, SEEP_TOP_PLAIN);
    seep_top_put_size(picture, at, space->live, SEEP_TOP_PLAIN);
    if (space->has_growth)
        seep_top_put_change(picture, at, space->growth, SEEP_TOP_PLAIN);
    else
        seep_top_put(picture, at, -12, "-", SEEP_TOP_PLAIN);
    if (picture->n_columns >= WIDE)
        seep_top_put_size(picture, at, space->limit, SEEP_TOP_PLAIN);
    seep_top_put(picture, at, gap_columns(picture), "", SEEP_TOP_PLAIN);
    const int bar = bar_columns(picture);
    int n = space->limit > 0 ? seep_top_bar(drawn, share, bar, picture->utf8)
                             : seep_top_fit(drawn, "no limit", bar, picture->utf8);
    seep_top_put_drawn(picture, at, n, drawn,
                       share >= full_share      ? SEEP_TOP_BAD
                       : share >= filling_share ? SEEP_TOP_WARNING
                                                : SEEP_TOP_PLAIN);
    seep_top_put(picture, at, bar - n, "", SEEP_TOP_PLAIN);
    draw_full_in(picture, at, space->full_in_s);
    size_t n_times = json_array_size(view->times);
    double from = json_number_value(json_array_get(view->times, 0));
    double to = json_number_value(json_array_get(view->times, n_times ? n_times - 1 : 0));
    n = seep_top_levels(view->times, space->levels, from, to, levels,
                        picture->n_columns - picture->rows[at].columns);
    seep_top_curve(drawn, levels, n, picture->utf8);
    seep_top_put_drawn(picture, at, n, drawn, SEEP_TOP_PLAIN);
}

static void draw_more(struct seep_top_picture *picture, int at, size_t n, size_t n_ended)
{
    char text[128] = "", ended[64] = "";

    if (n)
        snprintf(text, sizeof text, "and %zu more: enlarge the window to see them%s", n,
                 n_ended ? "; " : "");
    if (n_ended)
        snprintf(ended, sizeof ended, "%zu %sended", n_ended, n ? "have " : "processes have ");
    strcat(text, ended);
    seep_top_put(picture, at, picture->n_columns, text, SEEP_TOP_PLAIN);
}

/* How many of n fit into the rows, where one row may be needed to say how many more there are. */
static size_t fitting(int rows, size_t n)
{
    return rows <= 0 ? 0 : n <= (size_t)rows ? n : (size_t)rows - 1;
}

int seep_top_draw_spaces(struct seep_top_picture *picture, int at, int end,
                         const struct seep_top_view *view)
{
    if (end - at < 2 || end > picture->n_rows)
        return at;
    size_t n = fitting(end - at - 1, view->n_spaces);
    picture->rows[at].style = SEEP_TOP_HEAD;
    seep_top_put(picture, at, 9, "SPACE", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -11, "PEAK", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -11, "LIVE", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -12, "GROWTH/STEP", SEEP_TOP_PLAIN);
    if (picture->n_columns >= WIDE)
        seep_top_put(picture, at, -11, "LIMIT", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, gap_columns(picture), "", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, bar_columns(picture), "OF LIMIT", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -FULL_COLUMNS, "FULL IN", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, gap_columns(picture), "", SEEP_TOP_PLAIN);
    seep_top_put(picture, at++, picture->n_columns, "OVER TIME", SEEP_TOP_PLAIN);
    for (size_t i = 0; i < n; i++)
        draw_space(picture, at++, view, &view->spaces[i]);
    if (n < view->n_spaces)
        draw_more(picture, at++, view->n_spaces - n, 0);
    return at;
}

static void put_cpu(struct seep_top_picture *picture, int at, double seconds)
{
    char text[32] = "-";

    if (seconds >= 1)
        snprintf(text, sizeof text, "%.*f s", seconds < 10, seconds);
    else if (seconds > 0)
        snprintf(text, sizeof text, "%.*f ms", seconds < 0.01, seconds * 1e3);
    seep_top_put(picture, at, -CPU_COLUMNS, text, SEEP_TOP_PLAIN);
}

/* A narrow picture has the one of the two that says more: what has ended has nothing resident. */
static bool has_rss_peak(const struct seep_top_picture *picture, bool running)
{
    return picture->n_columns >= WIDE || !running;
}

static bool has_rss(const struct seep_top_picture *picture, bool running)
{
    return picture->n_columns >= WIDE || running;
}

static void draw_process(struct seep_top_picture *picture, int at, const struct seep_top_process *p,
                         bool job_runs)
{
    char text[32];

    snprintf(text, sizeof text, "%.0f", p->pid);
    seep_top_put(picture, at, 8, text, SEEP_TOP_PLAIN);
    seep_top_put(picture, at, 14, p->role, SEEP_TOP_PLAIN);
    seep_top_put(picture, at, 9, p->state, p->running ? SEEP_TOP_GOOD : SEEP_TOP_PLAIN);
    if (has_rss_peak(picture, job_runs))
        seep_top_put_size(picture, at, p->rss_peak, SEEP_TOP_PLAIN);
    if (has_rss(picture, job_runs))
        seep_top_put_size(picture, at, p->rss, SEEP_TOP_PLAIN);
    seep_top_put_size(picture, at, p->host, SEEP_TOP_PLAIN);
    seep_top_put_size(picture, at, p->device, SEEP_TOP_PLAIN);
    seep_top_count(p->steps, text);
    seep_top_put(picture, at, -8, text, SEEP_TOP_PLAIN);
    if (picture->n_columns >= WIDE)
        put_cpu(picture, at, p->cpu_step_s);
    seep_top_put(picture, at, 2, "", SEEP_TOP_PLAIN);
    if (picture->n_columns >= WIDE)
        seep_top_put(picture, at, picture->n_columns, p->command, SEEP_TOP_PLAIN);
}

int seep_top_draw_processes(struct seep_top_picture *picture, int at, int end,
                            const struct seep_top_view *view)
{
    if (end > picture->n_rows)
        end = picture->n_rows;
    if (end - at < 2)
        return at;
    size_t n_listed = view->n_processes - view->n_ended;
    size_t n = fitting(end - at - 1, n_listed + (view->n_ended > 0));
    n = n < n_listed ? n : n_listed;
    picture->rows[at].style = SEEP_TOP_HEAD;
    seep_top_put(picture, at, 8, "PID", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, 14, "ROLE", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, 9, "STATE", SEEP_TOP_PLAIN);
    if (has_rss_peak(picture, view->running))
        seep_top_put(picture, at, -11, "RSS PEAK", SEEP_TOP_PLAIN);
    if (has_rss(picture, view->running))
        seep_top_put(picture, at, -11, "RSS", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -11, "LIVE HOST", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -11, "DEVICE", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -8, "STEPS", SEEP_TOP_PLAIN);
    if (picture->n_columns >= WIDE)
        seep_top_put(picture, at, -CPU_COLUMNS, "CPU/STEP", SEEP_TOP_PLAIN);
    seep_top_put(picture, at++, picture->n_columns, picture->n_columns >= WIDE ? "  COMMAND" : "",
                 SEEP_TOP_PLAIN);
    for (size_t i = 0; i < n; i++)
        draw_process(picture, at++, &view->processes[i], view->running);
    if (n < view->n_processes)
        draw_more(picture, at++, n_listed - n, view->n_ended);
    return at;
}

/* How the columns of lines share the width: a wide picture has peak, live and blocks; a narrow one
 * has only the column that is sorted by, and growth, for the sake of the finding's name; of a job
 * that has ended, whose memory is given back, its peak. */
struct line_columns {
    int line, pattern;
    bool live, peak, blocks;
};

static struct line_columns columns_of(const struct seep_top_picture *picture,
                                      enum seep_top_sort sort, bool running)
{
    bool both = picture->n_columns >= WIDE;
    bool few = picture->n_columns < NARROW;
    struct line_columns c = {
        .live = both || sort == SEEP_TOP_BY_LIVE || (!few && running && sort != SEEP_TOP_BY_PEAK),
        .peak = both || sort == SEEP_TOP_BY_PEAK || (!few && !running && sort != SEEP_TOP_BY_LIVE),
        .blocks = both};
    int rest = picture->n_columns -
               (2 + 9 + 11 * (c.live + c.peak) + 12 + 8 * c.blocks + gap_columns(picture));

    int for_pattern = rest - LINE_COLUMNS;
    c.pattern = for_pattern < 14 ? 14 : for_pattern > 21 ? 21 : for_pattern; /* the longest name */
    c.line = rest - c.pattern > 8 ? rest - c.pattern : 8;
    return c;
}

static void head_lines(struct seep_top_picture *picture, int at, struct line_columns c,
                       const struct seep_top_choice *choice, size_t n, size_t shown)
{
    char title[256];
    size_t first = shown ? choice->first + 1 : 0;

    snprintf(title, sizeof title, "LINES %zu-%zu/%zu%s%s%s%s", first,
             shown ? choice->first + shown : 0, n, choice->space[0] ? " of " : "", choice->space,
             choice->search[0] ? " with " : "", choice->search);
    picture->rows[at].style = SEEP_TOP_HEAD;
    seep_top_put(picture, at, c.line + 2, title, SEEP_TOP_PLAIN);
    seep_top_put(picture, at, 9, " SPACE", SEEP_TOP_PLAIN);
    if (c.peak)
        seep_top_put(picture, at, -11, choice->sort == SEEP_TOP_BY_PEAK ? ">PEAK" : "PEAK",
                     SEEP_TOP_PLAIN);
    if (c.live)
        seep_top_put(picture, at, -11, choice->sort == SEEP_TOP_BY_LIVE ? ">LIVE" : "LIVE",
                     SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -12,
                 choice->sort == SEEP_TOP_BY_GROWTH ? ">GROWTH/STEP" : "GROWTH/STEP",
                 SEEP_TOP_PLAIN);
    if (c.blocks)
        seep_top_put(picture, at, -8, "BLOCKS", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, gap_columns(picture) - 1, "", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, picture->n_columns,
                 choice->sort == SEEP_TOP_BY_FINDING ? ">FINDING" : " FINDING", SEEP_TOP_PLAIN);
}

static void draw_line(struct seep_top_picture *picture, int at, struct line_columns c,
                      const struct seep_line_view *line, bool chosen)
{
    static const enum seep_top_style styles[SEEP_N_SEVERITIES + 1] = {
        SEEP_TOP_BAD, SEEP_TOP_WARNING, SEEP_TOP_WARNING, SEEP_TOP_PLAIN, SEEP_TOP_PLAIN};
    char drawn[SEEP_TOP_MOST_COLUMNS * SEEP_TOP_CELL + 1], count[32];
    int width = picture->n_columns - 2 < c.line ? picture->n_columns - 2 : c.line;

    if (chosen)
        picture->rows[at].style = SEEP_TOP_MARKED;
    seep_top_put(picture, at, 2, chosen ? ">" : "", SEEP_TOP_PLAIN);
    int n = seep_top_fit_place(drawn, line->place, width > 0 ? width : 0, picture->utf8);
    seep_top_put_drawn(picture, at, n, drawn, SEEP_TOP_PLAIN);
    seep_top_put(picture, at, c.line - n + 1, "", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, 8, line->space, SEEP_TOP_PLAIN);
    if (c.peak)
        seep_top_put_size(picture, at, line->peak, SEEP_TOP_PLAIN);
    if (c.live)
        seep_top_put_size(picture, at, line->live, SEEP_TOP_PLAIN);
    if (line->growth != 0)
        seep_top_put_change(picture, at, line->growth, SEEP_TOP_PLAIN);
    else
        seep_top_put(picture, at, -12, "-", SEEP_TOP_PLAIN);
    seep_top_count(line->blocks, count);
    if (c.blocks)
        seep_top_put(picture, at, -8, line->blocks < 0 ? "-" : count, SEEP_TOP_PLAIN);
    seep_top_put(picture, at, gap_columns(picture), "", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, c.pattern, line->pattern,
                 chosen ? SEEP_TOP_PLAIN : styles[line->severity]);
}

int seep_top_draw_lines(struct seep_top_picture *picture, int at, int end,
                        const struct seep_top_view *view, struct seep_top_choice *choice)
{
    size_t *order = calloc(view->n_lines + 1, sizeof *order);
    struct line_columns c = columns_of(picture, choice->sort, view->running);

    choice->page_rows = end - at > 1 ? (size_t)(end - at - 1) : 0;
    if (!order || choice->page_rows == 0) {
        free(order);
        return at;
    }
    size_t n = seep_top_order(view, choice, order);
    seep_top_keep_shown(choice, n);
    size_t left = n - choice->first;
    size_t shown = left < choice->page_rows ? left : choice->page_rows;
    head_lines(picture, at++, c, choice, n, shown);
    for (size_t i = 0; i < shown; i++)
        draw_line(picture, at++, c, &view->lines[order[choice->first + i]],
                  !picture->list_only && choice->first + i == choice->chosen);
    free(order);
    if (n == 0)
        seep_top_put(picture, at++, picture->n_columns,
                     view->n_lines ? "  no line matches: Esc shows all lines again"
                                   : "  nothing recorded yet",
                     SEEP_TOP_PLAIN);
    return at;
}

/* ---- what holds most ------------------------------------------------------------------------- */

/* As the latest snapshots of the processes say. */
enum {
    TYPE_COLUMNS = 13,
    PID_COLUMNS = 9,
    STEP_COLUMNS = 9,
    GROWS_COLUMNS = 8,
    HOLDER_COLUMNS = 40,
    PATH_COLUMNS = 130
};

/* A wide picture has the whole path behind the other columns. */
static int name_columns(const struct seep_top_picture *picture)
{
    const int rest =
        picture->n_columns - (PID_COLUMNS + STEP_COLUMNS + 11 + 9 + GROWS_COLUMNS + TYPE_COLUMNS);

    return picture->n_columns >= PATH_COLUMNS && rest > HOLDER_COLUMNS ? HOLDER_COLUMNS
           : rest > 8                                                  ? rest
                                                                       : 8;
}

static void head_holders(struct seep_top_picture *picture, int at)
{
    picture->rows[at].style = SEEP_TOP_HEAD;
    seep_top_put(picture, at, name_columns(picture), "HOLDS MOST", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, PID_COLUMNS, " PID", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -STEP_COLUMNS, "AT STEP", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -11, "BYTES", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, -9, "LENGTH", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, GROWS_COLUMNS, "", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, TYPE_COLUMNS, "TYPE", SEEP_TOP_PLAIN);
    seep_top_put(picture, at, picture->n_columns, picture->n_columns >= PATH_COLUMNS ? " PATH" : "",
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
    if (picture->n_columns >= PATH_COLUMNS) {
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
    head_holders(picture, at++);
    for (int i = 0; i < n && at < end; i++)
        draw_holder(picture, at++, json_array_get(view->holders, (size_t)i));
    return at;
}
