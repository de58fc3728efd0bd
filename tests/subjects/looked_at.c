/* A program that would notice if somebody interfered: threads that wait in the kernel in many ways,
 * send each other signals, hold locks and compute, and a parent that counts its children.
 *   usage: looked_at [ROUNDS]
 * Prints "ready", continues until its input ends (or that many children were made), and prints what
 * went wrong. Status: 7; 3 if something did. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static atomic_bool ends, over; /* who asks ends first, and then who answers */
static atomic_ulong wrong;

static void complain(const char *what, long got)
{
    if (atomic_fetch_add(&wrong, 1) < 20)
        printf("%s: %ld, errno %d\n", what, got, errno);
}

static void expect(const char *what, long got, long wanted)
{
    if (got != wanted)
        complain(what, got);
}

static void rest(long ns)
{
    struct timespec time = {.tv_nsec = ns};

    expect("nanosleep", nanosleep(&time, NULL), 0);
}

/* ---- what wakes each other --------------------------------------------------------------------*/

static int numbers, answers; /* eventfds */
static sem_t asked, told;
static int keys; /* a System V semaphore */

static void *add_numbers(void *arg)
{
    struct epoll_event event = {.events = EPOLLIN};
    const int epoll = epoll_create1(0);
    uint64_t n;

    epoll_ctl(epoll, EPOLL_CTL_ADD, numbers, &event);
    while (!over) {
        const int got = epoll_wait(epoll, &event, 1, 20);
        if (got < 0)
            complain("epoll_wait", got);
        if (got == 1 && read(numbers, &n, sizeof n) == sizeof n)
            expect("write", write(answers, &n, sizeof n), sizeof n);
    }
    close(epoll);
    return arg;
}

static void *send_numbers(void *arg)
{
    struct pollfd waits = {.fd = answers, .events = POLLIN};

    while (!ends) {
        uint64_t n = 3, sum = 0;
        expect("write", write(numbers, &n, sizeof n), sizeof n);
        expect("poll", poll(&waits, 1, 20000), 1);
        expect("read", read(answers, &sum, sizeof sum), sizeof sum);
        expect("what came back", (long)sum, 3);
    }
    return arg;
}

static void *answer_semaphores(void *arg)
{
    while (!over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        if (sem_timedwait(&asked, &until) == 0)
            sem_post(&told);
        else if (errno != ETIMEDOUT)
            complain("sem_timedwait", -1);
    }
    return arg;
}

static void *ask_semaphores(void *arg)
{
    while (!ends) {
        sem_post(&asked);
        expect("sem_wait", sem_wait(&told), 0);
    }
    return arg;
}

static void *turn_keys(void *arg)
{
    while (!ends) {
        struct sembuf take = {0, -1, 0};
        struct timespec time = {.tv_nsec = 5000000};
        const int got = semtimedop(keys, &take, 1, &time);
        if (got != -1 || errno != EAGAIN)
            complain("semtimedop", got);
    }
    return arg;
}

static void *read_ticks(void *arg)
{
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    const struct itimerspec every = {{0, 1000000}, {0, 1000000}};
    struct timespec before, after;
    uint64_t n, sum = 0;

    clock_gettime(CLOCK_MONOTONIC, &before);
    timerfd_settime(timer, 0, &every, NULL);
    while (!ends) {
        expect("read of ticks", read(timer, &n, sizeof n), sizeof n);
        sum += n;
    }
    clock_gettime(CLOCK_MONOTONIC, &after);
    const double ms = (double)(after.tv_sec - before.tv_sec) * 1e3 +
                      (double)(after.tv_nsec - before.tv_nsec) / 1e6;
    if ((double)sum > ms + 1 || (double)sum < ms - 1000) /* the last ones may be unread */
        complain("ticks", (long)sum);
    close(timer);
    return arg;
}

/* ---- signals ----------------------------------------------------------------------------------*/

enum { ORDERED = 40, SAID = 41 };
static atomic_ulong handled, children_told, alarms;

static void on_signal(int number)
{
    if (number == SIGUSR1)
        handled++;
    else
        alarms++;
}

static void block(int number, int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(how, &set, NULL);
}

/* None is lost, and they come in their order. */
static void *receive_in_order(void *arg)
{
    sigset_t set;
    siginfo_t info;

    sigemptyset(&set);
    sigaddset(&set, ORDERED);
    for (int next = 0;; next++) {
        const struct timespec time = {.tv_sec = 20};
        expect("sigtimedwait", sigtimedwait(&set, &info, &time), ORDERED);
        if (info.si_value.sival_int < 0)
            return arg;
        expect("signal in order", info.si_value.sival_int, next);
        const union sigval value = {.sival_int = next};
        expect("sigqueue", sigqueue(getpid(), SAID, value), 0);
    }
}

static void *send_in_order(void *arg)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SAID);
    const int fd = signalfd(-1, &set, 0);
    struct signalfd_siginfo said;
    for (int i = 0; !ends; i++) {
        const union sigval value = {.sival_int = i};
        expect("sigqueue", sigqueue(getpid(), ORDERED, value), 0);
        expect("signalfd", read(fd, &said, sizeof said), sizeof said);
        expect("signal said", said.ssi_int, i);
    }
    sigqueue(getpid(), ORDERED, (union sigval){.sival_int = -1});
    close(fd);
    return arg;
}

static sem_t ready; /* to be sent signals */
static pthread_t taker;

/* A handler runs once for each signal, and calls that were interrupted by it go on. */
static void *take_signals(void *arg)
{
    taker = pthread_self();
    block(SIGUSR1, SIG_UNBLOCK);
    sem_post(&ready);
    while (!over) {
        struct timespec time = {.tv_nsec = 2000000};
        const int got = clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
        if (got != 0 && got != EINTR)
            complain("clock_nanosleep", got);
    }
    return arg;
}

static void *send_signals(void *arg)
{
    unsigned long n = 0;

    sem_wait(&ready);
    while (!ends) {
        pthread_kill(taker, SIGUSR1);
        n++;
        for (int i = 0; i < 20000 && handled < n; i++)
            rest(100000);
        expect("handled", (long)handled, (long)n);
    }
    return arg;
}

/* ---- locks and sums ---------------------------------------------------------------------------*/

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static unsigned long turns;

static void *take_turns(void *mine)
{
    const unsigned long which = (unsigned long)(uintptr_t)mine;

    pthread_mutex_lock(&lock);
    while (!ends) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 20;
        while (turns % 2 != which && !ends)
            if (pthread_cond_timedwait(&turned, &lock, &until) == ETIMEDOUT && !ends)
                complain("a turn that did not come", (long)turns);
        turns++;
        pthread_cond_broadcast(&turned);
    }
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static double compute(void)
{
    double sums[8] = {0};

    for (int i = 1; i < 20000; i++)
        for (int k = 0; k < 8; k++)
            sums[k] += 1.0 / (i + k) - sums[(k + 3) & 7] * 1e-3;
    return sums[0] + sums[1] * 2 + sums[5] * 3 + sums[7];
}

static void *compute_alike(void *arg)
{
    const double right = compute();

    while (!ends) {
        const double again = compute();
        if (memcmp(&right, &again, sizeof right))
            complain("another sum", (long)(again * 1e6));
    }
    return arg;
}

static void *do_nothing(void *arg)
{
    return arg;
}

static void *begin_threads(void *arg)
{
    pthread_t thread;

    while (!ends) {
        expect("pthread_create", pthread_create(&thread, NULL, do_nothing, NULL), 0);
        expect("pthread_join", pthread_join(thread, NULL), 0);
        rest(1000000);
    }
    return arg;
}

/* ---- children ---------------------------------------------------------------------------------*/

static void *count_children(void *arg)
{
    sigset_t set;
    siginfo_t info;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    while (!ends) {
        const struct timespec time = {.tv_nsec = 20000000};
        const int got = sigtimedwait(&set, &info, &time);
        if (got == SIGCHLD)
            children_told++;
        else if (errno != EAGAIN)
            complain("sigtimedwait of children", got);
    }
    return arg;
}

static pid_t make_child(int i)
{
    char *const words[] = {"true", NULL};
    pid_t child = -1;

    if (i % 20 == 19) {
        expect("posix_spawnp", posix_spawnp(&child, "true", NULL, NULL, words, environ), 0);
        return child;
    }
    child = fork();
    if (child == 0)
        _exit(i % 7);
    return child;
}

static void make_and_wait(int i)
{
    const int wanted = i % 20 == 19 ? 0 : i % 7;
    const pid_t child = make_child(i);
    int status = 0;

    expect("waitpid of whom", waitpid(-1, &status, __WALL), child);
    expect("status", status, wanted << 8);
    errno = 0;
    if (waitpid(-1, &status, WNOHANG | __WALL) != -1 || errno != ECHILD)
        complain("a child that nobody made", status);
}

static bool input_has_ended(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};

    return poll(&input, 1, 0) == 1;
}

int main(int argc, char **argv)
{
    void *(*const parts[])(void *) = {
        send_numbers,     ask_semaphores, turn_keys,   read_ticks,        send_in_order,
        receive_in_order, send_signals,   take_turns,  compute_alike,     take_turns,
        begin_threads,    count_children, add_numbers, answer_semaphores, take_signals,
    };
    enum { PARTS = sizeof parts / sizeof *parts, ANSWER = PARTS - 3, TURNS = 7 };
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    const struct itimerval every = {{0, 7000}, {0, 7000}};
    pthread_t threads[PARTS];
    int i = 0;

    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    numbers = eventfd(0, 0);
    answers = eventfd(0, 0);
    sem_init(&asked, 0, 0);
    sem_init(&told, 0, 0);
    sem_init(&ready, 0, 0);
    keys = semget(IPC_PRIVATE, 1, 0600);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    for (int number = 1; number < 65; number++)
        if (number == SIGCHLD || number == SIGUSR1 || number == ORDERED || number == SAID ||
            number == SIGALRM)
            block(number, SIG_BLOCK);
    for (int k = 0; k < PARTS; k++)
        pthread_create(&threads[k], NULL, parts[k], (void *)(uintptr_t)(k == TURNS));
    block(SIGALRM, SIG_UNBLOCK); /* of the main thread's waits */
    setitimer(ITIMER_REAL, &every, NULL);
    puts("ready");
    for (; argc > 1 ? i < atoi(argv[1]) : !input_has_ended(); i++)
        make_and_wait(i);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    ends = true;
    for (int k = 0; k < PARTS; k++) {
        over = k == ANSWER || over;
        pthread_join(threads[k], NULL);
    }
    semctl(keys, 0, IPC_RMID);
    if (!children_told || children_told > (unsigned long)i)
        complain("told of children", (long)children_told);
    if (!alarms || !handled || !turns)
        complain("nothing happened", (long)alarms);
    puts(wrong ? "it noticed" : "nothing noticed");
    return wrong ? 3 : 7;
}
