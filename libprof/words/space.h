/* Spaces of memory, by the names that profiles, budgets and reports give them. */
#ifndef SEEP_LIBPROF_WORDS_SPACE_H
#define SEEP_LIBPROF_WORDS_SPACE_H

#include <stdbool.h>

/* What memory a space is of, in the order of spaces.def. */
enum seep_space_class {
#define SEEP_SPACE(id, name, words) SEEP_CLASS_##id,
#include "libprof/words/spaces.def"
#undef SEEP_SPACE
    SEEP_CLASS_OTHER, /* announced under a name of the program's own */
};

/* The names of all others, with an N for a number. */
extern const char *const seep_space_names[SEEP_CLASS_OTHER];

enum { SEEP_SPACE_TEXT = 24, SEEP_SPACE_WORDS = 40 };

/* What sentences call host and mmap together. */
#define SEEP_HOST_MEMORY_TEXT "host memory"

struct seep_space_name {
    char text[SEEP_SPACE_TEXT]; /* printable, never empty, NUL-terminated */
    enum seep_space_class class;
    int device;     /* N of device:N and tensor:N; −1 where it is no number of 1 to 4 digits */
    bool host_like; /* host or mmap: one memory to the user */
};

/* Takes any text, cut to what a name has room for; what no name holds becomes '?'. */
struct seep_space_name seep_space_parse(const char *text);

/* The name of a class without a number: "host", "mmap", "shm", "pinned"; "" of the others. */
const char *seep_space_class_name(enum seep_space_class class);

/* What sentences call the space of that name: "malloc'd memory", "tensors on GPU 0"; the name
 * itself of one that a program announced. Returns `words`. */
const char *seep_space_words(const char *text, char words[SEEP_SPACE_WORDS]);

/* The same of what is judged as one memory: of host and mmap together "host memory". */
const char *seep_memory_words(const char *text, char words[SEEP_SPACE_WORDS]);

/* Whether it is a space that seep knows, number included. */
bool seep_space_is_known(const struct seep_space_name *name);

/* Whether the one space is of the tensors that lie in the other, a device's. */
bool seep_space_is_tensors_of(const struct seep_space_name *tensors,
                              const struct seep_space_name *device);

#endif
