#include "libprof/gate/budget.h"

#include "libprof/base/hash_index.h"
#include "libprof/base/size_parse.h"
#include "libprof/base/text.h"
#include "libprof/base/toml.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/patterns.h"
#include "libprof/words/space.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const process_roles[] = {
#define SEEP_PROCESS_ROLE(id, name) name,
#include "libprof/words/process_roles.def"
#undef SEEP_PROCESS_ROLE
};
enum { N_PROCESS_ROLES = sizeof process_roles / sizeof *process_roles };

/* ---- names ------------------------------------------------------------------------------- */

/* The index of a name in a list, or −1. */
static int place_of(const char *name, const char *const *list, int n)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(name, list[i]) == 0)
            return i;
    }
    return -1;
}

/* Reports a name that is none of the known ones. */
static int not_one_of(const char *name, const char *what, const char *const *list, int n,
                      const char *where, struct seep_error *err)
{
    char known[256];

    return seep_error_set(err, SEEP_EINVAL, where, 0, "%.60s is not a %s: choose %s", name, what,
                          seep_text_list(list, (size_t)n, " or ", known, sizeof known));
}

static bool is_pattern(const char *name)
{
    enum seep_pattern pattern;

    return seep_pattern_find(name, &pattern);
}

/* ---- lines ------------------------------------------------------------------------------- */

static int add_line(struct seep_budget *budget, const struct seep_budget_line *line)
{
    for (size_t i = 0; i < budget->n_lines; i++) {
        struct seep_budget_line *old = &budget->lines[i];
        if (old->kind == line->kind && old->counted == line->counted &&
            strcmp(old->space, line->space) == 0 && strcmp(old->process, line->process) == 0 &&
            strcmp(old->holder, line->holder) == 0) {
            old->limit = line->limit;
            old->pace = line->pace;
            return 0;
        }
    }
    if (seep_grow(&budget->lines, &budget->lines_capacity, budget->n_lines + 1,
                  sizeof *budget->lines))
        return -SEEP_ENOMEM;
    budget->lines[budget->n_lines++] = *line;
    return 0;
}

static int set_space(struct seep_budget_line *line, const char *name, const char *where,
                     struct seep_error *err)
{
    struct seep_space_name space = seep_space_parse(name);

    if (strcmp(name, SEEP_BUDGET_RSS) != 0 && !seep_space_is_known(&space))
        return not_one_of(name, "space", seep_space_names, SEEP_CLASS_OTHER, where, err);
    snprintf(line->space, sizeof line->space, "%.20s", name);
    return 0;
}

static int set_counted(struct seep_budget_line *line, const char *name, const char *where,
                       struct seep_error *err)
{
    int severity = place_of(name, seep_severities, SEEP_N_SEVERITIES);
    enum seep_pattern pattern;
    char known[256];

    if (severity >= 0)
        line->counted = seep_severities[severity];
    else if (seep_pattern_find(name, &pattern))
        line->counted = seep_pattern_name(pattern);
    else
        return seep_error_set(
            err, SEEP_EINVAL, where, 0,
            "%.60s is neither a severity nor a pattern: choose %s, or a pattern that "
            "`seep help check` lists",
            name, seep_text_list(seep_severities, SEEP_N_SEVERITIES, " or ", known, sizeof known));
    return 0;
}

static int parse_count(const char *text, uint64_t *n)
{
    size_t digits = strspn(text, "0123456789");

    if (digits < 1 || digits > 9 || text[digits])
        return -SEEP_EINVAL;
    *n = strtoull(text, NULL, 10);
    return 0;
}

int seep_budget_add(struct seep_budget *budget, enum seep_budget_kind kind, const char *text,
                    struct seep_error *err)
{
    struct seep_budget_line line = {.kind = kind};
    bool counts = kind == SEEP_BUDGET_FINDINGS;
    const char *equals = strchr(text, '=');
    char name[32];

    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
        return seep_error_set(err, SEEP_EINVAL, "", 0, "%.60s is not a budget: write it as %s",
                              text, counts ? "leak=0" : "host=64MiB");
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    int rc = counts ? set_counted(&line, name, "", err) : set_space(&line, name, "", err);
    if (rc)
        return rc;
    if (counts ? parse_count(equals + 1, &line.limit) : seep_size_parse(equals + 1, &line.limit))
        return seep_error_set(err, SEEP_EINVAL, "", 0, "%.60s is not a %s: write it as %s",
                              equals + 1, counts ? "number of findings" : "size",
                              counts ? "0, 1 or 2" : "64MiB, 1.5GB or 4096");
    return add_line(budget, &line);
}

/* ---- the file's parts -------------------------------------------------------------------- */

/* `known` ends with NULL. `where`: of the table, "" for the file's own keys. */
static int bad_key(const char *file, const char *where, const char *key, const char *const *known,
                   struct seep_error *err)
{
    const char *near = seep_text_nearest(key, known);
    char list[160], table[80] = "";
    size_t n = 0;

    while (known[n])
        n++;
    if (*where)
        snprintf(table, sizeof table, " in [%.60s]", where);
    return near ? seep_error_set(err, SEEP_EINVAL, file, 0, "unknown key %.60s%s; did you mean %s?",
                                 key, table, near)
                : seep_error_set(err, SEEP_EINVAL, file, 0, "unknown key %.60s%s: choose %s", key,
                                 table, seep_text_list(known, n, " or ", list, sizeof list));
}

static int no_table(const char *file, const char *where, struct seep_error *err)
{
    return seep_error_set(err, SEEP_EINVAL, file, 0, "%.60s must be a table", where);
}

static int take_size(const char *file, const char *where, const json_t *value, uint64_t *bytes,
                     struct seep_error *err)
{
    const char *text = json_string_value(value);
    json_int_t n = json_is_integer(value) ? json_integer_value(value) : -1;

    if (text && seep_size_parse(text, bytes) == 0)
        return 0;
    if (n < 0)
        return seep_error_set(
            err, SEEP_EINVAL, file, 0,
            "%.60s is not a size: write \"64MiB\", \"1.5GB\" or a number of bytes", where);
    *bytes = (uint64_t)n;
    return 0;
}

static int take_count(const char *file, const char *where, const json_t *value, uint64_t *n,
                      struct seep_error *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return seep_error_set(err, SEEP_EINVAL, file, 0,
                              "%.60s is not a whole number: write 0, 1, 2 …", where);
    *n = (uint64_t)json_integer_value(value);
    return 0;
}

/* The budget that a file's tables fill, and the file's name for errors. */
struct taking {
    struct seep_budget *budget;
    const char *file;
    struct seep_error *err;
};

struct member {
    const char *table, *path, *key; /* path: table.key */
    json_t *value;
};

/* Takes one member of a table; `line` has what is known of the budget line so far. */
typedef int take_fn(const struct taking *t, struct seep_budget_line line, const struct member *m);

static int take_members(const struct taking *t, struct seep_budget_line line, const char *table,
                        json_t *value, take_fn *take)
{
    struct member m = {.table = table};
    char path[128];

    if (!json_is_object(value))
        return no_table(t->file, table, t->err);
    json_object_foreach (value, m.key, m.value) {
        snprintf(path, sizeof path, "%.60s.%.40s", table, m.key);
        m.path = path;
        int rc = take(t, line, &m);
        if (rc)
            return rc;
    }
    return 0;
}

static int take_limit(const struct taking *t, struct seep_budget_line line, const struct member *m)
{
    if (strcmp(m->key, "growth") == 0)
        line.kind = SEEP_BUDGET_GROWTH;
    else if (strcmp(m->key, "peak") == 0)
        line.kind = SEEP_BUDGET_PEAK;
    else
        return bad_key(t->file, m->table, m->key, (const char *[]){"growth", "peak", NULL}, t->err);
    int rc = take_size(t->file, m->path, m->value, &line.limit, t->err);
    return rc ? rc : add_line(t->budget, &line);
}

static int take_space(const struct taking *t, struct seep_budget_line line, const struct member *m)
{
    int rc = set_space(&line, m->key, t->file, t->err);

    return rc ? rc : take_members(t, line, m->path, m->value, take_limit);
}

static int take_process(const struct taking *t, struct seep_budget_line line,
                        const struct member *m)
{
    if (place_of(m->key, process_roles, N_PROCESS_ROLES) < 0)
        return not_one_of(m->key, "kind of process", process_roles, N_PROCESS_ROLES, t->file,
                          t->err);
    snprintf(line.process, sizeof line.process, "%s", m->key);
    return take_members(t, line, m->path, m->value, take_space);
}

static int take_pace(const struct taking *t, struct seep_budget_line line, const struct member *m)
{
    if (strcmp(m->key, "growth") != 0)
        return bad_key(t->file, m->table, m->key, (const char *[]){"growth", NULL}, t->err);
    line.pace = json_number_value(m->value);
    if (!json_is_number(m->value) || !(line.pace >= 0 && line.pace < 1e15))
        return seep_error_set(t->err, SEEP_EINVAL, t->file, 0,
                              "%.100s is not a number of entries a step: write 0, 0.5, 1 …",
                              m->path);
    return add_line(t->budget, &line);
}

static int take_holder(const struct taking *t, struct seep_budget_line line, const struct member *m)
{
    if (!*m->key || strlen(m->key) >= sizeof line.holder)
        return seep_error_set(t->err, SEEP_EINVAL, t->file, 0,
                              "%.60s is not a holder's name: write [holder.\"Class.attribute\"]",
                              m->key);
    snprintf(line.holder, sizeof line.holder, "%s", m->key);
    return take_members(t, line, m->path, m->value, take_pace);
}

static int take_lost(const struct taking *t, const char *key, const json_t *value)
{
    struct seep_budget_line line = {.kind = SEEP_BUDGET_LOST};
    int rc = take_size(t->file, key, value, &line.limit, t->err);

    return rc ? rc : add_line(t->budget, &line);
}

static int take_counted(const struct taking *t, struct seep_budget_line line,
                        const struct member *m)
{
    int rc = set_counted(&line, m->key, t->file, t->err);

    if (!rc)
        rc = take_count(t->file, m->path, m->value, &line.limit, t->err);
    return rc ? rc : add_line(t->budget, &line);
}

static int take_ignore(struct seep_budget_ignore *rule, const char *file, json_t *table,
                       struct seep_error *err)
{
    const char *key;
    json_t *value;

    if (!json_is_object(table))
        return no_table(file, "ignore", err);
    json_object_foreach (table, key, value) {
        char **field = strcmp(key, "pattern") == 0    ? &rule->pattern
                       : strcmp(key, "file") == 0     ? &rule->file
                       : strcmp(key, "function") == 0 ? &rule->function
                       : strcmp(key, "reason") == 0   ? &rule->reason
                                                      : NULL;
        if (!field)
            return bad_key(file, "ignore", key,
                           (const char *[]){"pattern", "file", "function", "reason", NULL}, err);
        if (!json_is_string(value) || !*json_string_value(value))
            return seep_error_set(err, SEEP_EINVAL, file, 0,
                                  "ignore.%.40s must be a text that is not empty", key);
        *field = strdup(json_string_value(value));
        if (!*field)
            return -SEEP_ENOMEM;
    }
    if (!rule->reason)
        return seep_error_set(err, SEEP_EINVAL, file, 0, "an [[ignore]] has no reason: add one");
    if (!rule->pattern && !rule->file && !rule->function)
        return seep_error_set(
            err, SEEP_EINVAL, file, 0,
            "an [[ignore]] does not say what to ignore: give pattern, file or function");
    if (rule->pattern && !is_pattern(rule->pattern))
        return seep_error_set(err, SEEP_EINVAL, file, 0,
                              "%.60s is not a pattern: `seep help check` lists them",
                              rule->pattern);
    return 0;
}

static int take_ignores(struct seep_budget *budget, const char *file, json_t *list,
                        struct seep_error *err)
{
    size_t n = json_array_size(list);
    int rc = 0;

    if (!json_is_array(list))
        return seep_error_set(err, SEEP_EINVAL, file, 0, "ignore must be a list: write [[ignore]]");
    if (n > SEEP_BUDGET_MAX_IGNORES)
        return seep_error_set(err, SEEP_EINVAL, file, 0, "more than %d [[ignore]]: remove some",
                              SEEP_BUDGET_MAX_IGNORES);
    budget->ignores = calloc(n + 1, sizeof *budget->ignores);
    if (!budget->ignores)
        return -SEEP_ENOMEM;
    budget->n_ignores = n;
    for (size_t i = 0; i < n && !rc; i++)
        rc = take_ignore(&budget->ignores[i], file, json_array_get(list, i), err);
    return rc;
}

static int take_key(struct seep_budget *budget, const char *file, const char *key, json_t *value,
                    struct seep_error *err)
{
    const struct taking t = {budget, file, err};
    const struct seep_budget_line of_space = {.kind = SEEP_BUDGET_PEAK};
    const struct seep_budget_line of_findings = {.kind = SEEP_BUDGET_FINDINGS};
    const struct seep_budget_line of_holder = {.kind = SEEP_BUDGET_HOLDER};

    if (strcmp(key, "space") == 0)
        return take_members(&t, of_space, key, value, take_space);
    if (strcmp(key, "process") == 0)
        return take_members(&t, of_space, key, value, take_process);
    if (strcmp(key, "findings") == 0)
        return take_members(&t, of_findings, key, value, take_counted);
    if (strcmp(key, "holder") == 0)
        return take_members(&t, of_holder, key, value, take_holder);
    if (strcmp(key, "lost") == 0)
        return take_lost(&t, key, value);
    if (strcmp(key, "ignore") == 0)
        return take_ignores(budget, file, value, err);
    if (strcmp(key, "min_steps") == 0)
        return take_count(file, key, value, &budget->min_steps, err);
    if (strcmp(key, "allow_incomplete") != 0)
        return bad_key(file, "", key,
                       (const char *[]){"space", "process", "findings", "holder", "lost", "ignore",
                                        "min_steps", "allow_incomplete", NULL},
                       err);
    if (!json_is_boolean(value))
        return seep_error_set(err, SEEP_EINVAL, file, 0, "allow_incomplete must be true or false");
    budget->allow_incomplete = json_is_true(value);
    return 0;
}

/* ---- the file ---------------------------------------------------------------------------- */

static int parse(const char *file, const char *text, size_t n, json_t **value,
                 struct seep_error *err)
{
    json_error_t where;
    const char *first = text;

    while (isspace((unsigned char)*first))
        first++;
    if (*first != '{')
        return seep_toml_parse(file, text, n, value, err);
    *value = json_loadb(text, n, JSON_REJECT_DUPLICATES, &where);
    if (!*value)
        return seep_error_set(err, SEEP_EINVAL, file, 0, "line %d: %s", where.line, where.text);
    return 0;
}

int seep_budget_read(struct seep_budget *budget, const char *file, struct seep_error *err)
{
    json_t *document = NULL, *value;
    const char *key;
    char *text;
    size_t n = 0;
    int rc = seep_text_read(file, &text, &n, err);

    if (rc)
        return rc;
    rc = parse(file, text, n, &document, err);
    free(text);
    if (rc)
        return rc;
    json_object_foreach (document, key, value) {
        rc = take_key(budget, file, key, value, err);
        if (rc)
            break;
    }
    json_decref(document);
    return rc;
}

void seep_budget_fini(struct seep_budget *budget)
{
    for (size_t i = 0; i < budget->n_ignores; i++) {
        free(budget->ignores[i].pattern);
        free(budget->ignores[i].file);
        free(budget->ignores[i].function);
        free(budget->ignores[i].reason);
    }
    free(budget->ignores);
    free(budget->lines);
    *budget = (struct seep_budget){0};
}

/* ---- asking ------------------------------------------------------------------------------ */

/* The glob of a path may also match its end: data/index.py fits in every project folder. */
static bool is_path(const char *glob, const char *path)
{
    if (fnmatch(glob, path, 0) == 0)
        return true;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (fnmatch(glob, slash + 1, 0) == 0)
            return true;
    }
    return false;
}

const struct seep_budget_ignore *seep_budget_ignored(const struct seep_budget *budget,
                                                     const char *pattern, const char *file,
                                                     const char *function, const char *qualname)
{
    for (size_t i = 0; i < budget->n_ignores; i++) {
        const struct seep_budget_ignore *rule = &budget->ignores[i];
        if (rule->pattern && strcmp(rule->pattern, pattern) != 0)
            continue;
        if (rule->file && (!file || !is_path(rule->file, file)))
            continue;
        if (rule->function && !(function && fnmatch(rule->function, function, 0) == 0) &&
            !(qualname && fnmatch(rule->function, qualname, 0) == 0))
            continue;
        return rule;
    }
    return NULL;
}
