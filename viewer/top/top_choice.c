#include "viewer/top/top_choice.h"

#include "libprof/report_read/report_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 2 for a leak, 1 for what is retained, else 0. */
static int rank_of(const struct seep_line_view *line)
{
    return line->severity <= SEEP_RETENTION ? SEEP_PRESSURE - (int)line->severity : 0;
}

static bool stack_has(const json_t *site, const char *text)
{
    static const char *const keys[] = {"function", "file", "module"};
    json_t *frame;
    size_t i;

    json_array_foreach (json_object_get(site, "stack"), i, frame) {
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            if (strcasestr(seep_get_text(frame, keys[k], ""), text))
                return true;
        }
    }
    return false;
}

static bool stacks_have(const struct seep_top_view *view, const struct seep_line_view *line,
                        const char *text)
{
    for (size_t i = 0; i < line->n_sites; i++) {
        if (stack_has(seep_top_site(view, line, i), text))
            return true;
    }
    return false;
}

static bool is_chosen(const struct seep_top_view *view, const struct seep_line_view *line,
                      const struct seep_top_choice *choice)
{
    if (choice->space[0] && strcmp(line->space, choice->space) != 0)
        return false;
    return !choice->search[0] || strcasestr(line->place, choice->search) ||
           strcasestr(line->pattern, choice->search) || stacks_have(view, line, choice->search);
}

size_t seep_top_n_leaking(const struct seep_top_view *view)
{
    size_t n = 0;

    for (size_t i = 0; i < view->n_lines; i++)
        n += rank_of(&view->lines[i]) > 0;
    return n;
}

static double measure(const struct seep_line_view *line, enum seep_top_sort sort)
{
    switch (sort) {
    case SEEP_TOP_BY_FINDING:
        return rank_of(line);
    case SEEP_TOP_BY_GROWTH:
        return line->growth;
    case SEEP_TOP_BY_LIVE:
        return line->live;
    default:
        return line->peak;
    }
}

struct order_of {
    const struct seep_line_view *lines;
    enum seep_top_sort sort;
};

/* Largest first; equal ones by their growth, then by what they hold, then in the view's order. */
static int compare(const void *a, const void *b, void *context)
{
    const struct order_of *by = context;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    double p = measure(&by->lines[i], by->sort), q = measure(&by->lines[k], by->sort);

    if (p == q)
        p = by->lines[i].growth, q = by->lines[k].growth;
    if (p == q)
        p = by->lines[i].live, q = by->lines[k].live;
    if (p != q)
        return p < q ? 1 : -1;
    return (i > k) - (i < k);
}

size_t seep_top_order(const struct seep_top_view *view, const struct seep_top_choice *choice,
                      size_t *order)
{
    struct order_of by = {view->lines, choice->sort};
    size_t n = 0;

    for (size_t i = 0; i < view->n_lines; i++) {
        if (is_chosen(view, &view->lines[i], choice))
            order[n++] = i;
    }
    qsort_r(order, n, sizeof *order, compare, &by);
    return n;
}

void seep_top_keep_shown(struct seep_top_choice *choice, size_t n)
{
    size_t rows = choice->page_rows ? choice->page_rows : 1;

    if (choice->chosen >= n)
        choice->chosen = n ? n - 1 : 0;
    if (choice->chosen < choice->first)
        choice->first = choice->chosen;
    if (choice->chosen >= choice->first + rows)
        choice->first = choice->chosen - rows + 1;
    if (choice->first + rows > n) /* no empty rows where there are lines above */
        choice->first = n > rows ? n - rows : 0;
}

/* Chooses the line at index `place` of those shown, or the last one. */
static void choose(struct seep_top_choice *choice, const struct seep_top_view *view,
                   const size_t *order, size_t n, size_t place)
{
    choice->chosen = n == 0 ? 0 : place < n ? place : n - 1;
    choice->key = n ? view->lines[order[choice->chosen]].key : 0;
    seep_top_keep_shown(choice, n);
}

void seep_top_follow(struct seep_top_choice *choice, const struct seep_top_view *view)
{
    size_t *order = calloc(view->n_lines + 1, sizeof *order);

    if (!order)
        return;
    size_t n = seep_top_order(view, choice, order), place = choice->chosen;
    /* A user who has not moved wants to see the first line, whichever it is; details stay on their
     * line. */
    for (size_t i = 0; i < n && (choice->chosen > 0 || choice->page == SEEP_TOP_DETAILS); i++) {
        if (view->lines[order[i]].key == choice->key) {
            place = i;
            break;
        }
    }
    if (choice->page != SEEP_TOP_DETAILS)
        choose(choice, view, order, n, place);
    else
        choice->chosen = place;
    free(order);
}

/* Another order or other lines: starts at the top. */
static void begin_anew(struct seep_top_choice *choice, const struct seep_top_view *view)
{
    choice->chosen = choice->first = 0;
    seep_top_follow(choice, view);
}

static void next_space(struct seep_top_choice *choice, const struct seep_top_view *view)
{
    size_t next = 0;

    for (size_t i = 0; choice->space[0] && i < view->n_space_names; i++) {
        if (strcmp(view->space_names[i], choice->space) == 0)
            next = i + 1;
    }
    bool all = choice->space[0] && next >= view->n_space_names;
    snprintf(choice->space, sizeof choice->space, "%s",
             all || !view->n_space_names ? "" : view->space_names[next]);
    begin_anew(choice, view);
}

static void move(struct seep_top_choice *choice, const struct seep_top_view *view, long key)
{
    size_t rows = choice->page_rows > 1 ? choice->page_rows - 1 : 1;
    size_t *order = calloc(view->n_lines + 1, sizeof *order);
    bool list = choice->page == SEEP_TOP_LIST;

    if (!order)
        return;
    size_t n = list ? seep_top_order(view, choice, order) : choice->detail_lines;
    size_t at = list ? choice->chosen : choice->scroll;
    size_t last = list ? n : n > rows ? n - rows : 1; /* and one more */
    if (key == SEEP_TOP_UP)
        at -= at > 0;
    else if (key == SEEP_TOP_DOWN)
        at++;
    else if (key == SEEP_TOP_PAGE_UP)
        at = at > rows ? at - rows : 0;
    else if (key == SEEP_TOP_PAGE_DOWN)
        at += rows;
    else
        at = key == SEEP_TOP_FIRST ? 0 : last;
    at = last == 0 ? 0 : at < last ? at : last - 1;
    if (list)
        choose(choice, view, order, n, at);
    else
        choice->scroll = at;
    free(order);
}

/* Appends a character in UTF-8 where it has room. */
static void type(struct seep_top_choice *choice, long key)
{
    size_t n = strlen(choice->search);
    unsigned c = (unsigned)key;
    char *at = choice->search + n;

    if (n + 5 > sizeof choice->search)
        return;
    if (c < 0x80) {
        *at++ = (char)c;
    } else if (c < 0x800) {
        *at++ = (char)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        *at++ = (char)(0xe0 | c >> 12);
        *at++ = (char)(0x80 | (c >> 6 & 0x3f));
    } else {
        *at++ = (char)(0xf0 | c >> 18);
        *at++ = (char)(0x80 | (c >> 12 & 0x3f));
        *at++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    if (c >= 0x80)
        *at++ = (char)(0x80 | (c & 0x3f));
    *at = '\0';
}

static void erase_last(struct seep_top_choice *choice)
{
    size_t n = strlen(choice->search);

    while (n > 0 && (choice->search[n - 1] & 0xc0) == 0x80)
        n--;
    choice->search[n ? n - 1 : 0] = '\0';
}

static void press_typing(struct seep_top_choice *choice, const struct seep_top_view *view, long key)
{
    if (key == SEEP_TOP_ENTER || key == SEEP_TOP_ESCAPE) {
        choice->typing = false;
        if (key == SEEP_TOP_ESCAPE)
            choice->search[0] = '\0';
    } else if (key == SEEP_TOP_ERASE) {
        erase_last(choice);
    } else if (key >= ' ' && key < SEEP_TOP_UP) {
        type(choice, key);
    }
    begin_anew(choice, view);
}

static void open_page(struct seep_top_choice *choice, enum seep_top_page page)
{
    choice->page = page;
    choice->scroll = 0;
}

/* Escape and Enter lead back, and so does the key that opened the page. */
static void press_list(struct seep_top_choice *choice, const struct seep_top_view *view, long key)
{
    switch (key) {
    case 's':
        choice->sort = (choice->sort + 1) % SEEP_TOP_N_SORTS;
        begin_anew(choice, view);
        break;
    case 'f':
        next_space(choice, view);
        break;
    case '/':
        choice->typing = true;
        break;
    case SEEP_TOP_ENTER:
        if (choice->key)
            open_page(choice, SEEP_TOP_DETAILS);
        break;
    case SEEP_TOP_ESCAPE:
        choice->search[0] = choice->space[0] = '\0';
        begin_anew(choice, view);
        break;
    default:
        break;
    }
}

void seep_top_press(struct seep_top_choice *choice, const struct seep_top_view *view, long key)
{
    if (choice->typing) {
        press_typing(choice, view, key);
    } else if (key >= SEEP_TOP_UP) {
        move(choice, view, key);
    } else if (key == 'j' || key == 'k') {
        move(choice, view, key == 'j' ? SEEP_TOP_DOWN : SEEP_TOP_UP);
    } else if (key == 'q') {
        choice->quit = true;
    } else if (key == 'p') {
        choice->paused = !choice->paused;
    } else if (key == 'h' || key == '?') {
        open_page(choice, choice->page == SEEP_TOP_HELP ? SEEP_TOP_LIST : SEEP_TOP_HELP);
    } else if (choice->page == SEEP_TOP_LIST) {
        press_list(choice, view, key);
    } else if (key == SEEP_TOP_ENTER || key == SEEP_TOP_ESCAPE) {
        open_page(choice, SEEP_TOP_LIST);
        seep_top_follow(choice, view);
    }
}

const struct seep_line_view *seep_top_chosen(const struct seep_top_choice *choice,
                                             const struct seep_top_view *view)
{
    for (size_t i = 0; choice->key && i < view->n_lines; i++) {
        if (view->lines[i].key == choice->key)
            return &view->lines[i];
    }
    return NULL;
}
