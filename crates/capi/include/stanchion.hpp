/*
 * stanchion.hpp - stanchion.h for C++17: works with std::lock_guard, std::unique_lock, std::scoped_lock and std::shared_lock
 *
 * Header only. MIT or Apache-2.0, at your choice.
 *
 * What the C functions return as an error number is thrown as std::system_error, as by the types of the standard library. Nothing here
 * allocates, and all constructors are constexpr, so that objects of static storage need no initialisation at run time.
 */
#ifndef STANCHION_HPP
#define STANCHION_HPP

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <type_traits>

#include "stanchion.h"

namespace stanchion {

namespace detail {

/* 0, or a throw. */
inline void check(int error) {
    if (error != 0) {
        throw std::system_error(error, std::generic_category(), "stanchion");
    }
}

/* Whether it was done: `refusal` says that it was not. */
inline bool done(int error, int refusal) {
    if (error == refusal) {
        return false;
    }
    check(error);
    return true;
}

/* A point of time as C has it. */
template <class Clock, class Duration>
timespec point(const std::chrono::time_point<Clock, Duration>& when) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(when);
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(when - seconds);
    timespec result{};
    result.tv_sec = static_cast<decltype(result.tv_sec)>(seconds.time_since_epoch().count());
    result.tv_nsec = static_cast<decltype(result.tv_nsec)>(rest.count());
    return result;
}

/* What is further away is as far. */
inline constexpr std::chrono::hours farthest{24 * 365 * 100};

/* The point of time that far from now. */
template <class Rep, class Period>
std::chrono::steady_clock::time_point in(const std::chrono::duration<Rep, Period>& delay) {
    using std::chrono::steady_clock;
    const std::chrono::duration<long double> seconds(delay); /* every delay fits, of any period */
    if (!(seconds.count() > 0)) {                            /* nor is it "not a number" */
        return steady_clock::now();
    }
    if (seconds > farthest) {
        return steady_clock::now() + farthest;
    }
    return steady_clock::now() + std::chrono::ceil<steady_clock::duration>(delay);
}

/* So long it is until then: long ago and far away, too, where a difference of integers does not fit. */
template <class Clock, class Duration>
std::chrono::duration<long double> left(const std::chrono::time_point<Clock, Duration>& until) {
    using seconds = std::chrono::duration<long double>;
    return seconds(until.time_since_epoch()) - seconds(Clock::now().time_since_epoch());
}

/* Calls `attempt` with points of the monotonic clock until it succeeds, or `Clock` shows `until`. A clock that is set forward meanwhile
 * is looked at after the wait only. */
template <class Clock, class Duration, class Attempt>
bool by(const std::chrono::time_point<Clock, Duration>& until, Attempt attempt) {
    for (;;) {
        const timespec at = point(in(left(until)));
        if (done(attempt(&at), ETIMEDOUT)) {
            return true;
        }
        if (left(until).count() <= 0) {
            return false;
        }
    }
}

} // namespace detail

/* A lock of the family: BasicLockable, Lockable and TimedLockable. */
template <class Native, int (*Lock)(Native*) noexcept, int (*Try)(Native*) noexcept,
          int (*Timed)(Native*, const timespec*) noexcept, int (*Unlock)(Native*) noexcept>
class basic_mutex {
public:
    using native_handle_type = Native*;

    constexpr basic_mutex() noexcept = default;
    basic_mutex(const basic_mutex&) = delete;
    basic_mutex& operator=(const basic_mutex&) = delete;

    void lock() { detail::check(Lock(&native_)); }
    bool try_lock() { return detail::done(Try(&native_), EBUSY); }
    void unlock() { detail::check(Unlock(&native_)); }

    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& delay) {
        return try_lock_until(detail::in(delay));
    }

    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
        return detail::by(until, [this](const timespec* at) { return Timed(&native_, at); });
    }

    native_handle_type native_handle() noexcept { return &native_; }

private:
    Native native_ = STANCHION_INIT;
};

#define STANCHION_FAMILY_(name, bytes) STANCHION_MUTEX_(name##_mutex, name);
#define STANCHION_MUTEX_(name, native)                                                                       \
    using name = basic_mutex<stanchion_##native##_t, stanchion_##native##_lock, stanchion_##native##_trylock, \
                             stanchion_##native##_timedlock, stanchion_##native##_unlock>

STANCHION_MUTEX_(mutex, mutex);                 /* the default: 4 bytes */
STANCHION_MUTEX_(checked_mutex, checked_mutex); /* throws for misuse: 16 bytes */
STANCHION_MUTEX_(counted_mutex, counted_mutex); /* counts its events */
#ifdef STANCHION_FAMILY_H                        /* whoever includes stanchion_family.h first: */
STANCHION_EACH_FAMILY(STANCHION_FAMILY_)        /* byte_mutex, ticket_mutex and so on */
#endif

#undef STANCHION_MUTEX_
#undef STANCHION_FAMILY_

/* Releases it and leaves it to the thread that has waited longest, if one waits. */
inline void unlock_fair(mutex& held) { detail::check(stanchion_mutex_unlock_fair(held.native_handle())); }

/* A reader-writer lock: SharedMutex and SharedTimedMutex. */
template <class Native, int (*WrLock)(Native*) noexcept, int (*WrTry)(Native*) noexcept,
          int (*WrTimed)(Native*, const timespec*) noexcept, int (*WrUnlock)(Native*) noexcept,
          int (*RdLock)(Native*) noexcept, int (*RdTry)(Native*) noexcept,
          int (*RdTimed)(Native*, const timespec*) noexcept, int (*RdUnlock)(Native*) noexcept,
          int (*Downgrade)(Native*) noexcept>
class basic_shared_mutex {
public:
    using native_handle_type = Native*;

    constexpr basic_shared_mutex() noexcept = default;
    basic_shared_mutex(const basic_shared_mutex&) = delete;
    basic_shared_mutex& operator=(const basic_shared_mutex&) = delete;

    void lock() { detail::check(WrLock(&native_)); }
    bool try_lock() { return detail::done(WrTry(&native_), EBUSY); }
    void unlock() { detail::check(WrUnlock(&native_)); }
    void lock_shared() { detail::check(RdLock(&native_)); }
    bool try_lock_shared() { return detail::done(RdTry(&native_), EBUSY); }
    void unlock_shared() { detail::check(RdUnlock(&native_)); }
    /* The writer becomes a reader; no other writer comes in between. */
    void unlock_and_lock_shared() { detail::check(Downgrade(&native_)); }

    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& delay) {
        return try_lock_until(detail::in(delay));
    }
    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& delay) {
        return try_lock_shared_until(detail::in(delay));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
        return detail::by(until, [this](const timespec* at) { return WrTimed(&native_, at); });
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& until) {
        return detail::by(until, [this](const timespec* at) { return RdTimed(&native_, at); });
    }

    native_handle_type native_handle() noexcept { return &native_; }

protected:
    constexpr explicit basic_shared_mutex(const Native& native) noexcept : native_(native) {}

private:
    Native native_ = STANCHION_INIT;
};

#define STANCHION_SHARED_MUTEX_(native)                                                                        \
    basic_shared_mutex<stanchion_##native##_t, stanchion_##native##_wrlock, stanchion_##native##_trywrlock,     \
                       stanchion_##native##_timedwrlock, stanchion_##native##_wrunlock,                        \
                       stanchion_##native##_rdlock, stanchion_##native##_tryrdlock,                            \
                       stanchion_##native##_timedrdlock, stanchion_##native##_rdunlock, stanchion_##native##_downgrade>

/* The queued reader-writer lock: 12 bytes. */
using shared_mutex = STANCHION_SHARED_MUTEX_(rwlock);

/* The per-CPU reader-writer lock. It is released by the thread that acquired it. */
class percpu_shared_mutex : public STANCHION_SHARED_MUTEX_(percpu_rwlock) {
public:
    /* One of the class that all share. */
    constexpr percpu_shared_mutex() noexcept = default;
    /* One of a class, which stays until the program ends. */
    constexpr explicit percpu_shared_mutex(stanchion_class_t& of) noexcept
        : basic_shared_mutex(stanchion_percpu_rwlock_t STANCHION_PERCPU_RWLOCK_INIT_IN(&of)) {}
};

#undef STANCHION_SHARED_MUTEX_

/* A condition variable for std::unique_lock<stanchion::mutex>. */
class condition_variable {
public:
    using native_handle_type = stanchion_cond_t*;

    constexpr condition_variable() noexcept = default;
    condition_variable(const condition_variable&) = delete;
    condition_variable& operator=(const condition_variable&) = delete;

    void notify_one() noexcept { (void)stanchion_cond_signal(&native_); }
    void notify_all() noexcept { (void)stanchion_cond_broadcast(&native_); }

    void wait(std::unique_lock<mutex>& lock) {
        detail::check(stanchion_cond_wait(&native_, lock.mutex()->native_handle()));
    }

    template <class Predicate>
    void wait(std::unique_lock<mutex>& lock, Predicate holds) {
        while (!holds()) {
            wait(lock);
        }
    }

    template <class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<mutex>& lock,
                              const std::chrono::time_point<Clock, Duration>& until) {
        /* By the clock that was asked for, which may be set meanwhile; clocks of others are looked at again afterwards. A point of the
         * system clock that is far away may not fit. */
        const auto left = detail::left(until);
        int error;
        if (std::is_same_v<Clock, std::chrono::system_clock> && left < detail::farthest && left > -detail::farthest) {
            const timespec at = detail::point(until);
            error = stanchion_cond_clockwait(&native_, lock.mutex()->native_handle(), CLOCK_REALTIME, &at);
        } else {
            const timespec at = detail::point(detail::in(left));
            error = stanchion_cond_timedwait(&native_, lock.mutex()->native_handle(), &at);
        }
        if (detail::done(error, ETIMEDOUT) || detail::left(until).count() > 0) {
            return std::cv_status::no_timeout;
        }
        return std::cv_status::timeout;
    }

    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex>& lock, const std::chrono::time_point<Clock, Duration>& until,
                    Predicate holds) {
        while (!holds()) {
            if (wait_until(lock, until) == std::cv_status::timeout) {
                return holds();
            }
        }
        return true;
    }

    template <class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& delay) {
        return wait_until(lock, detail::in(delay));
    }

    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& delay,
                  Predicate holds) {
        return wait_until(lock, detail::in(delay), holds);
    }

    native_handle_type native_handle() noexcept { return &native_; }

private:
    stanchion_cond_t native_ = STANCHION_INIT;
};

} // namespace stanchion

#endif
