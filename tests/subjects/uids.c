/* Gives up root in one of the possible ways, then allocates; prints how the job sees itself.
 *   usage: uids WAY UID DIR
 * WAY: setuid, seteuid, setreuid, setresuid, forked, there-and-back, refused */
#include "tally.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 4000, STACKS = 3000 };

static volatile unsigned depth_of_all;

/* A stack of its own for each number: the profile has to grow. */
__attribute__((noinline)) static void *nest(unsigned path, int depth)
{
    void *p = depth == 0 ? malloc(100) : (path & 1) ? nest(path >> 1, depth - 1) : NULL;
    if (!p)
        p = nest(path >> 1, depth - 1);
    depth_of_all++;
    return p;
}

__attribute__((noinline)) static void *keep_some(int n)
{
    void *last = NULL;

    for (int i = 0; i < n; i++)
        last = malloc(1000);
    return last;
}

static void work(void)
{
    MUST(keep_some(BLOCKS));
    for (unsigned i = 0; i < STACKS; i++)
        MUST(nest(i, 12));
}

static int become(const char *way, uid_t uid)
{
    if (strcmp(way, "seteuid") == 0 || strcmp(way, "there-and-back") == 0)
        return seteuid(uid);
    if (strcmp(way, "setreuid") == 0)
        return setreuid(uid, uid);
    if (strcmp(way, "setresuid") == 0)
        return setresuid(uid, uid, uid);
    return setuid(uid);
}

/* A user that is not to be: the real call fails, since nobody may become anyone else. */
static int refused(uid_t uid)
{
    MUST(setuid(uid) == 0);
    int r = setuid(uid + 1);
    return r == -1 && errno == EPERM ? 0 : 1;
}

int main(int argc, char **argv)
{
    MUST(argc > 3);
    const char *way = argv[1];
    uid_t uid = (uid_t)atoi(argv[2]);

    if (strcmp(way, "forked") == 0) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            MUST(setuid(uid) == 0);
            work();
            _exit(0);
        }
        MUST(waitpid(pid, &status, 0) == pid && status == 0);
        puts("forked");
        return 0;
    }
    if (strcmp(way, "refused") == 0) {
        MUST(refused(uid) == 0);
    } else {
        MUST(become(way, uid) == 0);
        MUST(geteuid() == uid);
    }
    if (strcmp(way, "there-and-back") == 0)
        MUST(seteuid(0) == 0);
    work();
    printf("%s %d\n", way, (int)geteuid());
    return 0;
}
