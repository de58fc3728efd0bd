#include "libprof/runtime/store/own_time.h"

#include "libprof/runtime/store/os.h"

static const uint64_t look_gap_ns = 10 * 1000 * 1000; /* a look takes 4 us */

static uint64_t looked_ns, waited_ns, last_ns;

static const char *skip_number(const char *text, uint64_t *number)
{
    *number = 0;
    while (*text >= '0' && *text <= '9')
        *number = *number * 10 + (uint64_t)(*text++ - '0');
    return text;
}

/* "RAN WAITED SLICES". */
uint64_t seep_own_time_waited(const char *schedstat)
{
    uint64_t ran, waited;
    const char *end = skip_number(schedstat, &ran);
    if (end == schedstat || *end != ' ')
        return 0;
    const char *second = end + 1;
    end = skip_number(second, &waited);
    return end == second || *end != ' ' ? 0 : waited;
}

static void look(void)
{
    char text[80];
    if (seep_os_read_file("/proc/thread-self/schedstat", text, sizeof(text)) <= 0)
        return;
    const uint64_t waited = seep_own_time_waited(text);
    waited_ns = waited > waited_ns ? waited : waited_ns;
}

uint64_t seep_own_time_ns(void)
{
    const uint64_t now = seep_os_clock_ns(CLOCK_MONOTONIC);
    if (now - looked_ns >= look_gap_ns) {
        looked_ns = now;
        look();
    }
    const uint64_t own = now - waited_ns;
    last_ns = own > last_ns ? own : last_ns;
    return last_ns;
}

void seep_own_time_after_fork(void)
{
    looked_ns = waited_ns = last_ns = 0;
}
