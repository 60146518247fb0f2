// Broken on purpose: condition variables that never wake anybody. Programs that wait must be found to hang.
#include <pthread.h>

int pthread_cond_signal(pthread_cond_t *cond) { (void)cond; return 0; }
int pthread_cond_broadcast(pthread_cond_t *cond) { (void)cond; return 0; }
