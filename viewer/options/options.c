#include "viewer/options/options.h"

#include "libprof/base/text.h"
#include "viewer/colour.h"
#include "viewer/viewer.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What getopt_long() returns for the first row; below it are letters, '?' and ':'. */
enum { FIRST = 256 };
enum { MAX_WORDS = 16 }; /* in one argument */

struct row {
    const char *commands;
    const char *name;     /* "--output" */
    const char *argument; /* NULL: a flag */
    const char *variable;
    char letter;
};

static const struct row rows[SEEP_N_OPTIONS] = {
#define SEEP_OPTION(id, commands, letter, name, argument, suggestions, variable, text)             \
    [SEEP_OPTION_##id] = {commands, "--" name, argument, variable, letter},
#include "viewer/options/options.def"
#undef SEEP_OPTION
};

static bool is_word_of(const char *word, const char *list, char between)
{
    size_t n = strlen(word);

    for (const char *at = list; at; at = strchr(at, between), at = at ? at + 1 : NULL) {
        if (strncmp(at, word, n) == 0 && (at[n] == between || !at[n]))
            return true;
    }
    return false;
}

static bool ends_at_first_word(const char *command)
{
    enum { JOB, FOLDERS, FILES, PROCESS, COMMAND, NONE };
    static const struct {
        const char *name;
        int words;
    } commands[] = {
#define SEEP_COMMAND(name, words, text) {#name, words},
#include "viewer/options/commands.def"
#undef SEEP_COMMAND
    };

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, command) == 0)
            return commands[i].words == JOB;
    }
    return false;
}

/* The options in the form that getopt_long() takes. */
struct accepted {
    struct option names[SEEP_N_OPTIONS + 1]; /* ends with zeros */
    char letters[2 * SEEP_N_OPTIONS + sizeof "+:"];
};

static void accept(struct accepted *a, const char *command)
{
    size_t n = 0;
    char *letter = a->letters;

    memset(a, 0, sizeof *a);
    if (ends_at_first_word(command))
        *letter++ = '+';
    *letter++ = ':';
    for (int i = 0; i < SEEP_N_OPTIONS; i++) {
        const struct row *row = &rows[i];
        int has = !row->argument          ? no_argument
                  : *row->argument == '[' ? optional_argument
                                          : required_argument;
        if (!is_word_of(command, row->commands, ' '))
            continue;
        a->names[n++] = (struct option){row->name + 2, has, NULL, FIRST + i};
        if (row->letter) {
            *letter++ = row->letter;
            if (has == required_argument)
                *letter++ = ':';
        }
    }
}

/* The row for a return value of getopt_long(), or NULL after a complaint. */
static const struct row *accepted_row(int got, const struct accepted *a, char **argv)
{
    const char *word = optind > 0 && argv[optind - 1] ? argv[optind - 1] : "";

    if (got >= FIRST)
        return &rows[got - FIRST];
    for (const struct option *o = a->names; got != '?' && got != ':' && o->name; o++) {
        if (rows[o->val - FIRST].letter == got)
            return &rows[o->val - FIRST];
    }
    if (got == ':')
        seep_complain("option %s needs a value: see `seep help %s`", word, argv[0]);
    else if (optopt && strncmp(word, "--", 2) != 0)
        seep_complain("unknown option -%c: see `seep help %s`", optopt, argv[0]);
    else
        seep_complain("unknown option %s: see `seep help %s`", word, argv[0]);
    return NULL;
}

/* --color means the same for every command that has it. */
static bool take_colour(const struct seep_option_given *given)
{
    int place = seep_option_word(given);

    seep_colour_choose(place < 0 ? SEEP_COLOUR_AUTO : (enum seep_colour)place);
    return place >= 0;
}

int seep_options_read(int argc, char **argv, seep_option_taker *take, void *to)
{
    struct accepted a;

    accept(&a, argv[0]);
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, a.letters, a.names, NULL)) != -1;) {
        const struct row *row = accepted_row(c, &a, argv);
        if (!row)
            return SEEP_EXIT_UNUSABLE;
        const struct seep_option_given given = {(enum seep_option)(row - rows), row->name, optarg};
        if (given.option == SEEP_OPTION_HELP)
            return seep_help_print(argv[0]);
        if (!(given.option == SEEP_OPTION_COLOR ? take_colour(&given) : take(to, &given)))
            return SEEP_EXIT_UNUSABLE;
    }
    return -1;
}

static bool says_no(const char *value)
{
    static const char *const no[] = {"0", "no", "off", "false"};

    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        if (strcasecmp(value, no[i]) == 0)
            return true;
    }
    return false;
}

bool seep_options_read_variables(const char *command, seep_option_taker *take, void *to)
{
    for (int i = 0; i < SEEP_N_OPTIONS; i++) {
        const struct row *row = &rows[i];
        if (!row->variable || !is_word_of(command, row->commands, ' '))
            continue;
        const char *value = getenv(row->variable);
        if (!value || !*value || (!row->argument && says_no(value)))
            continue;
        const struct seep_option_given given = {(enum seep_option)i, row->variable,
                                                row->argument ? value : NULL};
        if (!take(to, &given))
            return false;
    }
    return true;
}

int seep_option_choose(const struct seep_option_given *given, const char *const *words, int n)
{
    char known[512];

    for (int i = 0; i < n; i++) {
        if (strcmp(given->value, words[i]) == 0)
            return i;
    }
    seep_complain("%s %s is not known: choose %s", given->from, given->value,
                  seep_text_list(words, (size_t)n, " or ", known, sizeof known));
    return -1;
}

int seep_option_word(const struct seep_option_given *given)
{
    const char *words[MAX_WORDS];
    char argument[256], *rest = argument;
    int n = 0;

    snprintf(argument, sizeof argument, "%s", rows[given->option].argument);
    while (rest && n < MAX_WORDS)
        words[n++] = strsep(&rest, "|");
    return seep_option_choose(given, words, n);
}

bool seep_option_seconds(const struct seep_option_given *given, double least, double most,
                         double *seconds)
{
    char *end;

    *seconds = strtod(given->value, &end);
    if (end != given->value && !*end && *seconds >= least && *seconds <= most)
        return true;
    seep_complain("%s %s is not a number of seconds: choose one from %.15g to %.15g", given->from,
                  given->value, least, most);
    return false;
}
