/* All about one line, and the page of keys: more lines than a screen may have, scrolled. */
#include "libprof/base/text.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"
#include "viewer/top/top_picture.h"
#include "viewer/top/top_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 14, CURVE_COLUMNS = 60, MAX_STACKS = 8 };

/* Lines are written one after another; those above or below the screen are only counted. */
struct page {
    const struct seep_top_view *view;
    struct seep_top_picture *picture;
    int at, end;
    size_t line, scroll;
};

/* The screen's row for the next line, −1 where it is not visible. */
static int next_line(struct page *page)
{
    bool shown = page->line++ >= page->scroll && page->at < page->end;

    return shown ? page->at++ : -1;
}

/* A text in as many lines as it needs, broken at blanks. */
static void put_text(struct page *page, const char *name, const char *text)
{
    int width = page->picture->n_columns - NAME_COLUMNS;

    do {
        size_t n = strnlen(text, SEEP_TOP_MOST_COLUMNS + 1);
        if (width > 8 && n > (size_t)width) {
            n = (size_t)width;
            while (n > (size_t)width / 2 && text[n] != ' ')
                n--;
            if (text[n] != ' ') /* one long word: cut at any byte that begins a character */
                for (n = (size_t)width; n > 1 && (text[n] & 0xc0) == 0x80;)
                    n--;
        }
        char line[SEEP_TOP_MOST_COLUMNS * SEEP_TOP_CELL + 1];
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        int row = next_line(page);
        if (row >= 0) {
            seep_top_put(page->picture, row, NAME_COLUMNS, name, SEEP_TOP_STRONG);
            seep_top_put(page->picture, row, page->picture->n_columns, line, SEEP_TOP_PLAIN);
        }
        name = "";
        text += n;
        text += strspn(text, " ");
    } while (*text && page->line < 10000);
}

static void put_numbers(struct page *page, const struct seep_line_view *line)
{
    char live[SEEP_SIZE_TEXT], peak[SEEP_SIZE_TEXT], text[256];
    double allocations = 0, frees = 0;

    snprintf(text, sizeof text, "%s in %.0f blocks; %s at most", seep_text_size(line->live, live),
             line->blocks, seep_text_size(line->peak, peak));
    put_text(page, "live", text);
    snprintf(text, sizeof text, "%s a step", seep_text_size(line->growth, live));
    put_text(page, "growth", text);
    for (size_t i = 0; i < line->n_sites; i++) {
        const json_t *site = seep_top_site(page->view, line, i);
        allocations += seep_get_number(site, "allocations");
        frees += seep_get_number(site, "frees");
    }
    snprintf(text, sizeof text, "%.0f times, freed %.0f", allocations, frees);
    put_text(page, "allocated", text);
}

/* The level over the steps, summed over the line's sites. */
static void put_curve(struct page *page, const struct seep_line_view *line, double steps)
{
    char drawn[SEEP_TOP_MOST_COLUMNS * SEEP_TOP_CELL + 1];
    double sum[CURVE_COLUMNS] = {0}, levels[CURVE_COLUMNS];
    int room = page->picture->n_columns - NAME_COLUMNS;
    int width = room < CURVE_COLUMNS ? room : CURVE_COLUMNS, n = 0;

    for (size_t i = 0; i < line->n_sites; i++) {
        const json_t *series = json_object_get(seep_top_site(page->view, line, i), "series");
        int k = seep_top_levels(json_object_get(series, "step"),
                                json_object_get(series, "live_bytes"), 0, steps, levels, width);
        for (int at = 0; at < k; at++)
            sum[at] += levels[at] > 0 ? levels[at] : 0;
        n = k ? k : n;
    }
    int row = n > 0 ? next_line(page) : -1;
    if (row < 0)
        return;
    seep_top_curve(drawn, sum, n, page->picture->utf8);
    seep_top_put(page->picture, row, NAME_COLUMNS, "over steps", SEEP_TOP_STRONG);
    seep_top_put_drawn(page->picture, row, n, drawn, SEEP_TOP_PLAIN);
}

static void put_finding(struct page *page, const json_t *finding, const char *cwd)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);
    char text[256], *line;
    json_t *evidence;
    size_t i;

    snprintf(text, sizeof text, "%s, a %s: %s", f.pattern, seep_severity_name(f.severity), f.id);
    put_text(page, "finding", text);
    put_text(page, "", f.title);
    json_array_foreach (f.evidence, i, evidence)
        put_text(page, i ? "" : "because",
                 json_is_string(evidence) ? json_string_value(evidence) : "");
    for (i = 0; (line = seep_get_holders_line(&f, cwd, i)); i++) {
        put_text(page, i ? "" : "held", line);
        free(line);
    }
    put_text(page, "to do", f.advice);
}

static void put_stack(struct page *page, const json_t *site, const char *cwd)
{
    char drawn[SEEP_TOP_MOST_COLUMNS * SEEP_TOP_CELL + 1];
    int width = page->picture->n_columns - NAME_COLUMNS;
    json_int_t shown = json_integer_value(json_object_get(site, "look_at"));
    json_t *frame;
    size_t i;

    json_array_foreach (json_object_get(site, "stack"), i, frame) {
        char *text = seep_get_frame_text(frame, cwd);
        bool marked = (json_int_t)i == shown;
        int row = next_line(page);
        if (row >= 0 && text && width > 0) {
            seep_top_put(page->picture, row, NAME_COLUMNS - 2, "", SEEP_TOP_PLAIN);
            seep_top_put(page->picture, row, 2, marked ? ">" : "", SEEP_TOP_STRONG);
            int n = seep_top_fit_place(drawn, text, width, page->picture->utf8);
            seep_top_put_drawn(page->picture, row, n, drawn,
                               marked ? SEEP_TOP_STRONG : SEEP_TOP_PLAIN);
        }
        free(text);
    }
}

/* The sites of the line, each with its stack, innermost frame first. */
static void put_sites(struct page *page, const struct seep_line_view *line, const char *cwd)
{
    char live[SEEP_SIZE_TEXT], peak[SEEP_SIZE_TEXT], name[32], text[160];

    for (size_t i = 0; i < line->n_sites && i < MAX_STACKS; i++) {
        const json_t *site = seep_top_site(page->view, line, i);
        snprintf(name, sizeof name, "stack %zu/%zu", i + 1, line->n_sites);
        snprintf(text, sizeof text, "%s live, %s at most; innermost frame first",
                 seep_text_size(seep_get_number(site, "live_bytes"), live),
                 seep_text_size(seep_get_number(site, "peak_bytes"), peak));
        put_text(page, name, text);
        put_stack(page, site, cwd);
    }
    if (line->n_sites > MAX_STACKS)
        put_text(page, "", "`seep report --format json` has the other stacks");
}

void seep_top_draw_details(struct seep_top_picture *picture, int at, int end,
                           const struct seep_top_view *view, struct seep_top_choice *choice)
{
    const struct seep_line_view *line = seep_top_chosen(choice, view);
    struct page page = {view, picture, at, end, 0, choice->scroll};
    char text[128];

    if (!line) {
        put_text(&page, "", "This line no longer holds memory, or too little. Esc goes back.");
    } else {
        put_text(&page, "line", line->place);
        snprintf(text, sizeof text, "%.23s; part of the job: %s", line->space,
                 seep_get_part(seep_top_site(view, line, 0)));
        put_text(&page, "space", text);
        put_numbers(&page, line);
        put_curve(&page, line, view->steps);
        if (line->finding)
            put_finding(&page, line->finding, view->cwd);
        put_sites(&page, line, view->cwd);
    }
    choice->detail_lines = page.line;
    choice->page_rows = end > at ? (size_t)(end - at) : 1;
}

void seep_top_draw_help(struct seep_top_picture *picture, int at, int end,
                        struct seep_top_choice *choice)
{
    static const char *const keys[][2] = {
        {"q", "quit; the job goes on"},
        {"s", "sort lines by finding, growth a step, live memory, or peak"},
        {"f", "show the lines of one space, of the next space, of all"},
        {"/", "search: show lines whose place, finding or stacks contain a text"},
        {"p", "pause: take no looks until p is pressed again"},
        {"Enter", "everything about the selected line: its finding, timeline and stacks"},
        {"arrows", "select a line, or scroll; also j and k, PgUp, PgDn, Home, End"},
        {"Esc", "back; in the list: show all lines again"},
        {"h", "this page"},
    };
    struct page page = {NULL, picture, at, end, 0, choice->scroll};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put_text(&page, keys[i][0], keys[i][1]);
    put_text(&page, "", "");
    put_text(&page, "LIVE",
             "memory that is allocated and not freed; RSS is what the kernel counts");
    put_text(&page, "FULL IN", "when the limit is reached, if memory keeps growing at this pace");
    put_text(&page, "GROWTH/STEP", "the slope of LIVE over the steps after the warm-up");
    put_text(&page, ">",
             "the selected line, the column to sort by, the frame of the line in a stack");
    choice->detail_lines = page.line;
    choice->page_rows = end > at ? (size_t)(end - at) : 1;
}
