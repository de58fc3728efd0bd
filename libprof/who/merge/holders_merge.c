#include "libprof/who/merge/holders_merge.h"

#include "libprof/who/merge/holders_json.h"

#include <stdlib.h>
#include <string.h>

/* The best answer of each process comes first: the one that explains most of the most bytes. At its
 * end a process may have released what it kept. */
static int by_frame(const void *a, const void *b)
{
    const struct seep_holders_answer *p = a, *q = b;
    int order = strcmp(p->line->frame, q->line->frame);

    if (!order)
        order = seep_holders_by_process(p->of, q->of);
    if (order)
        return order;
    if (p->of->complete != q->of->complete)
        return p->of->complete ? -1 : 1;
    bool known = p->line->state != SEEP_HOLDERS_UNKNOWN;
    if (known != (q->line->state != SEEP_HOLDERS_UNKNOWN))
        return known ? -1 : 1;
    if (p->line->bytes != q->line->bytes)
        return p->line->bytes > q->line->bytes ? -1 : 1;
    if (p->of->step != q->of->step)
        return p->of->step > q->of->step ? -1 : 1;
    return (p->line > q->line) - (p->line < q->line);
}

static const char *way_of(const struct seep_holders_answer *answer)
{
    return answer->line->n_paths ? answer->line->paths[0].way : "";
}

static int by_what_it_says(const void *a, const void *b)
{
    const struct seep_holders_answer *p = a, *q = b;

    if (p->line->state != q->line->state)
        return p->line->state < q->line->state ? -1 : 1;
    int order = strcmp(way_of(p), way_of(q));
    return order ? order : seep_holders_by_process(p->of, q->of);
}

static bool say_the_same(const struct seep_holders_answer *a, const struct seep_holders_answer *b)
{
    return a->line->state == b->line->state && strcmp(way_of(a), way_of(b)) == 0;
}

static struct seep_holders_answer *list_answers(const struct seep_holders_files *files, size_t *n)
{
    size_t most = 1;

    for (size_t i = 0; i < files->n; i++)
        most += files->list[i].n_lines;
    struct seep_holders_answer *answers = calloc(most, sizeof *answers);
    *n = 0;
    for (size_t i = 0; answers && i < files->n; i++) {
        for (size_t k = 0; k < files->list[i].n_lines; k++) {
            if (files->list[i].lines[k].frame[0])
                answers[(*n)++] =
                    (struct seep_holders_answer){&files->list[i], &files->list[i].lines[k]};
        }
    }
    if (*n)
        qsort(answers, *n, sizeof *answers, by_frame);
    return answers;
}

/* Keeps one answer per process in answers[0, n), which are of one line. */
static size_t keep_the_best(struct seep_holders_answer *answers, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (!kept || seep_holders_by_process(answers[kept - 1].of, answers[i].of))
            answers[kept++] = answers[i];
    }
    return kept;
}

/* [*from, *to) is the group of processes that agree and have most bytes. */
static void find_largest(const struct seep_holders_answer *answers, size_t n, size_t *from,
                         size_t *to)
{
    double most = -1;

    for (size_t i = 0, end; i < n; i = end) {
        double bytes = 0;
        for (end = i; end < n && say_the_same(&answers[i], &answers[end]); end++)
            bytes += (double)answers[end].line->bytes;
        if (bytes > most) {
            most = bytes;
            *from = i;
            *to = end;
        }
    }
}

static int merge_lines(const struct seep_holders_files *files,
                       const struct seep_holders_series *series, json_t *of_frame)
{
    size_t n, from = 0, to = 0;
    struct seep_holders_answer *answers = list_answers(files, &n);
    int rc = answers ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0, end; i < n && !rc; i = end) {
        struct seep_holders_answer *its = &answers[i];
        for (end = i + 1; end < n && strcmp(its->line->frame, answers[end].line->frame) == 0;)
            end++;
        const char *frame = its->line->frame;
        size_t kept = keep_the_best(its, end - i);
        qsort(its, kept, sizeof *its, by_what_it_says);
        find_largest(its, kept, &from, &to);
        if (json_object_set_new(of_frame, frame,
                                seep_holders_answer_json(its, kept, from, to, series)))
            rc = -SEEP_ENOMEM;
    }
    free(answers);
    return rc;
}

int seep_holders_merge(struct seep_holders_files *files, struct seep_holders *out)
{
    struct seep_holders_series series;
    int rc = seep_holders_series_make(files, &series);

    if (!rc)
        rc = seep_holders_say_incomplete(files);
    *out = (struct seep_holders){
        .of_frame = json_object(), .said = files->said, .n_said = files->n_said};
    files->said = NULL;
    files->n_said = files->said_capacity = 0;
    if (!rc)
        rc = merge_lines(files, &series, out->of_frame);
    if (!rc && !(out->of_job = seep_holders_job_json(files, &series)))
        rc = -SEEP_ENOMEM;
    seep_holders_series_fini(&series);
    return rc ? rc : seep_small_rise_find(files, &out->small);
}

void seep_holders_fini(struct seep_holders *holders)
{
    json_decref(holders->of_frame);
    json_decref(holders->of_job);
    seep_small_rise_fini(&holders->small);
    for (size_t i = 0; i < holders->n_said; i++)
        free(holders->said[i]);
    free(holders->said);
    *holders = (struct seep_holders){0};
}
