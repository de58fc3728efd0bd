#include "viewer/look/look_options.h"

#include "libprof/print/look_text.h"
#include "viewer/options/options.h"
#include "viewer/viewer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVERY_S = 60, MAX_S = 7 * 86400 };

static const struct seep_output_format formats[] = {
    {"text", seep_look_text}, {"json", seep_output_json}, {NULL, NULL}};

/* "90", "90s", "1.5m", "2h". */
static bool take_time(const struct seep_option_given *given, double *to)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
    char *end;
    const double n = strtod(given->value, &end);

    for (size_t i = 0; i < sizeof units / sizeof *units && end > given->value; i++) {
        *to = n * units[i].seconds;
        if (strcmp(end, units[i].unit) == 0 && *to >= 0.1 && *to <= MAX_S)
            return true;
    }
    seep_complain("%s: \"%s\" is no time: give seconds, or 90s, 10m, 2h; 0.1 seconds to a week",
                  given->from, given->value);
    return false;
}

static bool take_times(const struct seep_option_given *given, long *to)
{
    char *end;

    *to = strtol(given->value, &end, 10);
    if (end > given->value && !*end && *to >= 1 && *to <= SEEP_MOST_LOOKS)
        return true;
    seep_complain("%s: \"%s\" is no number of looks: give 1 to %d", given->from, given->value,
                  SEEP_MOST_LOOKS);
    return false;
}

static bool take_option(void *to, const struct seep_option_given *given)
{
    struct seep_look_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_LOOK_FORMAT:
        return (o->format = seep_output_choose(formats, given));
    case SEEP_OPTION_OUTPUT:
        return (o->out = given->value);
    case SEEP_OPTION_EVERY:
        return take_time(given, &o->every_s);
    case SEEP_OPTION_TIMES:
        return take_times(given, &o->times);
    case SEEP_OPTION_EACH_LINE:
        return (o->each_line = true);
    case SEEP_OPTION_EXE:
        return (o->program = given->value);
    case SEEP_OPTION_OPEN:
        return (o->open = true);
    case SEEP_OPTION_TREE:
        return (o->tree = true);
    case SEEP_OPTION_BY_COPY:
        return (o->way = SEEP_LOOK_BY_COPY) != SEEP_LOOK_CHOSEN;
    case SEEP_OPTION_BY_STOP:
        return (o->way = SEEP_LOOK_BY_STOP) != SEEP_LOOK_CHOSEN;
    case SEEP_OPTION_LIVE:
        return (o->way = SEEP_LOOK_LIVE) != SEEP_LOOK_CHOSEN;
    default:
        return false;
    }
}

/* When to look, where not all of it was said. */
static void settle(struct seep_look_options *o)
{
    if (!o->times)
        o->times = o->each_line ? SEEP_MOST_LOOKS : o->every_s > 0 ? 3 : 1;
    if (o->every_s <= 0)
        o->every_s = EVERY_S;
}

/* A number is a process; a core file with such a name is given as ./1234. */
static bool take_what(struct seep_look_options *o, const char *word)
{
    char *end;
    const long number = strtol(word, &end, 10);

    if (end > word && !*end && number >= 1 && number <= INT32_MAX) {
        o->pid = (pid_t)number;
        return true;
    }
    if (access(word, F_OK) == 0)
        return (o->core = word);
    seep_complain(
        "\"%s\" is no number of a process, and there is no such core file: try `seep look "
        "PID`",
        word);
    return false;
}

static bool is_timed(const struct seep_look_options *o)
{
    return o->times || o->every_s > 0;
}

/* What only a process or only a core file can be asked. */
static bool fits(const struct seep_look_options *o)
{
    if (o->core && (o->way != SEEP_LOOK_CHOSEN || o->tree || o->each_line || is_timed(o)))
        seep_complain("%s: a core file is looked at once, by itself: give no other option than "
                      "--exe, --format and --output",
                      o->core);
    else if (!o->core && o->program)
        seep_complain("--exe: process %d has its program: give --exe for a core file", (int)o->pid);
    else if (o->each_line && is_timed(o))
        seep_complain("--each-line: the lines say when to look: leave out --every and --times");
    else
        return true;
    return false;
}

int seep_look_options_read(int argc, char **argv, struct seep_look_options *o)
{
    *o = (struct seep_look_options){.format = formats};
    const int status = seep_options_read(argc, argv, take_option, o);
    if (status >= 0)
        return status;
    if (optind + 1 != argc) {
        seep_complain("%s: try `seep look PID`",
                      optind == argc ? "no process is given" : "only one process can be looked at");
        return SEEP_EXIT_UNUSABLE;
    }
    if (!take_what(o, argv[optind]) || !fits(o))
        return SEEP_EXIT_UNUSABLE;
    settle(o);
    return -1;
}
