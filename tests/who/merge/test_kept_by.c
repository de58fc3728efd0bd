/* What an answer to "who holds it" says of parameters: those of a network that grows are trained,
 * networks that are kept with an optimizer each are not. */
#include "libprof/who/merge/kept_by.h"
#include "tests/suite.h"
#include "tests/who/merge/made_up_snapshots.h"

enum { BYTES = 1000 };

static json_t *seen, *answer;

static void setup(void)
{
    seen = snapshot(100, 0, 150);
    answer = add_line(seen, 7, BYTES, "held");
    json_object_set_new(answer, "complete", json_true());
}

static void teardown(void)
{
    json_decref(seen);
}

static json_t *hop(const char *kind, const char *name, const char *type)
{
    return json_pack("{s:s, s:s?, s:s}", "kind", kind, "name", name, "type", type);
}

/* Hops by name and type, to one without a type; one without a name is an entry of what is before.
 */
static void held_through(int bytes, const char *const (*hops)[2])
{
    json_t *path = add_path(answer, "trainer", "Trainer.state", 5), *list = json_array();

    for (; (*hops)[1]; hops++)
        json_array_append_new(list, hop((*hops)[0] ? "attribute" : "key", (*hops)[0], (*hops)[1]));
    json_object_set_new(path, "hops", list);
    json_object_set_new(path, "bytes", json_integer(bytes));
}

static const char *const parameters[][2] = {{"heads", "ModuleList"}, {"_modules", "OrderedDict"},
                                            {NULL, "Linear"},        {"_parameters", "dict"},
                                            {NULL, "Parameter"},     {NULL, NULL}};
static const char *const groups[][2] = {{"optimizer", "Adam"}, {"param_groups", "list"},
                                        {NULL, "dict"},        {NULL, "list"},
                                        {NULL, "Parameter"},   {NULL, NULL}};
static const char *const moments[][2] = {{"optimizer", "Adam"},
                                         {"state", "defaultdict"},
                                         {NULL, "dict"},
                                         {NULL, "Tensor"},
                                         {NULL, NULL}};
static const char *const of_trials[][2] = {{"trials", "list"},       {NULL, "Adam"},
                                           {"param_groups", "list"}, {NULL, "dict"},
                                           {NULL, "Parameter"},      {NULL, NULL}};
static const char *const moments_of_trials[][2] = {{"trials", "list"},       {NULL, "Adam"},
                                                   {"state", "defaultdict"}, {NULL, "dict"},
                                                   {NULL, "Tensor"},         {NULL, NULL}};
static const char *const other_state[][2] = {
    {"recorder", "Recorder"}, {"state", "list"}, {NULL, "dict"}, {NULL, "Tensor"}, {NULL, NULL}};

static const struct {
    const char *const (*ways[3])[2];
    int bytes[3];
    bool trained;
} cases[] = {
    {{parameters, groups}, {900, 850}, true},
    {{moments}, {900}, true},
    {{moments, parameters, groups}, {600, 300, 300}, true},
    {{moments, parameters, groups}, {400, 300, 300}, false}, /* of what is left nobody knows */
    {{parameters}, {900}, false},                            /* no optimizer steps them */
    {{groups}, {900}, false},                                /* no network has them any more */
    {{parameters, of_trials}, {900, 900}, false},
    {{moments_of_trials}, {900}, false},
    {{other_state}, {900}, false},
};

TEST(parameters_that_a_network_and_its_optimizer_have_are_trained, .to = N(cases))
{
    for (int i = 0; i < 3 && cases[_i].ways[i]; i++)
        held_through(cases[_i].bytes[i], cases[_i].ways[i]);
    ck_assert_int_eq(seep_kept_by_of(answer).trained, cases[_i].trained);
}

/* A word in a name is no fact. */
static const char *const named_alike[][2] = {
    {"tuner", "Tuner"}, {"old_parameters", "list"}, {NULL, "ndarray"}, {NULL, NULL}};

TEST(what_a_network_gathers_is_told_by_whole_names)
{
    held_through(900, named_alike);
    ck_assert(seep_kept_by_of(answer).gathers);
    json_array_clear(json_object_get(answer, "paths"));
    held_through(900, parameters);
    ck_assert(!seep_kept_by_of(answer).gathers);
}

SUITE("kept_by", .setup = setup, .teardown = teardown)
