/* What the suites of holders share: files of made-up snapshots, and the merged result. */
#ifndef SEEP_TESTS_HOLDERS_HOLDERS_FIXTURE_H
#define SEEP_TESTS_HOLDERS_HOLDERS_FIXTURE_H

#include "libprof/who/merge/holders_merge.h"
#include "tests/suite.h"
#include "tests/who/merge/made_up_snapshots.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct seep_holders_files files;
static struct seep_holders merged;

static inline void setup(void)
{
    files = (struct seep_holders_files){0};
    merged = (struct seep_holders){0};
}

static inline void teardown(void)
{
    seep_holders_fini(&merged);
    seep_holders_files_fini(&files);
}

/* Takes the snapshot over, as a file of that folder. */
static inline void add_file(uint32_t folder, json_t *document)
{
    char *text = json_dumps(document, 0), name[64];

    snprintf(name, sizeof name, "holders-%d-%d.json",
             (int)json_integer_value(json_object_get(document, "pid")),
             (int)json_integer_value(json_object_get(document, "step")));
    ck_assert_int_eq(seep_holders_add(&files, folder, name, text, strlen(text)), 0);
    free(text);
    json_decref(document);
}

/* What is said of a line of /home/user/train.py. Borrowed. */
static inline const json_t *answer(int line)
{
    char key[64];

    snprintf(key, sizeof key, "/home/user/train.py:%d", line);
    return json_object_get(merged.of_frame, key);
}

static inline int number_of(const json_t *from, const char *key)
{
    ck_assert_msg(json_is_integer(json_object_get(from, key)), "%s is no number", key);
    return (int)json_integer_value(json_object_get(from, key));
}

static inline const char *text_of(const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));

    return text ? text : "";
}

#endif
