// Blocks of C and C++, in a process whose user is not the job's; prints "ok".
// usage: uid [UID]: becomes that user itself, then makes them once more, and in a forked child.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sys/wait.h>
#include <unistd.h>

static const int N = 1000, MANY = 20000;
static void *kept[2 * N];

extern "C" __attribute__((noipa)) void of_both_kinds()
{
    for (int i = 0; i < N; i++) {
        kept[i] = std::malloc(1000);
        kept[N + i] = ::operator new(500);
    }
    for (int i = 0; i < N; i += 2) {
        std::free(kept[i]);
        ::operator delete(kept[N + i]);
    }
}

extern "C" __attribute__((noipa)) void before()
{
    for (int i = 0; i < MANY; i++) {
        void *volatile p = std::malloc(2000);
        std::free(p);
    }
}

int main(int argc, char **argv)
{
    before();
    of_both_kinds();
    if (argc > 1) {
        unsigned uid = unsigned(std::atoi(argv[1]));
        if (setgid(uid) != 0 || setuid(uid) != 0)
            return 1;
        of_both_kinds();
        pid_t child = fork();
        if (child == 0)
            of_both_kinds();
        else
            waitpid(child, nullptr, 0);
        if (child == 0)
            _exit(0);
    }
    std::puts("ok");
    std::fflush(stdout);
    std::_Exit(0);
}
