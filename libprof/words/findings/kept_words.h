/* Words about memory that is kept but does not grow without end: loaded data, caches, pools.
 * Formats of printf(); callers fill in numbers and names. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_KEPT_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_KEPT_WORDS_H

#define SEEP_KEPT_SHARE_TEXT "%s: %.0f %% of the peak of %s"

/* Loaded before the first step. */
#define SEEP_LOADED_BLOCKS_TEXT "%llu blocks of %s, all allocated before step 1 ended"
#define SEEP_LOADED_STAYS_TEXT  "None was freed and none was added up to step %d"
#define SEEP_LOADED_LITTLE_TEXT "It takes %.1f %% of %s %s: that matters only if the data set grows"

/* Caches. */
#define SEEP_CACHE_PLATEAU_TEXT     "Grew by %s until step %d, then levelled off"
#define SEEP_CACHE_ITS_EPOCH_TEXT   "The epoch in which it began ended with step %d"
#define SEEP_CACHE_FIRST_EPOCH_TEXT "The first epoch ended with step %d"
#define SEEP_CACHE_FADING_TEXT                                                                     \
    "Each epoch adds less, the first %s, the last %s: only items that are new are kept"
#define SEEP_CACHE_RENEWED_TEXT                                                                    \
    "Since then its size is constant while new blocks replace old ones: %llu lasting allocations " \
    "for %llu live blocks"
#define SEEP_CACHE_REPLACED_TEXT                                                                   \
    "Later epochs replace old blocks with new ones: %llu lasting allocations for %llu live "       \
    "blocks, each replaced after about %d steps"
#define SEEP_CACHE_ONCE_TEXT "%llu blocks of about %s, each allocated once and never replaced"
#define SEEP_CACHE_CYCLED_TEXT                                                                     \
    "Held by %s, which keeps everything from its first pass: %llu items in the snapshot"
#define SEEP_CACHE_ITEMS_TEXT                                                                      \
    "Held by %s: the %llu entries were all there in step %d, and each keeps what its first use "   \
    "makes. This ends when all were used"

/* What fills or grows up to a limit. */
#define SEEP_BOUNDED_HOLDER_TEXT  "Held by %s"
#define SEEP_BOUNDED_LENGTH_TEXT  "It has %llu of at most %llu entries, and takes %s when full"
#define SEEP_BOUNDED_FULL_AT_TEXT "At this pace it is full about %.0f %ss after the snapshot"
#define SEEP_BOUNDED_STAIRS_TEXT                                                                   \
    "Grew from %s to %s in %d jumps, each time replacing a block with a larger one"
#define SEEP_BOUNDED_BLOCKS_TEXT       "The number of blocks stays the same: %lld"
#define SEEP_BOUNDED_LAST_JUMP_TEXT    "The last jump was in step %d of %d"
#define SEEP_LIBRARY_FILLS_TITLE_TEXT  "%s fills up"
#define SEEP_LIBRARY_LEVELLED_TEXT     "%s has levelled off: %s"
#define SEEP_LIBRARY_BOUND_TEXT        "%s has a bound: %s"
#define SEEP_LIBRARY_IS_TEXT           "%s: %s"
#define SEEP_LIBRARY_BY_FUNCTIONS_TEXT "Recognised by the functions that allocated it"
#define SEEP_LIBRARY_BY_STATIC_TEXT    "Recognised by its holder: static data of the library"

/* Files and datasets on a GPU. */
#define SEEP_LOADED_TITLE_TEXT "%s loaded from a file stays on GPU %d"
#define SEEP_LOADED_ADVICE_TEXT                                                                    \
    "Load checkpoints with map_location=\"cpu\", and del them once load_state_dict() has copied "  \
    "them."
#define SEEP_LOADED_TIMES_TEXT                                                                     \
    "It is still live in %s %d: block by block, %llu times what the network holds, beside the "    \
    "network itself"
#define SEEP_LOADED_MOMENTS_TEXT                                                                   \
    "The optimizer keeps using the moments in it; the rest is left over"
#define SEEP_LOADED_SECOND_TEXT                                                                    \
    "It is still live in %s %d: %llu blocks, together as large as the network. "                   \
    "load_state_dict() has copied weights into the network, so this is a second copy"
#define SEEP_WHOLE_PART_TEXT  "Each step uses about %s of it, at %s:%llu"
#define SEEP_WHOLE_STAYS_TEXT "Copied to the GPU before step 1 ended, and still live in step %d"
#define SEEP_WHOLE_ADVICE_TEXT                                                                     \
    "If each step reads all of it, ignore this. Otherwise keep it in host memory (pin_memory) "    \
    "and move one batch at a time to the GPU."

/* Memory of each process: loader workers, ranks; and pinned memory. */
#define SEEP_WORKER_SENT_TEXT                                                                      \
    "Loader workers allocated %llu blocks of about %s, sent them to the trainer, and still keep "  \
    "them"
#define SEEP_WORKER_EACH_TEXT  "%u loader workers at a time hold their own %s each: %s in total"
#define SEEP_WORKER_COUNT_TEXT "%u worker processes did so over the whole run"
#define SEEP_RANK_TEXT         "rank %d"
#define SEEP_RANK_PROCESS_TEXT "process %u"
#define SEEP_RANK_DEVICES_TEXT "%s works on GPU %d and also holds %llu blocks on GPU %d"
#define SEEP_PINNED_POOL_TEXT                                                                      \
    "%llu pinned blocks with power-of-two sizes, %s in all; none was freed"

#define SEEP_DOUBLING_TEXT "Went from %s to %s by doubling %u times, the last time in %s %d of %d"

#endif
