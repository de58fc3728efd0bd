#include "libprof/code/part_rules.h"

#include "libprof/base/text.h"
#include "libprof/base/toml.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

extern const char seep_roles_toml[]; /* roles.toml */

struct rule {
    enum seep_part part;
    bool says_kind;                                    /* `is`, not a part */
    enum seep_function_kind kind;                      /* SEEP_FUNCTION_NOTHING: none */
    const char *library, *file, *function, *called_by; /* NULL: any; in `values` */
    bool whole_class;
};

struct seep_part_rules {
    struct rule rules[SEEP_MAX_PART_RULES];
    size_t n;
    size_t callers[SEEP_MAX_CALLER_RULES]; /* those with called_by */
    size_t n_callers;
    size_t kinds[SEEP_MAX_KIND_RULES]; /* those with `is` */
    size_t n_kinds;
    json_t *values[2]; /* the documents, which own the strings */
};

static const char *const kind_names[SEEP_N_FUNCTION_KINDS + 1] = {
    "allocator",  "worker-loop", "graph-node", "join",        "load",       "module-load",
    "state-copy", "parameter",   "moments",    "two-moments", "evaluation", "capture",
    "stream",     "message",     "batch",      "nothing"};

/* ---- reading ------------------------------------------------------------------------------- */

static int refuse(struct seep_error *err, const char *name, size_t i, const char *what)
{
    return seep_error_set(err, SEEP_EINVAL, name, 0, "rule %zu: %s", i + 1, what);
}

static int take_part(struct rule *rule, const char *text)
{
    for (int part = 0; part < SEEP_N_PARTS; part++) {
        if (part != SEEP_PART_LIBRARY && text &&
            strcmp(text, seep_part_name((enum seep_part)part)) == 0) {
            rule->part = (enum seep_part)part;
            return 0;
        }
    }
    return -SEEP_EINVAL;
}

/* A rule says which part of the job a function belongs to, or what the function is. */
static int take_meaning(struct rule *rule, const char *part, const char *is)
{
    rule->says_kind = is != NULL;
    if (!is)
        return take_part(rule, part);
    for (int kind = 0; kind <= SEEP_N_FUNCTION_KINDS && !part; kind++) {
        if (strcmp(is, kind_names[kind]) == 0) {
            rule->kind = (enum seep_function_kind)kind;
            return 0;
        }
    }
    return -SEEP_EINVAL;
}

/* Rules on kinds and rules on callers are also in a list of their own. */
static int list_rule(struct seep_part_rules *set, const struct rule *rule)
{
    if (set->n == SEEP_MAX_PART_RULES || (rule->says_kind && set->n_kinds == SEEP_MAX_KIND_RULES) ||
        (rule->called_by && set->n_callers == SEEP_MAX_CALLER_RULES))
        return -SEEP_EINVAL;
    if (rule->says_kind)
        set->kinds[set->n_kinds++] = set->n;
    else if (rule->called_by)
        set->callers[set->n_callers++] = set->n;
    set->rules[set->n++] = *rule;
    return 0;
}

enum { LIBRARY, FILE_NAME, FUNCTION, CALLED_BY, N_FIELDS };
static const char *const field_names[N_FIELDS] = {"library", "file", "function", "called_by"};

/* One text, or a list of texts any of which may match. */
static const char *text_at(const json_t *value, size_t i)
{
    return json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
}

static size_t n_texts(const json_t *value)
{
    return json_is_array(value) ? json_array_size(value) : 1;
}

static bool is_text_or_texts(const json_t *value)
{
    bool good = n_texts(value) > 0;

    for (size_t i = 0; i < n_texts(value); i++)
        good &= text_at(value, i) != NULL;
    return good;
}

/* One rule for each combination of the lists' texts. */
static int list_rules(struct seep_part_rules *set, struct rule *rule, json_t *const *fields)
{
    const char **texts[N_FIELDS] = {&rule->library, &rule->file, &rule->function, &rule->called_by};
    int rc = 0;

    for (size_t way = 0, rest = 0; !rest && !rc; way++) {
        rest = way;
        for (int f = 0; f < N_FIELDS; f++) {
            *texts[f] = fields[f] ? text_at(fields[f], rest % n_texts(fields[f])) : NULL;
            rest /= fields[f] ? n_texts(fields[f]) : 1;
        }
        if (!rest)
            rc = list_rule(set, rule);
    }
    return rc;
}

static int take_field(struct rule *rule, json_t **fields, const char *key, json_t *value)
{
    for (int f = 0; f < N_FIELDS; f++) {
        if (strcmp(key, field_names[f]) == 0) {
            fields[f] = value;
            return is_text_or_texts(value) ? 0 : -SEEP_EINVAL;
        }
    }
    if (strcmp(key, "whole_class") == 0 && json_is_boolean(value)) {
        rule->whole_class = json_is_true(value);
        return 0;
    }
    bool meaning = strcmp(key, "role") == 0 || strcmp(key, "is") == 0;
    return meaning && json_is_string(value) ? 0 : -SEEP_EINVAL;
}

static int take_rule(struct seep_part_rules *set, const char *name, size_t i, json_t *value,
                     struct seep_error *err)
{
    struct rule rule = {0};
    json_t *fields[N_FIELDS] = {0}, *member;
    const char *key;

    if (!json_is_object(value))
        return refuse(err, name, i, "not a table");
    json_object_foreach (value, key, member) {
        if (take_field(&rule, fields, key, member))
            return refuse(err, name, i,
                          "knows role and is (strings), library, file, function and called_by "
                          "(strings, or lists of them) and whole_class (true or false)");
    }
    if (take_meaning(&rule, json_string_value(json_object_get(value, "role")),
                     json_string_value(json_object_get(value, "is"))))
        return refuse(err, name, i, "role or is must be given, with a value that seep knows");
    if (!fields[LIBRARY] && !fields[FILE_NAME] && !fields[FUNCTION])
        return refuse(err, name, i, "names no library, file or function");
    if (rule.says_kind && fields[CALLED_BY])
        return refuse(err, name, i, "is cannot go with called_by");
    if (rule.whole_class && !fields[CALLED_BY])
        return refuse(err, name, i, "whole_class needs called_by");
    if (list_rules(set, &rule, fields))
        return refuse(err, name, i, "too many rules");
    return 0;
}

static int take_document(struct seep_part_rules *set, const char *name, const char *text,
                         json_t **value, struct seep_error *err)
{
    int rc = seep_toml_parse(name, text, strlen(text), value, err);
    const json_t *list = rc ? NULL : json_object_get(*value, "rule");

    if (!rc && !json_is_array(list))
        return seep_error_set(err, SEEP_EINVAL, name, 0, "no [[rule]] in it");
    for (size_t i = 0; i < json_array_size(list) && !rc; i++)
        rc = take_rule(set, name, i, json_array_get(list, i), err);
    return rc;
}

int seep_part_rules_load(struct seep_part_rules **out, const char *file, struct seep_error *err)
{
    struct seep_part_rules *set = calloc(1, sizeof *set);
    char *text = NULL;
    size_t n;
    int rc = set ? 0 : -SEEP_ENOMEM;

    *out = NULL;
    if (!rc && file)
        rc = seep_text_read(file, &text, &n, err);
    if (!rc && file)
        rc = take_document(set, file, text, &set->values[0], err);
    if (!rc)
        rc = take_document(set, "roles.toml", seep_roles_toml, &set->values[1], err);
    free(text);
    if (rc)
        seep_part_rules_free(set);
    else
        *out = set;
    return rc;
}

void seep_part_rules_free(struct seep_part_rules *set)
{
    if (!set)
        return;
    json_decref(set->values[0]);
    json_decref(set->values[1]);
    free(set);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* A user's folder may have any name: only the file's own name, or the end of its path, counts. */
static bool is_file(const char *file, const char *part)
{
    size_t n = strlen(file), n_part = strlen(part);
    const char *base = strrchr(file, '/');

    if (strchr(part, '/'))
        return n >= n_part && strcasecmp(file + n - n_part, part) == 0;
    return strcasestr(base ? base + 1 : file, part) != NULL;
}

static bool is_main_line(const char *function)
{
    return strcmp(function, "<module>") == 0 || strcmp(function, "main") == 0;
}

/* C++ writes Class::function. */
static bool is_qualname(const char *pattern, const char *qualname)
{
    char dotted[256];
    size_t n = 0;

    if (fnmatch(pattern, qualname, FNM_CASEFOLD) == 0)
        return true;
    if (!strstr(qualname, "::"))
        return false;
    for (const char *at = qualname; *at && n < sizeof dotted - 1; at++, n++) {
        bool colons = at[0] == ':' && at[1] == ':';
        dotted[n] = colons ? '.' : *at;
        at += colons;
    }
    dotted[n] = 0;
    return fnmatch(pattern, dotted, FNM_CASEFOLD) == 0;
}

static bool matches(const struct rule *rule, const struct seep_rule_frame *f)
{
    if ((rule->library != NULL) == f->own)
        return false;
    if (rule->library && !strstr(f->file, rule->library))
        return false;
    if (rule->file && (is_main_line(f->function) || !is_file(f->file, rule->file)))
        return false;
    return !rule->function || fnmatch(rule->function, f->function, FNM_CASEFOLD) == 0 ||
           (f->qualname[0] && is_qualname(rule->function, f->qualname));
}

enum seep_part seep_part_of_frame(const struct seep_part_rules *set,
                                  const struct seep_rule_frame *f)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct rule *rule = &set->rules[i];
        if (!rule->called_by && !rule->says_kind && matches(rule, f))
            return rule->part;
    }
    return SEEP_PART_OTHER;
}

uint16_t seep_part_rules_kinds_of(const struct seep_part_rules *set,
                                  const struct seep_rule_frame *f)
{
    for (size_t i = 0; i < set->n_kinds; i++) {
        const struct rule *rule = &set->rules[set->kinds[i]];
        if (matches(rule, f))
            return (uint16_t)(rule->kind == SEEP_FUNCTION_NOTHING ? 0u : 1u << rule->kind);
    }
    return 0;
}

uint64_t seep_part_rules_of_caller(const struct seep_part_rules *set, const char *file)
{
    uint64_t rules = 0;

    for (size_t i = 0; i < set->n_callers; i++) {
        if (strstr(file, set->rules[set->callers[i]].called_by))
            rules |= UINT64_C(1) << i;
    }
    return rules;
}

enum seep_part seep_part_of_callee(const struct seep_part_rules *set, uint64_t rules,
                                   const struct seep_rule_frame *f, bool *whole_class)
{
    for (size_t i = 0; i < set->n_callers; i++) {
        const struct rule *rule = &set->rules[set->callers[i]];
        if (((rules >> i) & 1) && matches(rule, f)) {
            *whole_class = rule->whole_class;
            return rule->part;
        }
    }
    *whole_class = false;
    return SEEP_PART_OTHER;
}
