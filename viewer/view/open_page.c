#include "viewer/view/open_page.h"

#include "viewer/viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a session of its own, so that a browser outlives this terminal; tells `failed` why it cannot
 * be run. */
static _Noreturn void become(const char *browser, const char *page, int failed)
{
    const int nothing = open("/dev/null", O_RDWR);

    setsid();
    if (fork() > 0)
        _exit(0); /* so nobody has to wait for it */
    for (int fd = 0; fd < 3 && nothing >= 0; fd++)
        dup2(nothing, fd);
    execlp(browser, browser, page, (char *)NULL);
    const int error = errno;
    if (write(failed, &error, sizeof error) < 0)
        _exit(2);
    _exit(1);
}

/* Returns 0, or why not. */
static int start(const char *browser, const char *page)
{
    int ends[2], error = 0;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    const pid_t child = fork();
    if (child == 0)
        become(browser, page, ends[1]);
    if (child < 0)
        error = errno;
    close(ends[1]);
    if (child > 0 && read(ends[0], &error, sizeof error) < 0)
        error = errno;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return error;
}

int seep_open_page(const char *page)
{
    const char *named = getenv("BROWSER"), *browser = named && *named ? named : "xdg-open";

    if (browser != named && !getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) {
        seep_complain("no browser can be opened here, without a display: open %s on your own "
                      "machine, or set BROWSER",
                      page);
        return SEEP_EXIT_UNUSABLE;
    }
    const int error = start(browser, page);
    if (!error)
        return 0;
    seep_complain("%s cannot be run (%s): set BROWSER, or open %s yourself", browser,
                  strerror(error), page);
    return SEEP_EXIT_UNUSABLE;
}
