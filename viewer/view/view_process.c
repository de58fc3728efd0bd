#include "viewer/view/view_process.h"

#include "viewer/top/top_target.h"
#include "viewer/viewer.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DIGITS = 10 };

bool seep_view_is_process(const char *word)
{
    const size_t n = strlen(word);

    return n > 0 && n <= MAX_DIGITS && strspn(word, "0123456789") == n && access(word, F_OK) != 0;
}

static int look(const char *pid, char path[PATH_MAX])
{
    const char *folder = getenv("TMPDIR");
    char number[MAX_DIGITS + 1], *words[] = {"look", "--format", "json", "-o", path, number, NULL};

    snprintf(number, sizeof number, "%s", pid);
    snprintf(path, PATH_MAX, "%s/seep-look-XXXXXX", folder && *folder ? folder : "/tmp");
    const int file = mkstemp(path);
    if (file < 0) {
        seep_complain("%s cannot be written (%s): set TMPDIR", path, strerror(errno));
        return SEEP_EXIT_UNUSABLE;
    }
    close(file);
    optind = 0; /* the words of another command */
    const int status = seep_look_main(sizeof words / sizeof *words - 1, words);
    if (status == SEEP_EXIT_UNUSABLE)
        unlink(path);
    return status == SEEP_EXIT_UNUSABLE ? status : 0;
}

int seep_view_process(const char *pid, char path[PATH_MAX], bool *is_look)
{
    struct seep_error err = {0};
    const int rc = seep_top_find(pid, path, &err);

    *is_look = rc == -SEEP_ENODATA || rc == -SEEP_EIO; /* a look says better what is wrong */
    return *is_look ? look(pid, path) : 0;
}
