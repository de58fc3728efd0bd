#include "viewer/look/look_open.h"

#include "viewer/output.h"
#include "viewer/viewer.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The page is made by what is linked with it. Returns its exit status. */
static int view(const char *look, const char *page)
{
    char *words[] = {"seep", "view", "--open", "-o", (char *)page, (char *)look, NULL};
    int status = 0;
    pid_t child;

    const int error = posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ);
    if (error) {
        seep_complain("`seep view` cannot be run (%s)", strerror(error));
        return SEEP_EXIT_UNUSABLE;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : SEEP_EXIT_UNUSABLE;
}

int seep_look_open(const json_t *document, pid_t pid)
{
    const char *folder = getenv("TMPDIR");
    char look[PATH_MAX], page[64];

    snprintf(page, sizeof page, "look-%d.html", (int)pid);
    snprintf(look, sizeof look, "%s/seep-look-XXXXXX", folder && *folder ? folder : "/tmp");
    const int file = mkstemp(look);
    if (file < 0) {
        seep_complain("%s cannot be written (%s): set TMPDIR", look, strerror(errno));
        return SEEP_EXIT_UNUSABLE;
    }
    close(file);
    int status = seep_output(document, seep_output_json, look);
    if (!status)
        status = view(look, page);
    unlink(look);
    return status;
}
