#include "viewer/help_pages.h"
#include "viewer/viewer.h"

#include <stdio.h>
#include <string.h>

const char *seep_help_page(const char *name)
{
    for (const struct seep_help_page *page = seep_help_pages; page->name; page++) {
        if (strcmp(page->name, name) == 0)
            return page->text;
    }
    return NULL;
}

int seep_help_print(const char *name)
{
    const char *text = seep_help_page(name);

    if (!text) {
        seep_complain("%s has no page: `seep help` lists the commands", name);
        return SEEP_EXIT_UNUSABLE;
    }
    fputs(text, stdout);
    return fflush(stdout) ? SEEP_EXIT_UNUSABLE : 0;
}

int seep_help_main(int argc, char **argv)
{
    if (argc > 2) {
        seep_complain("help takes one command: try `seep help %s`", argv[1]);
        return SEEP_EXIT_UNUSABLE;
    }
    if (argc < 2 || argv[1][0] == '-')
        return seep_help_print("seep");
    /* The pages of the smaller commands are part of the overview page. */
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "version") == 0)
        return seep_help_print("seep");
    return seep_help_print(argv[1]);
}
