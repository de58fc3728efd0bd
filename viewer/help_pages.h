/* The manual pages as text, made from docs/man/ by tools/pages-to-c.awk when seep is built. */
#ifndef SEEP_VIEWER_HELP_PAGES_H
#define SEEP_VIEWER_HELP_PAGES_H

struct seep_help_page {
    const char *name; /* of the command; "seep" for the overview */
    const char *text;
};

extern const struct seep_help_page seep_help_pages[]; /* ends with a NULL name */

#endif
