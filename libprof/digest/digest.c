#include "libprof/digest/digest.h"

#include "libprof/digest/digest_names.h"

#include <stdlib.h>
#include <string.h>

int seep_digest_init(struct seep_digest *d)
{
    memset(d, 0, sizeof *d);
    d->ranks = calloc(SEEP_DIGEST_RANKS / 8, 1);
    d->failed = !d->ranks;
    (void)seep_digest_text(d, ""); /* 0 */
    return d->failed ? -SEEP_ENOMEM : 0;
}

void seep_digest_fini(struct seep_digest *d)
{
    for (size_t i = 0; i < d->n_texts; i++)
        free(d->texts[i]);
    free(d->texts);
    free(d->stacks);
    free(d->stack_frames);
    free(d->abouts);
    free(d->rows);
    free(d->founds);
    free(d->tops);
    free(d->cells);
    free(d->ranks);
    free(d->sources.list);
    free(d->hosts.list);
    free(d->commands.list);
    free(d->job_ids.list);
    free(d->versions.list);
    free(d->step_sources.list);
    free(d->cwds.list);
    seep_hash_fini(&d->text_index);
    seep_hash_fini(&d->stack_index);
    seep_hash_fini(&d->about_index);
    seep_hash_fini(&d->row_index);
    seep_hash_fini(&d->cell_index);
    memset(d, 0, sizeof *d);
}
