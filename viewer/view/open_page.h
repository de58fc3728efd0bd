/* Shows a page that was written in the user's browser. */
#ifndef SEEP_VIEWER_VIEW_OPEN_PAGE_H
#define SEEP_VIEWER_VIEW_OPEN_PAGE_H

/* Starts what BROWSER names, else xdg-open, with a file or address, and does not wait for it.
 * Returns 0, or SEEP_EXIT_UNUSABLE after a complaint that says what to do instead. */
int seep_open_page(const char *page);

#endif
