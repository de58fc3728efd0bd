/* Spaces of memory, by the names that profiles, budgets and reports give them. */
#ifndef SEEP_LIBPROF_WORDS_SPACE_H
#define SEEP_LIBPROF_WORDS_SPACE_H

#include <stdbool.h>

/* The kind of memory of a space, in the order of spaces.def. */
enum seep_space_class {
#define SEEP_SPACE(id, name, words) SEEP_CLASS_##id,
#include "libprof/words/spaces.def"
#undef SEEP_SPACE
    SEEP_CLASS_OTHER, /* announced by the program under its own name */
};

/* The names of all other classes, with N for a number. */
extern const char *const seep_space_names[SEEP_CLASS_OTHER];

enum { SEEP_SPACE_TEXT = 24, SEEP_SPACE_WORDS = 40 };

/* How sentences call host and mmap together. */
#define SEEP_HOST_MEMORY_TEXT "host memory"

struct seep_space_name {
    char text[SEEP_SPACE_TEXT]; /* printable, never empty, NUL-terminated */
    enum seep_space_class class;
    int device;     /* N of device:N and tensor:N; −1 unless a number of 1 to 4 digits */
    bool host_like; /* host or mmap: one memory to the user */
};

/* Accepts any text and cuts it to the length of a name; characters not allowed in names become
 * '?'. */
struct seep_space_name seep_space_parse(const char *text);

/* The name of a class without a number: "host", "mmap", "shm", "pinned"; "" for the others. */
const char *seep_space_class_name(enum seep_space_class class);

/* How sentences call the space of that name: "malloc'd memory", "tensors on GPU 0"; a space that a
 * program announced keeps its name. Returns `words`. */
const char *seep_space_words(const char *text, char words[SEEP_SPACE_WORDS]);

/* The same for memory that is judged as one: host and mmap are both "host memory". */
const char *seep_memory_words(const char *text, char words[SEEP_SPACE_WORDS]);

/* Whether it is a space that seep knows, number included. */
bool seep_space_is_known(const struct seep_space_name *name);

/* Whether one space is that of the tensors in the other, a device's. */
bool seep_space_is_tensors_of(const struct seep_space_name *tensors,
                              const struct seep_space_name *device);

#endif
