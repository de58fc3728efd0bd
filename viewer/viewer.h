/* What the subcommands of `seep` share. Programs end through their return values; messages for the
 * user are one line on stderr, "seep: what went wrong: what to do". */
#ifndef SEEP_VIEWER_VIEWER_H
#define SEEP_VIEWER_VIEWER_H

#include <stdbool.h>

#ifndef SEEP_VERSION
#define SEEP_VERSION "unknown"
#endif

/* Exit statuses of `run` that are not the job's (env(1)), and of all other commands. */
enum {
    SEEP_EXIT_FAILED = 125,     /* seep itself failed */
    SEEP_EXIT_CANNOT_RUN = 126, /* found, not runnable */
    SEEP_EXIT_NOT_FOUND = 127,
    SEEP_EXIT_UNUSABLE = 2, /* nothing readable, or bad usage */
};

/* A subcommand: argv[0] is its name; returns the exit status. */
struct seep_command {
    const char *name;
    const char *summary; /* one line for the list of commands */
    int (*main)(int argc, char **argv);
};

extern const struct seep_command seep_commands[]; /* ends with a NULL name */

int seep_run_main(int argc, char **argv);
int seep_report_main(int argc, char **argv);
int seep_view_main(int argc, char **argv);
int seep_top_main(int argc, char **argv);
int seep_check_main(int argc, char **argv);
int seep_verify_main(int argc, char **argv);
int seep_diff_main(int argc, char **argv);
int seep_export_main(int argc, char **argv);
int seep_doctor_main(int argc, char **argv);
int seep_help_main(int argc, char **argv);
int seep_version_main(int argc, char **argv);

/* Prints "seep: " and the formatted line on stderr, control characters replaced. Never fails. */
void seep_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Complains about what getopt_long() did not take (its result in `opt`, '?' or ':') and names the
 * command's help. argv and optind as getopt_long() left them. */
void seep_complain_option(const char *command, int opt, char **argv);

/* The page of a command ("seep" is the overview), or NULL. Plain text, ends with a newline. */
const char *seep_help_page(const char *name);

/* Prints the page of a command on stdout; returns 0, or SEEP_EXIT_UNUSABLE where there is none. */
int seep_help_print(const char *name);

/* True where the flag variable `name` is set to something other than "", "0", "no", "off", "false".
 */
bool seep_env_flag(const char *name);

#endif
