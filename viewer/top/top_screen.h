/* A picture on a terminal, and its keys, by ncurses. There is one screen in a program. */
#ifndef SEEP_VIEWER_TOP_SCREEN_H
#define SEEP_VIEWER_TOP_SCREEN_H

#include "viewer/top/top_picture.h"

/* Takes over the terminal of standard input and output. False where it cannot move its cursor, or
 * is of unknown type: it is left unchanged then. */
bool seep_top_screen_open(bool colour);

/* Restores the terminal. */
void seep_top_screen_close(void);

void seep_top_screen_size(int *rows, int *columns);
void seep_top_screen_show(const struct seep_top_picture *picture);

/* The next key (enum seep_top_key or a character), SEEP_TOP_NO_KEY where none was pressed, and −1
 * where the window has another size. Does not wait. */
long seep_top_screen_key(void);

#endif
