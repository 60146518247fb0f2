//! libc has some functions by a second name each, which a few libraries use.
#![expect(clippy::missing_safety_doc, reason = "each asks what its first name does")]

use crate::mutex::{
    pthread_mutex_destroy, pthread_mutex_init, pthread_mutex_lock, pthread_mutex_trylock,
    pthread_mutex_unlock,
};
use crate::rwlock::{
    pthread_rwlock_destroy, pthread_rwlock_init, pthread_rwlock_rdlock, pthread_rwlock_tryrdlock,
    pthread_rwlock_trywrlock, pthread_rwlock_unlock, pthread_rwlock_wrlock,
};
use libc::{pthread_mutex_t, pthread_mutexattr_t, pthread_rwlock_t, pthread_rwlockattr_t};

macro_rules! by_second_name {
    ($($second:ident($($argument:ident: $type:ty),*) = $first:path;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $second($($argument: $type),*) -> core::ffi::c_int {
            // SAFETY: the same function by another name.
            unsafe { $first($($argument),*) }
        }
    )*};
}
by_second_name! {
    __pthread_mutex_init(mutex: *mut pthread_mutex_t, attributes: *const pthread_mutexattr_t) = pthread_mutex_init;
    __pthread_mutex_destroy(mutex: *mut pthread_mutex_t) = pthread_mutex_destroy;
    __pthread_mutex_lock(mutex: *mut pthread_mutex_t) = pthread_mutex_lock;
    __pthread_mutex_trylock(mutex: *mut pthread_mutex_t) = pthread_mutex_trylock;
    __pthread_mutex_unlock(mutex: *mut pthread_mutex_t) = pthread_mutex_unlock;
    __pthread_rwlock_init(lock: *mut pthread_rwlock_t, attributes: *const pthread_rwlockattr_t) = pthread_rwlock_init;
    __pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) = pthread_rwlock_destroy;
    __pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) = pthread_rwlock_rdlock;
    __pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) = pthread_rwlock_tryrdlock;
    __pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) = pthread_rwlock_wrlock;
    __pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) = pthread_rwlock_trywrlock;
    __pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) = pthread_rwlock_unlock;
}
