/* A host that loads a plugin, has threads of its own call it, unloads it, and goes on with the same threads, again and again. Nothing of it may stay
   behind in the threads that the kernel or libc would look for. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 25, TIMES = 2000 };

static pthread_barrier_t loaded, used, unloaded;
static long (*work)(long);

static void wait_at(pthread_barrier_t *barrier) { pthread_barrier_wait(barrier); }

/* Gives the CPU up, and loses it. */
static void live_on(void) {
    volatile long spun = 0;
    for (int i = 0; i < 20; i++) {
        struct timespec moment = {0, 50000};
        sched_yield();
        nanosleep(&moment, NULL);
        for (long end = spun + 20000; spun < end;) {
            spun += 1;
        }
    }
}

static void *host_thread(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        wait_at(&loaded);
        work(TIMES);
        wait_at(&used);
        wait_at(&unloaded);
        live_on();
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    long least = (long)THREADS * TIMES;
    if (argc != 2) {
        return 2;
    }
    alarm(120);
    pthread_barrier_init(&loaded, NULL, THREADS + 1);
    pthread_barrier_init(&used, NULL, THREADS + 1);
    pthread_barrier_init(&unloaded, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, host_thread, NULL) != 0) {
            return 2;
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (plugin == NULL) {
            printf("FAILED %s\n", dlerror());
            return 1;
        }
        *(void **)&work = dlsym(plugin, "plugin_work");
        wait_at(&loaded);
        wait_at(&used);
        if (work(1) <= least) {
            printf("FAILED somebody was not counted\n");
            return 1;
        }
        dlclose(plugin);
        wait_at(&unloaded);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%d rounds of %d threads\n", ROUNDS, THREADS);
    return 0;
}
