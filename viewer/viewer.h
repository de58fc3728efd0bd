/* What the subcommands of `seep` share. Programs end through their return values; messages for the
 * user are one line on stderr, "seep: what went wrong: what to do". */
#ifndef SEEP_VIEWER_VIEWER_H
#define SEEP_VIEWER_VIEWER_H

#ifndef SEEP_VERSION
#define SEEP_VERSION "unknown"
#endif

/* Exit statuses of `run` that are not the job's (as in env(1)), and those of all other commands. */
enum {
    SEEP_EXIT_FAILED = 125,     /* seep itself failed */
    SEEP_EXIT_CANNOT_RUN = 126, /* found, not runnable */
    SEEP_EXIT_NOT_FOUND = 127,
    SEEP_EXIT_UNUSABLE = 2, /* nothing readable, or bad usage */
};

/* The subcommands: argv[0] is the name; they return the exit status. */
#define SEEP_COMMAND(name, ...) int seep_##name##_main(int argc, char **argv);
#include "viewer/options/commands.def"
#undef SEEP_COMMAND

/* Prints "seep: " and the formatted line on stderr, control characters replaced. Never fails. */
void seep_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The page of a command ("seep" is the overview), or NULL. Plain text, ends with a newline. */
const char *seep_help_page(const char *name);

/* Prints the page of a command on stdout; returns 0, or SEEP_EXIT_UNUSABLE where there is none. */
int seep_help_print(const char *name);

#endif
