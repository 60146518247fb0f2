/* Broken: the first signal looks libc's function up, which needs the dynamic loader's lock and its last error.
 * caught by: late.first_use_keeps_dlerror/cond-signal late.first_use_while_a_library_is_opened
 * passes: late.first_use_keeps_dlerror/cond-broadcast cond.ring/private probe.ring_of_8_threads
 */
#include "real.h"

int pthread_cond_signal(pthread_cond_t *cond) {
    static int (*libc)(pthread_cond_t *);
    if (!libc) {
        *(void **)&libc = dlvsym(RTLD_NEXT, "pthread_cond_signal", "GLIBC_2.3.2");
        (void)dlerror();
    }
    return libc(cond);
}
