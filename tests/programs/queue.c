/* A bounded queue: THREADS threads, half of which put numbers and half take them, for SECONDS. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PLACES = 16, WORK = 1000 };
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_room = PTHREAD_COND_INITIALIZER, has_items = PTHREAD_COND_INITIALIZER;
static unsigned long items[PLACES], put, taken;
static int done;
static _Atomic unsigned long sum_put, sum_taken;

static void wrong(const char *what) {
    fprintf(stderr, "WRONG: %s\n", what);
    exit(1);
}

/* What somebody does with an item, without the lock. */
static unsigned long works(unsigned long seed) {
    for (int i = 0; i < WORK; i++) seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return seed >> 40;
}

static void *puts_items(void *argument) {
    unsigned long seed = (unsigned long)argument, sum = 0;
    for (;;) {
        unsigned long item = seed = works(seed + 1);
        pthread_mutex_lock(&guard);
        while (put - taken == PLACES && !done) pthread_cond_wait(&has_room, &guard);
        if (done) break;
        items[put++ % PLACES] = item;
        if (put - taken > PLACES) wrong("a place was overrun");
        sum += item;
        pthread_cond_signal(&has_items);
        pthread_mutex_unlock(&guard);
    }
    pthread_mutex_unlock(&guard);
    sum_put += sum;
    return NULL;
}

static void *takes_items(void *argument) {
    unsigned long sum = 0, idle = (unsigned long)argument;
    for (;;) {
        pthread_mutex_lock(&guard);
        while (put == taken && !done) pthread_cond_wait(&has_items, &guard);
        if (put == taken) break;
        unsigned long item = items[taken++ % PLACES];
        pthread_cond_signal(&has_room);
        pthread_mutex_unlock(&guard);
        sum += item;
        idle += works(item);
    }
    pthread_mutex_unlock(&guard);
    sum_taken += sum;
    return (void *)idle;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    int threads = atoi(words[1]), seconds = atoi(words[2]);
    pthread_t *all = calloc((size_t)threads, sizeof *all);
    for (int i = 0; i < threads; i++) pthread_create(&all[i], NULL, i % 2 ? takes_items : puts_items, (void *)(long)i);
    sleep((unsigned)seconds);
    pthread_mutex_lock(&guard);
    done = 1;
    pthread_cond_broadcast(&has_room);
    pthread_cond_broadcast(&has_items);
    pthread_mutex_unlock(&guard);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    if (put != taken || sum_put != sum_taken) wrong("items were lost, or taken twice");
    printf("%lu items taken once, ops/s %.1f\n", taken, (double)taken / seconds);
    return 0;
}
