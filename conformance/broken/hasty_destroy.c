/* Broken: destroying a condition variable does not wait for those who are still on their way out of a wait.
 * caught by: cond_gone.unmapped_after_broadcast_stirred/private cond_gone.timed_and_unmapped_after_broadcast/monotonic
 * passes: cond.ring/private probe.ring_of_8_threads cond_gone.made_again_in_the_same_place/private
 */
#include "real.h"

int pthread_cond_destroy(pthread_cond_t *cond) {
    (void)cond;
    return 0;
}
