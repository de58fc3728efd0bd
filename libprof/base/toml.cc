/* The one file in C++: toml++ has no C interface. No exception leaves it. */
#include "libprof/base/toml.h"

#include <cmath>
#include <memory>
#include <sstream>

/* Its library would have to be loaded, and libstdc++ for it. */
#define TOML_HEADER_ONLY 1
/* Some of its assertions fail for malformed documents, of which it then throws an error. */
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>

/* Whatever is thrown on the way, what was made so far is given back. */
struct decref {
    void operator()(json_t *json) const
    {
        json_decref(json);
    }
};
using owned = std::unique_ptr<json_t, decref>;

static json_t *convert(const toml::node &node);

static json_t *convert_table(const toml::table &table)
{
    owned object(json_object());

    for (auto &&[key, value] : table) {
        std::string name(key.str());
        if (json_object_set_new(object.get(), name.c_str(), convert(value)))
            throw std::bad_alloc();
    }
    return object.release();
}

static json_t *convert_array(const toml::array &array)
{
    owned list(json_array());

    for (auto &&value : array) {
        if (json_array_append_new(list.get(), convert(value)))
            throw std::bad_alloc();
    }
    return list.release();
}

static json_t *convert(const toml::node &node)
{
    if (auto table = node.as_table())
        return convert_table(*table);
    if (auto array = node.as_array())
        return convert_array(*array);
    if (auto text = node.as_string())
        return json_stringn(text->get().c_str(), text->get().size());
    if (auto integer = node.as_integer())
        return json_integer(integer->get());
    if (auto real = node.as_floating_point(); real && std::isfinite(real->get()))
        return json_real(real->get());
    if (auto boolean = node.as_boolean())
        return json_boolean(boolean->get());
    std::ostringstream text;
    node.visit([&](auto &&value) { text << value; });
    return json_string(text.str().c_str());
}

int seep_toml_parse(const char *name, const char *text, size_t n, json_t **value,
                    struct seep_error *err)
{
    *value = nullptr;
    try {
        *value = convert_table(toml::parse(std::string_view(text, n), std::string_view(name)));
        return *value ? 0 : -SEEP_ENOMEM;
    } catch (const toml::parse_error &e) {
        return seep_error_set(err, SEEP_EINVAL, name, 0, "line %u: %s",
                              static_cast<unsigned>(e.source().begin.line),
                              std::string(e.description()).c_str());
    } catch (const std::bad_alloc &) {
        return -SEEP_ENOMEM;
    }
}
