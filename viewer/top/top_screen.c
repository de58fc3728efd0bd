#define NCURSES_WIDECHAR 1
#include "viewer/top/top_screen.h"

#include <curses.h>
#include <stdlib.h>

enum { ESCAPE_MS = 50 }; /* then Esc is the key itself, not the beginning of a sequence */

static SCREEN *screen;
static bool coloured;

bool seep_top_screen_open(bool colour)
{
    screen = newterm(NULL, stdout, stdin);
    if (!screen)
        return false;
    const char *moves = tigetstr("cup");
    if (!moves || moves == (const char *)-1) {
        seep_top_screen_close();
        return false;
    }
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    curs_set(0);
    coloured = colour && has_colors() && start_color() == OK;
    if (coloured) {
        use_default_colors();
        init_pair(SEEP_TOP_GOOD, COLOR_GREEN, -1);
        /* The page's colours for retention and leaks (put_text.c), where the terminal has enough
         * colours. */
        init_pair(SEEP_TOP_WARNING, COLORS >= 256 ? 178 : COLOR_YELLOW, -1);
        init_pair(SEEP_TOP_BAD, COLORS >= 256 ? 166 : COLOR_RED, -1);
    }
    return true;
}

void seep_top_screen_close(void)
{
    if (!screen)
        return;
    endwin();
    delscreen(screen);
    screen = NULL;
}

void seep_top_screen_size(int *rows, int *columns)
{
    getmaxyx(stdscr, *rows, *columns);
}

static attr_t attributes(enum seep_top_style style)
{
    static const attr_t plain[] = {
        [SEEP_TOP_PLAIN] = A_NORMAL,   [SEEP_TOP_HEAD] = A_BOLD | A_UNDERLINE,
        [SEEP_TOP_MARKED] = A_REVERSE, [SEEP_TOP_STRONG] = A_BOLD,
        [SEEP_TOP_GOOD] = A_NORMAL,    [SEEP_TOP_WARNING] = A_BOLD,
        [SEEP_TOP_BAD] = A_BOLD,
    };

    return plain[style] | (coloured && style >= SEEP_TOP_GOOD ? (attr_t)COLOR_PAIR(style) : 0);
}

static void show_row(const struct seep_top_row *row, int columns)
{
    size_t at = 0;

    for (int i = 0; i <= row->n_spans; i++) {
        size_t begin = i < row->n_spans ? row->spans[i].begin : row->bytes;
        attrset((int)attributes(row->style));
        addnstr(row->text + at, (int)(begin - at));
        if (i == row->n_spans)
            break;
        attrset((int)attributes(row->spans[i].style));
        addnstr(row->text + begin, (int)(row->spans[i].end - begin));
        at = row->spans[i].end;
    }
    for (int used = row->columns; row->style != SEEP_TOP_PLAIN && used < columns; used++)
        addch(' ');
    attrset(A_NORMAL);
}

void seep_top_screen_show(const struct seep_top_picture *picture)
{
    erase();
    for (int i = 0; i < picture->n_rows; i++) {
        move(i, 0);
        show_row(&picture->rows[i], picture->n_columns);
    }
    refresh();
}

static long special_key(wint_t code)
{
    switch (code) {
    case KEY_UP:
        return SEEP_TOP_UP;
    case KEY_DOWN:
        return SEEP_TOP_DOWN;
    case KEY_PPAGE:
        return SEEP_TOP_PAGE_UP;
    case KEY_NPAGE:
        return SEEP_TOP_PAGE_DOWN;
    case KEY_HOME:
        return SEEP_TOP_FIRST;
    case KEY_END:
        return SEEP_TOP_LAST;
    case KEY_ENTER:
        return SEEP_TOP_ENTER;
    case KEY_BACKSPACE:
        return SEEP_TOP_ERASE;
    case KEY_RESIZE:
        return -1;
    default:
        return SEEP_TOP_UP - 1; /* a key without a meaning here */
    }
}

long seep_top_screen_key(void)
{
    wint_t key;
    int kind = get_wch(&key);

    if (kind == ERR)
        return SEEP_TOP_NO_KEY;
    if (kind == KEY_CODE_YES)
        return special_key(key);
    if (key == '\r')
        return SEEP_TOP_ENTER;
    return key == '\b' ? SEEP_TOP_ERASE : key ? (long)key : SEEP_TOP_UP - 1;
}
