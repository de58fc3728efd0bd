#include "libprof/base/text.h"
#include "viewer/follow/follow.h"
#include "viewer/follow/wait.h"
#include "viewer/output.h"
#include "viewer/top/top_live.h"
#include "viewer/top/top_picture.h"
#include "viewer/top/top_text.h"
#include "viewer/viewer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void put(const char *text, bool utf8)
{
    char drawn[SEEP_TOP_MOST_COLUMNS * SEEP_TOP_CELL + 1];

    seep_top_fit(drawn, text, SEEP_TOP_MOST_COLUMNS, utf8);
    fputs(drawn, stdout);
}

static void put_growth(double growth)
{
    char size[SEEP_SIZE_TEXT];

    printf(" %s%s/step", growth > 0 ? "+" : "", seep_text_size(growth, size));
}

/* The first line of the list. */
static void put_first_line(const struct seep_top_view *view, bool utf8)
{
    struct seep_top_choice choice = {0};
    size_t *order = calloc(view->n_lines + 1, sizeof *order);
    char size[SEEP_SIZE_TEXT];

    if (order && seep_top_order(view, &choice, order) > 0) {
        const struct seep_line_view *line = &view->lines[order[0]];
        fputs("; ", stdout);
        put(line->place, utf8);
        printf(": %s %s", line->space, seep_text_size(line->live, size));
        put_growth(line->growth);
        if (line->pattern[0])
            printf(" %s", line->pattern);
    }
    free(order);
}

/* Returns 0, or −1 where the output cannot be written. */
static int put_line(const struct seep_top_view *view, bool utf8)
{
    char text[32], size[SEEP_SIZE_TEXT];

    seep_top_duration(view->since_s, text);
    printf("%s: %s, %.0f %s%s", text, view->running ? "running" : "not running", view->steps,
           view->step_unit, view->steps == 1 ? "" : "s");
    if (view->steps_per_s >= 0)
        printf(", %.2f/s", view->steps_per_s);
    for (size_t i = 0; i < view->n_spaces; i++) {
        const struct seep_top_space *space = &view->spaces[i];
        if (space->live == 0 && !space->has_growth)
            continue;
        printf("; %s %s", space->name, seep_text_size(space->live, size));
        if (space->has_growth)
            put_growth(space->growth);
        if (space->full_in_s >= 0) {
            seep_top_duration(space->full_in_s, text);
            printf(", full in %s", text);
        }
    }
    put_first_line(view, utf8);
    return putchar('\n') == EOF || fflush(stdout) != 0 ? -1 : 0;
}

static struct seep_top_view *read_again(const struct seep_top_job *job, double *next_s)
{
    struct seep_error err = {0};
    void *report;

    if (seep_follow_once(&job->how, job->interval_s, next_s, &report, &err) < 0) {
        seep_output_complain_analysis(&err, job->folder, NULL);
        return NULL;
    }
    return seep_top_view_create(report, (double)time(NULL));
}

/* Where it is unknown whether the job has ended, it counts as ended once nothing new is written. */
static bool goes_on(const struct seep_top_view *view, const struct seep_top_view *before)
{
    if (view->running || view->ended)
        return view->running;
    return !before || before->since_s != view->since_s || before->steps != view->steps;
}

int seep_top_plain(const struct seep_top_job *job, struct seep_top_view *view)
{
    struct seep_top_view *before = NULL;
    double next_s = job->next_s;
    int status = 0;

    for (;;) {
        if (put_line(view, job->utf8) < 0) {
            seep_complain("standard output is not writable: give it a file or a terminal");
            status = SEEP_EXIT_UNUSABLE;
            break;
        }
        if (!goes_on(view, before))
            break;
        seep_wait(NULL, 0, next_s);
        if (seep_wait_ended())
            break;
        seep_top_view_destroy(before);
        before = view;
        view = read_again(job, &next_s);
        if (!view) {
            status = SEEP_EXIT_UNUSABLE;
            break;
        }
    }
    seep_top_view_destroy(before);
    seep_top_view_destroy(view);
    return status;
}

int seep_top_print(const struct seep_top_view *view, int columns, bool utf8)
{
    size_t rows = view->n_spaces + SEEP_TOP_PAPER_PROCESSES + SEEP_TOP_PAPER_HOLDERS +
                  SEEP_TOP_PAPER_LINES + 5;
    struct seep_top_choice choice = {0};
    struct seep_top_picture picture;

    if (seep_top_picture_init(&picture, (int)rows, columns, utf8) < 0)
        return -1;
    picture.list_only = true;
    seep_top_draw(&picture, view, &choice, NULL);
    for (int i = 0; i < picture.n_rows; i++) {
        const struct seep_top_row *row = &picture.rows[i];
        size_t n = row->bytes;
        while (n > 0 && row->text[n - 1] == ' ')
            n--;
        if (row->bytes > 0)
            printf("%.*s\n", (int)n, row->text);
    }
    seep_top_picture_fini(&picture);
    return 0;
}
