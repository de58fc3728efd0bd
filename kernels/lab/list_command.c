/* `seep-lab list`. */
#include "kernels/lab/lab.h"

#include <jansson.h>
#include <stdio.h>

static json_t *describe(const struct seep_scenario *s)
{
    json_t *variants = json_array();

    for (const struct seep_variant *v = s->variants; v->name; v++)
        json_array_append_new(variants, json_pack("{s:s, s:s, s:s?, s:b, s:b}", "name", v->name,
                                                  "summary", v->summary, "pattern", v->pattern,
                                                  "fails", v->fails, "may_fail", v->may_fail));
    return json_pack("{s:s, s:s, s:o}", "name", s->name, "summary", s->summary, "variants",
                     variants);
}

static void print_json(void)
{
    json_t *list = json_array();

    for (const struct seep_scenario *const *s = seep_scenarios; *s; s++)
        json_array_append_new(list, describe(*s));
    json_dumpf(list, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(list);
}

static void print_text(void)
{
    for (const struct seep_scenario *const *s = seep_scenarios; *s; s++) {
        printf("%s%s: %s\n", s == seep_scenarios ? "" : "\n", (*s)->name, (*s)->summary);
        for (const struct seep_variant *v = (*s)->variants; v->name; v++)
            printf("  %-16s %-22s %s\n", v->name,
                   v->pattern ? v->pattern
                   : v->fails ? "fails"
                              : "-",
                   v->summary);
    }
}

int seep_lab_list_main(int argc, char **argv)
{
    struct seep_lab_arguments a;
    int status = seep_lab_read_arguments(argc, argv, "fj", &a);

    if (status >= 0)
        return status;
    if (a.n_words) {
        seep_lab_complain("list takes no argument: try `seep-lab list`");
        return SEEP_LAB_UNUSABLE;
    }
    if (a.json)
        print_json();
    else
        print_text();
    return fflush(stdout) || ferror(stdout) ? SEEP_LAB_UNUSABLE : 0;
}
