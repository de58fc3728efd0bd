#include "viewer/top/top_picture.h"

#include "libprof/base/text.h"
#include "viewer/top/top_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW_ROWS = 16, /* with fewer there is room only for the job and its lines */
    /* rows, including column names, that other tables leave to the lines; more where more lines
     * leak */
    LINE_ROWS_LEAST = 7,
    LINE_ROWS_MOST = 13,
    HOLDER_ROWS_MOST = SEEP_TOP_PAPER_HOLDERS + 1 /* including column names */
};

int seep_top_picture_init(struct seep_top_picture *picture, int rows, int columns, bool utf8)
{
    int n_rows = rows < 1 ? 1 : rows > SEEP_TOP_MOST_ROWS ? SEEP_TOP_MOST_ROWS : rows;
    int n_columns = columns < 1                       ? 1
                    : columns > SEEP_TOP_MOST_COLUMNS ? SEEP_TOP_MOST_COLUMNS
                                                      : columns;
    size_t bytes = (size_t)n_columns * SEEP_TOP_CELL + 1;

    *picture = (struct seep_top_picture){.n_rows = n_rows, .n_columns = n_columns, .utf8 = utf8};
    picture->rows = calloc((size_t)n_rows, sizeof *picture->rows);
    picture->texts = calloc((size_t)n_rows, bytes);
    for (int i = 0; picture->rows && picture->texts && i < n_rows; i++)
        picture->rows[i].text = picture->texts + (size_t)i * bytes;
    if (picture->rows && picture->texts)
        return 0;
    seep_top_picture_fini(picture);
    return -1;
}

void seep_top_picture_fini(struct seep_top_picture *picture)
{
    free(picture->rows);
    free(picture->texts);
    picture->rows = NULL;
    picture->texts = NULL;
}

static void add_span(struct seep_top_row *row, size_t bytes, enum seep_top_style style)
{
    if (style != SEEP_TOP_PLAIN && row->n_spans < SEEP_TOP_SPANS && bytes) {
        row->spans[row->n_spans].begin = row->bytes;
        row->spans[row->n_spans].end = row->bytes + bytes;
        row->spans[row->n_spans++].style = style;
    }
    row->bytes += bytes;
}

static void put_blanks(struct seep_top_row *row, int n)
{
    for (int i = 0; i < n; i++)
        row->text[row->bytes++] = ' ';
    row->text[row->bytes] = '\0';
    row->columns += n;
}

void seep_top_put_drawn(struct seep_top_picture *picture, int row_number, int columns,
                        const char *drawn, enum seep_top_style style)
{
    struct seep_top_row *row = &picture->rows[row_number];

    if (row->columns + columns > picture->n_columns)
        return;
    strcpy(row->text + row->bytes, drawn);
    add_span(row, strlen(drawn), style);
    row->columns += columns;
}

void seep_top_put(struct seep_top_picture *picture, int row_number, int columns, const char *text,
                  enum seep_top_style style)
{
    struct seep_top_row *row = &picture->rows[row_number];
    char cut[SEEP_TOP_MOST_COLUMNS * SEEP_TOP_CELL + 1];
    int room = picture->n_columns - row->columns, wanted = abs(columns);
    int width = wanted < room ? wanted : room;

    int used = seep_top_fit(cut, text, width, picture->utf8);
    if (columns < 0)
        put_blanks(row, width - used);
    seep_top_put_drawn(picture, row_number, used, cut, style);
    if (columns > 0)
        put_blanks(row, width - used);
}

void seep_top_put_size(struct seep_top_picture *picture, int row, double bytes,
                       enum seep_top_style style)
{
    char text[SEEP_SIZE_TEXT];

    seep_top_put(picture, row, -11, bytes != 0 ? seep_text_size(bytes, text) : "-", style);
}

void seep_top_put_change(struct seep_top_picture *picture, int row, double bytes,
                         enum seep_top_style style)
{
    char size[SEEP_SIZE_TEXT], text[SEEP_SIZE_TEXT + 1];

    snprintf(text, sizeof text, "%s%s", bytes > 0 ? "+" : "", seep_text_size(bytes, size));
    seep_top_put(picture, row, -12, text, style);
}

static void draw_foot(struct seep_top_picture *picture, int row,
                      const struct seep_top_choice *choice, const char *message)
{
    char text[256];

    if (choice->typing)
        snprintf(text, sizeof text, "search: %s_  (Enter keeps it, Esc shows all lines again)",
                 choice->search);
    else if (message)
        snprintf(text, sizeof text, "%s", message);
    else if (choice->page == SEEP_TOP_LIST)
        snprintf(text, sizeof text,
                 "q quit  s sort  f space  / search  p %s  Enter details  h help",
                 choice->paused ? "continue" : "pause");
    else
        snprintf(text, sizeof text, "q quit  Esc back  up/down/PgUp/PgDn scroll  p %s",
                 choice->paused ? "continue" : "pause");
    seep_top_put(picture, row, picture->n_columns, text,
                 message && !choice->typing ? SEEP_TOP_WARNING : SEEP_TOP_HEAD);
}

/* Half of the rows that the lines need not have. */
static int draw_holders(struct seep_top_picture *picture, int at, int end,
                        const struct seep_top_view *view)
{
    const int rows = picture->list_only ? HOLDER_ROWS_MOST : (end - at) / 2;

    return seep_top_draw_holders(picture, at,
                                 at + (rows < HOLDER_ROWS_MOST ? rows : HOLDER_ROWS_MOST), view);
}

/* The tables above the lines share the remaining rows: spaces first. */
static int draw_tables(struct seep_top_picture *picture, int at, int end,
                       const struct seep_top_view *view)
{
    int leaking = (int)seep_top_n_leaking(view) + 1;
    int for_lines = leaking < LINE_ROWS_LEAST  ? LINE_ROWS_LEAST
                    : leaking > LINE_ROWS_MOST ? LINE_ROWS_MOST
                                               : leaking;
    int room = end - at - for_lines;
    int for_processes = room / 3 < 3 ? 3 : room / 3;
    int spaces = (int)view->n_spaces + 1,
        processes = (int)(view->n_processes - view->n_ended) + 1 + (view->n_ended > 0);

    if (picture->list_only) {
        at = seep_top_draw_spaces(picture, at, at + spaces, view);
        at = seep_top_draw_processes(picture, at, at + SEEP_TOP_PAPER_PROCESSES + 1, view);
        return draw_holders(picture, at, end, view);
    }
    if (room < FEW_ROWS - LINE_ROWS_LEAST - 4)
        return at;
    if (processes < for_processes)
        for_processes = processes;
    int spaces_end = at + (spaces < room - for_processes ? spaces : room - for_processes);
    int next = seep_top_draw_spaces(picture, at, spaces_end, view);
    int processes_end = at + room < next + processes ? at + room : next + processes;
    next = seep_top_draw_processes(picture, next, processes_end, view);
    return draw_holders(picture, next, at + room, view);
}

void seep_top_draw(struct seep_top_picture *picture, const struct seep_top_view *view,
                   struct seep_top_choice *choice, const char *message)
{
    int end = picture->n_rows - !picture->list_only;
    int at = seep_top_draw_job(picture, 0, view, choice->paused);

    if (choice->page == SEEP_TOP_DETAILS) {
        seep_top_draw_details(picture, at, end, view, choice);
    } else if (choice->page == SEEP_TOP_HELP) {
        seep_top_draw_help(picture, at, end, choice);
    } else {
        at = draw_tables(picture, at, end, view);
        seep_top_draw_lines(picture, at, end, view, choice);
    }
    if (!picture->list_only && picture->n_rows > 1)
        draw_foot(picture, picture->n_rows - 1, choice, message);
}
