/* Linked with a debug build of the library, which notices that this thread would wait for itself: the process ends, with one line. */
#include <stdio.h>
#include <unistd.h>

#include <stanchion.h>

int main(void) {
    static stanchion_percpu_rwlock_t lock = STANCHION_PERCPU_RWLOCK_INIT;
    alarm(30);
    stanchion_percpu_rwlock_rdlock(&lock);
    stanchion_percpu_rwlock_wrlock(&lock);
    puts("it went on");
    return 0;
}
