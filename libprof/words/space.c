#include "libprof/words/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const seep_space_names[SEEP_CLASS_OTHER] = {
#define SEEP_SPACE(id, name, words) name,
#include "libprof/words/spaces.def"
#undef SEEP_SPACE
};

static const char *const sentences_say[SEEP_CLASS_OTHER] = {
#define SEEP_SPACE(id, name, words) words,
#include "libprof/words/spaces.def"
#undef SEEP_SPACE
};

static bool is_numbered(enum seep_space_class class)
{
    return class != SEEP_CLASS_OTHER && strchr(seep_space_names[class], ':');
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' ||
           c == '-' || c == '_';
}

static enum seep_space_class class_of(const char *text)
{
    for (enum seep_space_class c = 0; c < SEEP_CLASS_OTHER; c++) {
        const char *name = seep_space_names[c];
        if (is_numbered(c) ? strncmp(text, name, strlen(name) - 1) == 0 : strcmp(text, name) == 0)
            return c;
    }
    return SEEP_CLASS_OTHER;
}

/* The text after "device:". */
static const char *rest_of(const struct seep_space_name *name)
{
    return strchr(name->text, ':') + 1;
}

static int number_of(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return digits >= 1 && digits <= 4 && !text[digits] ? atoi(text) : -1;
}

struct seep_space_name seep_space_parse(const char *text)
{
    struct seep_space_name name = {.device = -1};

    for (size_t i = 0; text[i] && i + 1 < sizeof name.text; i++)
        name.text[i] = is_plain(text[i]) ? text[i] : '?';
    if (!name.text[0])
        name.text[0] = '?'; /* the header is damaged */
    name.class = class_of(name.text);
    name.host_like = name.class == SEEP_CLASS_HOST || name.class == SEEP_CLASS_MMAP;
    if (is_numbered(name.class))
        name.device = number_of(rest_of(&name));
    return name;
}

const char *seep_space_class_name(enum seep_space_class class)
{
    return class == SEEP_CLASS_OTHER || is_numbered(class) ? "" : seep_space_names[class];
}

const char *seep_space_words(const char *text, char words[SEEP_SPACE_WORDS])
{
    const struct seep_space_name name = seep_space_parse(text);

    if (!seep_space_is_known(&name))
        snprintf(words, SEEP_SPACE_WORDS, "%s", name.text);
    else if (is_numbered(name.class))
        snprintf(words, SEEP_SPACE_WORDS, "%.*s%d", (int)strlen(sentences_say[name.class]) - 1,
                 sentences_say[name.class], name.device);
    else
        snprintf(words, SEEP_SPACE_WORDS, "%s", sentences_say[name.class]);
    return words;
}

const char *seep_memory_words(const char *text, char words[SEEP_SPACE_WORDS])
{
    if (!seep_space_parse(text).host_like)
        return seep_space_words(text, words);
    snprintf(words, SEEP_SPACE_WORDS, "%s", SEEP_HOST_MEMORY_TEXT);
    return words;
}

bool seep_space_is_known(const struct seep_space_name *name)
{
    return is_numbered(name->class) ? name->device >= 0 : name->class != SEEP_CLASS_OTHER;
}

bool seep_space_is_tensors_of(const struct seep_space_name *tensors,
                              const struct seep_space_name *device)
{
    return tensors->class == SEEP_CLASS_TENSOR && device->class == SEEP_CLASS_DEVICE &&
           strcmp(rest_of(tensors), rest_of(device)) == 0;
}
