#include "libprof/print/look_sums.h"

#include "libprof/report_read/report_view.h"

const json_t *seep_look_at(const json_t *look, bool last)
{
    const json_t *looks = json_object_get(look, "looks");

    return json_array_get(looks, last ? json_array_size(looks) - 1 : 0);
}

double seep_look_total(const json_t *look, bool last, const char *key)
{
    const json_t *tree = json_object_get(look, "tree"), *process, *moment;
    const json_t *round = json_object_get(seep_look_at(look, last), "round");
    double sum = 0;
    size_t i, k;

    if (!tree)
        return seep_get_number(seep_look_at(look, last), key);
    json_array_foreach (json_object_get(tree, "processes"), i, process) {
        json_array_foreach (json_object_get(process, "looks"), k, moment)
            sum += json_equal(json_object_get(moment, "round"), round)
                       ? seep_get_number(moment, key)
                       : 0;
    }
    return sum;
}

double seep_look_minutes(const json_t *look)
{
    return (seep_get_number(seep_look_at(look, true), "t_s") -
            seep_get_number(seep_look_at(look, false), "t_s")) /
           60;
}

const json_t *seep_look_holders(const json_t *look)
{
    const json_t *tree = json_object_get(look, "tree");

    return json_object_get(tree ? tree : look, "holders");
}

json_t *seep_look_devices(const json_t *look)
{
    const json_t *tree = json_object_get(look, "tree"), *process, *moment, *bytes;
    const json_t *round = json_object_get(seep_look_at(look, true), "round");
    json_t *sums = json_object();
    const char *name;
    size_t i, k;

    if (!tree)
        json_object_update(sums,
                           (json_t *)json_object_get(seep_look_at(look, true), "device_bytes"));
    json_array_foreach (json_object_get(tree, "processes"), i, process) {
        json_array_foreach (json_object_get(process, "looks"), k, moment) {
            if (!json_equal(json_object_get(moment, "round"), round))
                continue;
            json_object_foreach ((json_t *)json_object_get(moment, "device_bytes"), name, bytes)
                json_object_set_new(sums, name,
                                    json_integer((json_int_t)(seep_get_number(sums, name) +
                                                              json_number_value(bytes))));
        }
    }
    return sums;
}
