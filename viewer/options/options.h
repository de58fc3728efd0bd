/* The options of the commands, as options.def lists them: one loop reads them for all. */
#ifndef SEEP_VIEWER_OPTIONS_H
#define SEEP_VIEWER_OPTIONS_H

#include <stdbool.h>

enum seep_option {
#define SEEP_OPTION(id, ...) SEEP_OPTION_##id,
#include "viewer/options/options.def"
#undef SEEP_OPTION
    SEEP_N_OPTIONS
};

struct seep_option_given {
    enum seep_option option;
    const char *from;  /* where it was given: "--gpu", "SEEP_GPU" */
    const char *value; /* NULL: it has none */
};

/* Takes an option for a command, whose own data is `to`. False after a complaint. */
typedef bool seep_option_taker(void *to, const struct seep_option_given *given);

/* Hands the options of the command argv[0] to `take`, one by one, until one is not taken; handles
 * --help and --color here, since they mean the same everywhere. Returns −1 to go on, with optind at
 * the first word that is not an option, or the exit status: after help, or after a complaint. Texts
 * are argv's. */
int seep_options_read(int argc, char **argv, seep_option_taker *take, void *to);

/* The same for the command's variables: empty ones, and flags that say no, count as not given.
 * False where one is not taken. Texts are the environment's. */
bool seep_options_read_variables(const char *command, seep_option_taker *take, void *to);

/* The index of the value among the words, or −1 after a complaint that lists them. */
int seep_option_choose(const struct seep_option_given *given, const char *const *words, int n);

/* The same, with the words of the option's argument ("count|full") from its row. */
int seep_option_word(const struct seep_option_given *given);

/* A number of seconds from `least` to `most`. Returns whether it is one, after a complaint if not.
 */
bool seep_option_seconds(const struct seep_option_given *given, double least, double most,
                         double *seconds);

#endif
