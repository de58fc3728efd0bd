#include "kernels/lab/lab.h"

#include "libprof/base/size_parse.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option long_options[] = {
    {"variant", required_argument, NULL, 'v'},  {"device", required_argument, NULL, 'd'},
    {"scale", required_argument, NULL, 's'},    {"data", required_argument, NULL, 'D'},
    {"seed", required_argument, NULL, 'S'},     {"epochs", required_argument, NULL, 'e'},
    {"output", required_argument, NULL, 'o'},   {"pictures", required_argument, NULL, 'p'},
    {"format", required_argument, NULL, 'f'},   {"json", no_argument, NULL, 'j'},
    {"capacity", required_argument, NULL, 'c'}, {"keep", required_argument, NULL, 'k'},
    {"measured", required_argument, NULL, 'm'}, {"images", required_argument, NULL, 'i'},
    {"save", required_argument, NULL, 'a'},     {"jobs", required_argument, NULL, 'J'},
    {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
};

static bool take_number(const char *text, double *value)
{
    char *end;

    errno = 0;
    *value = strtod(text, &end);
    return end != text && !*end && !errno && isfinite(*value);
}

static bool take_count(const char *text, uint64_t most, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno && *value <= most;
}

static bool take_scale(const char *text, struct seep_lab_arguments *a)
{
    if (take_number(text, &a->scale) && a->scale > 0 && a->scale <= 1)
        return true;
    seep_lab_complain("--scale cannot be %s: give a number above 0 and at most 1", text);
    return false;
}

static bool take_device(const char *text, struct seep_lab_arguments *a)
{
    a->device = strcmp(text, "cuda") == 0 ? SEEP_DEVICE_CUDA : SEEP_DEVICE_CPU;
    if (a->device == SEEP_DEVICE_CUDA || strcmp(text, "cpu") == 0)
        return true;
    seep_lab_complain("unknown device %s: choose cpu or cuda", text);
    return false;
}

static bool take_format(const char *text, struct seep_lab_arguments *a)
{
    a->json = strcmp(text, "json") == 0;
    if (a->json || strcmp(text, "text") == 0)
        return true;
    seep_lab_complain("unknown format %s: choose text or json", text);
    return false;
}

static bool take_integer(const char *what, const char *text, uint64_t most, uint64_t *value)
{
    if (take_count(text, most, value))
        return true;
    seep_lab_complain("--%s cannot be %s: give a whole number from 0 to %llu", what, text,
                      (unsigned long long)most);
    return false;
}

/* A GPU of less has no room for a segment; one of more has no addresses. */
static const uint64_t least_capacity = (uint64_t)2 << 20, most_capacity = (uint64_t)1 << 40;

static bool take_capacity(const char *text, struct seep_lab_arguments *a)
{
    if (seep_size_parse(text, &a->capacity) == 0 && a->capacity >= least_capacity &&
        a->capacity <= most_capacity)
        return true;
    seep_lab_complain("--capacity cannot be %s: give a size such as 1.05GB, from 2M to 1T", text);
    return false;
}

static bool take(int c, const char *text, struct seep_lab_arguments *a)
{
    uint64_t number = 0;
    bool good = true;
    const char **word = c == 'v'   ? &a->variant
                        : c == 'D' ? &a->data
                        : c == 'o' ? &a->out
                        : c == 'p' ? &a->pictures
                        : c == 'i' ? &a->images
                        : c == 'a' ? &a->save
                        : c == 'k' ? &a->keep
                        : c == 'm' ? &a->measured
                                   : NULL;

    if (word) {
        good = *text != '\0';
        *word = text;
        if (!good)
            seep_lab_complain("the value of an option is empty: see `seep-lab --help`");
        return good;
    }
    switch (c) {
    case 's':
        return take_scale(text, a);
    case 'd':
        return take_device(text, a);
    case 'f':
        return take_format(text, a);
    case 'c':
        return take_capacity(text, a);
    case 'S':
        return take_integer("seed", text, UINT64_MAX, &a->seed);
    case 'J':
        good = take_integer("jobs", text, 64, &number);
        a->jobs = (unsigned)number;
        return good;
    case 'e':
        good = take_integer("epochs", text, 1000, &number);
        a->epochs = (unsigned)number;
        return good;
    default:
        a->json = true;
        return true;
    }
}

int seep_lab_read_arguments(int argc, char **argv, const char *allowed,
                            struct seep_lab_arguments *a)
{
    *a = (struct seep_lab_arguments){.scale = 0.01, .seed = 1};
    opterr = 0;
    optind = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1;) {
        const char *word = optind > 0 && argv[optind - 1] ? argv[optind - 1] : "";
        if (c == 'h')
            return seep_lab_help();
        if (c == ':') {
            seep_lab_complain("option %s needs a value: see `seep-lab --help`", word);
            return SEEP_LAB_UNUSABLE;
        }
        if (c == '?' || !strchr(allowed, c)) {
            if (c == '?' && optopt && strncmp(word, "--", 2) != 0)
                seep_lab_complain("unknown option -%c: see `seep-lab --help`", optopt);
            else
                seep_lab_complain("%s does not take this option (%s): see `seep-lab --help`",
                                  argv[0], word);
            return SEEP_LAB_UNUSABLE;
        }
        if (!take(c, optarg, a))
            return SEEP_LAB_UNUSABLE;
    }
    a->words = argv + optind;
    a->n_words = argc - optind;
    return -1;
}

bool seep_lab_is_chosen(const struct seep_lab_arguments *a, const char *name)
{
    bool chosen = a->n_words == 0;

    for (int i = 0; i < a->n_words; i++)
        chosen |= strcmp(a->words[i], name) == 0;
    return chosen;
}

/* "none, bucketed, expandable" */
static void list_variants(const struct seep_scenario *scenario, char *text, size_t capacity)
{
    size_t n = 0;

    text[0] = '\0';
    for (const struct seep_variant *v = scenario->variants; v->name && n < capacity; v++) {
        int more = snprintf(text + n, capacity - n, "%s%s", n ? ", " : "", v->name);
        n += more > 0 ? (size_t)more : 0;
    }
}

bool seep_lab_takes_capacity(const struct seep_scenario *scenario,
                             const struct seep_lab_arguments *a)
{
    if (!a->capacity || scenario->has_capacity)
        return true;
    seep_lab_complain("%s has no GPU that can be full: omit --capacity", scenario->name);
    return false;
}

bool seep_lab_takes_device(const struct seep_scenario *scenario, const struct seep_lab_arguments *a)
{
    if (a->device == SEEP_DEVICE_CPU || scenario->uses_device)
        return true;
    seep_lab_complain("%s does not use a GPU: omit --device", scenario->name);
    return false;
}

bool seep_lab_takes_data(const struct seep_scenario *scenario, const struct seep_lab_arguments *a)
{
    if (!a->data || scenario->make_data)
        return true;
    seep_lab_complain("%s reads no input: omit --data", scenario->name);
    return false;
}

bool seep_lab_take_variant(const char *command, const struct seep_lab_arguments *a,
                           const struct seep_scenario **scenario,
                           const struct seep_variant **variant)
{
    char names[256];

    if (a->n_words != 1) {
        seep_lab_complain("%s takes one scenario: `seep-lab list` shows them", command);
        return false;
    }
    *scenario = seep_lab_find_scenario(a->words[0]);
    if (!*scenario) {
        seep_lab_complain("unknown scenario %s: `seep-lab list` shows them all", a->words[0]);
        return false;
    }
    if (!seep_lab_takes_device(*scenario, a) || !seep_lab_takes_data(*scenario, a) ||
        !seep_lab_takes_capacity(*scenario, a))
        return false;
    if ((a->pictures || a->images || a->save) && !(*scenario)->trains_gaussians) {
        seep_lab_complain("%s trains no Gaussians: omit %s", (*scenario)->name,
                          a->pictures ? "--pictures"
                          : a->save   ? "--save"
                                      : "--images");
        return false;
    }
    if (a->images && !a->data) {
        seep_lab_complain("--images is a folder of the input: add --data DIR");
        return false;
    }
    *variant = a->variant ? seep_lab_find_variant(*scenario, a->variant) : NULL;
    if (*variant)
        return true;
    list_variants(*scenario, names, sizeof names);
    if (a->variant)
        seep_lab_complain("%s has no variant %s: choose one of %s", (*scenario)->name, a->variant,
                          names);
    else
        seep_lab_complain("%s needs a variant: add --variant with one of %s", (*scenario)->name,
                          names);
    return false;
}
