/* A reader does not leave another reader behind a writer that waits. */
#define GROUP "rwlock_beside"
#include "../check.h"

struct kind_of_lock {
    const char *name;
    int kind;
};
static const struct kind_of_lock ALL[] = {
    {"default", PTHREAD_RWLOCK_DEFAULT_NP},
    {"prefer-writer", PTHREAD_RWLOCK_PREFER_WRITER_NP},
    {"prefer-writer-nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP},
};
static const struct kind_of_lock READERS_FIRST[] = {
    {"default", PTHREAD_RWLOCK_DEFAULT_NP},
    {"prefer-writer", PTHREAD_RWLOCK_PREFER_WRITER_NP},
};

static pthread_rwlock_t L;
static pid_t writer, reader;
static int reads, goes_on, wrote;

static void make(int kind) {
    pthread_rwlockattr_t attributes;
    GIVES(pthread_rwlockattr_init(&attributes), 0);
    GIVES(pthread_rwlockattr_setkind_np(&attributes, kind), 0);
    GIVES(pthread_rwlock_init(&L, &attributes), 0);
    GIVES(pthread_rwlockattr_destroy(&attributes), 0);
    PUT(&writer, 0), PUT(&reader, 0), PUT(&reads, 0), PUT(&goes_on, 0), PUT(&wrote, 0);
}

static void *writes(void *unused) {
    PUT(&writer, my_tid());
    GIVES(pthread_rwlock_wrlock(&L), 0);
    UP(&wrote);
    GIVES(pthread_rwlock_unlock(&L), 0);
    return unused;
}

static void *reads_on(void *unused) {
    PUT(&reader, my_tid());
    GIVES(pthread_rwlock_rdlock(&L), 0);
    UP(&reads);
    AWAIT(READ(&goes_on));
    GIVES(pthread_rwlock_unlock(&L), 0);
    return unused;
}

/* Who has written reads, and waits for a reader that came before it and waits behind a writer. */
TEST_EACH(behind_a_writer, ALL) {
    for (int round = 0; round < 50 && time_left(); round++) {
        make(ALL[row].kind);
        GIVES(pthread_rwlock_wrlock(&L), 0);
        pthread_t w = START(writes, NULL);
        AWAIT(READ(&writer) && sleeps(READ(&writer)));
        pthread_t r = START(reads_on, NULL);
        AWAIT(READ(&reader) && sleeps(READ(&reader)));
        GIVES(pthread_rwlock_unlock(&L), 0);
        GIVES(pthread_rwlock_rdlock(&L), 0);
        AWAIT(READ(&reads));
        UP(&goes_on);
        GIVES(pthread_rwlock_unlock(&L), 0);
        END(r);
        END(w);
        GIVES(pthread_rwlock_destroy(&L), 0);
    }
}

/* A reader that comes while another one reads and a writer waits. */
TEST_EACH(past_a_writer, READERS_FIRST) {
    for (int round = 0; round < 50 && time_left(); round++) {
        make(READERS_FIRST[row].kind);
        GIVES(pthread_rwlock_rdlock(&L), 0);
        pthread_t w = START(writes, NULL);
        AWAIT(READ(&writer) && sleeps(READ(&writer)));
        pthread_t r = START(reads_on, NULL);
        AWAIT(READ(&reads));
        CHECK(!READ(&wrote), "a writer is in beside a reader");
        UP(&goes_on);
        END(r);
        GIVES(pthread_rwlock_unlock(&L), 0);
        END(w);
        GIVES(pthread_rwlock_destroy(&L), 0);
    }
}
