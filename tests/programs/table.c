/* A table under one reader-writer lock: THREADS threads read 95 of 100 times, for SECONDS. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 1024, WORK = 300 };
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct {
    unsigned long left, right;
} rows[ROWS];
static unsigned long writes;
static _Atomic int done;
static _Atomic unsigned long all_writes, all;

static void *uses(void *argument) {
    unsigned long seed = (unsigned long)argument, written = 0, operations = 0;
    while (!done) {
        for (int i = 0; i < WORK; i++) seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        unsigned long row = seed >> 33;
        if ((seed >> 20) % 100 >= 5) {
            pthread_rwlock_rdlock(&lock);
            for (int i = 0; i < 16; i++) {
                if (rows[(row + i) % ROWS].left == rows[(row + i) % ROWS].right) continue;
                fprintf(stderr, "WRONG: a row was half written\n");
                exit(1);
            }
        } else {
            pthread_rwlock_wrlock(&lock);
            rows[row % ROWS].left++;
            rows[row % ROWS].right++;
            writes++;
            written++;
        }
        pthread_rwlock_unlock(&lock);
        operations++;
    }
    all_writes += written;
    all += operations;
    return NULL;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    int threads = atoi(words[1]), seconds = atoi(words[2]);
    pthread_t *each = calloc((size_t)threads, sizeof *each);
    for (int i = 0; i < threads; i++) pthread_create(&each[i], NULL, uses, (void *)(long)(i + 1));
    sleep((unsigned)seconds);
    done = 1;
    for (int i = 0; i < threads; i++) pthread_join(each[i], NULL);
    if (writes != all_writes) {
        fprintf(stderr, "WRONG: %lu writes of %lu are there\n", writes, (unsigned long)all_writes);
        return 1;
    }
    printf("%lu operations, all whole, ops/s %.1f\n", (unsigned long)all, (double)all / seconds);
    return 0;
}
