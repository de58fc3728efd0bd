#include "libprof/words/exit_words.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* A table of our own: glibc has the names only from 2.32 on. */
#define NAMED(name) [SIG##name] = #name
static const char *const signal_names[] = {
    NAMED(HUP),  NAMED(INT),    NAMED(QUIT), NAMED(ILL),  NAMED(TRAP),   NAMED(ABRT), NAMED(BUS),
    NAMED(FPE),  NAMED(KILL),   NAMED(USR1), NAMED(SEGV), NAMED(USR2),   NAMED(PIPE), NAMED(ALRM),
    NAMED(TERM), NAMED(STKFLT), NAMED(CHLD), NAMED(CONT), NAMED(STOP),   NAMED(TSTP), NAMED(TTIN),
    NAMED(TTOU), NAMED(URG),    NAMED(XCPU), NAMED(XFSZ), NAMED(VTALRM), NAMED(PROF), NAMED(WINCH),
    NAMED(POLL), NAMED(PWR),    NAMED(SYS),
};
#undef NAMED

const char *seep_exit_signal_text(int number, char text[SEEP_EXIT_TEXT])
{
    const bool known = number > 0 && (size_t)number < sizeof signal_names / sizeof *signal_names;
    const char *name = known ? signal_names[number] : NULL;

    if (name)
        snprintf(text, SEEP_EXIT_TEXT, "killed by SIG%s", name);
    else
        snprintf(text, SEEP_EXIT_TEXT, "killed by signal %d", number);
    return text;
}
