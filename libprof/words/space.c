#include "libprof/words/space.h"

#include <stdlib.h>
#include <string.h>

static const char *const plain_names[] = {"host", "mmap", "shm", "pinned"};
enum { N_PLAIN = sizeof plain_names / sizeof *plain_names };

/* "device:" and "tensor:" are of one length. */
enum { PREFIX = 7 };

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' ||
           c == '-' || c == '_';
}

static enum seep_space_class class_of(const char *text)
{
    for (unsigned i = 0; i < N_PLAIN; i++) {
        if (strcmp(text, plain_names[i]) == 0)
            return (enum seep_space_class)i;
    }
    return strncmp(text, "device:", PREFIX) == 0   ? SEEP_CLASS_DEVICE
           : strncmp(text, "tensor:", PREFIX) == 0 ? SEEP_CLASS_TENSOR
                                                   : SEEP_CLASS_OTHER;
}

static bool is_numbered(enum seep_space_class class)
{
    return class == SEEP_CLASS_DEVICE || class == SEEP_CLASS_TENSOR;
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
        name.text[0] = '?'; /* a damaged header */
    name.class = class_of(name.text);
    name.host_like = name.class == SEEP_CLASS_HOST || name.class == SEEP_CLASS_MMAP;
    if (is_numbered(name.class))
        name.device = number_of(name.text + PREFIX);
    return name;
}

const char *seep_space_class_name(enum seep_space_class class)
{
    return (unsigned)class < N_PLAIN ? plain_names[class] : "";
}

bool seep_space_is_known(const struct seep_space_name *name)
{
    return is_numbered(name->class) ? name->device >= 0 : name->class != SEEP_CLASS_OTHER;
}

bool seep_space_is_tensors_of(const struct seep_space_name *tensors,
                              const struct seep_space_name *device)
{
    return tensors->class == SEEP_CLASS_TENSOR && device->class == SEEP_CLASS_DEVICE &&
           strcmp(tensors->text + PREFIX, device->text + PREFIX) == 0;
}
