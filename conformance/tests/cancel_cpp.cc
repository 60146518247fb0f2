// Cancellation of C++ threads that wait: the stack is unwound, destructors run with the mutex held, abi::__forced_unwind passes by.
#define GROUP "cancel_cpp"
#include "../check.h"
#include <condition_variable>
#include <cxxabi.h>
#include <mutex>

static pthread_mutex_t M = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t C = PTHREAD_COND_INITIALIZER;
static std::mutex cpp_mutex;
static std::condition_variable cpp_changed;
static int waiting, destructors, unwound, was_held;

static int trylock(void *) { return pthread_mutex_trylock(&M); }
static int cpp_trylock(void *) { return cpp_mutex.try_lock() ? 0 : EBUSY; }

// Runs when the stack is unwound, before the lock that was taken before it is released.
struct Witness {
    int (*attempt)(void *);
    ~Witness() {
        was_held = ELSEWHERE(attempt, nullptr) == EBUSY;
        ADD(&destructors, 1);
    }
};

struct Guard {
    Guard() { GIVES(pthread_mutex_lock(&M), 0); }
    ~Guard() { GIVES(pthread_mutex_unlock(&M), 0); }
};

struct way {
    const char *name;
    void *(*body)(void *);
};

// What a wait does that ends in no other way than by cancellation.
template <class Wait> static void unwinds(Wait wait) {
    try {
        for (;;) wait();
    } catch (abi::__forced_unwind &) {
        ADD(&unwound, 1);
        throw;
    }
}

static struct timespec later(clockid_t clock) { return in_ms(clock, 3600 * 1000); }

static void *waits(void *) {
    Guard guard;
    Witness witness{trylock};
    UP(&waiting);
    unwinds([] { pthread_cond_wait(&C, &M); });
    return nullptr;
}
static void *waits_timed(void *) {
    Guard guard;
    Witness witness{trylock};
    UP(&waiting);
    unwinds([] {
        struct timespec at = later(CLOCK_REALTIME);
        pthread_cond_timedwait(&C, &M, &at);
    });
    return nullptr;
}
static void *waits_by_clock(void *) {
    Guard guard;
    Witness witness{trylock};
    UP(&waiting);
    unwinds([] {
        struct timespec at = later(CLOCK_MONOTONIC);
        pthread_cond_clockwait(&C, &M, CLOCK_MONOTONIC, &at);
    });
    return nullptr;
}
static void *waits_cpp_timed(void *) {
    std::unique_lock<std::mutex> guard(cpp_mutex);
    Witness witness{cpp_trylock};
    UP(&waiting);
    unwinds([&] { cpp_changed.wait_for(guard, std::chrono::hours(1)); });
    return nullptr;
}
#if defined(__GLIBCXX__) && _GLIBCXX_RELEASE >= 12
// Before version 12 of libstdc++ this function may not throw, so a cancellation ends the program there, whatever the lock.
static void *waits_cpp(void *) {
    std::unique_lock<std::mutex> guard(cpp_mutex);
    Witness witness{cpp_trylock};
    UP(&waiting);
    unwinds([&] { cpp_changed.wait(guard); });
    return nullptr;
}
#endif

static const way WAYS[] = {
    {"wait", waits},
    {"timedwait", waits_timed},
    {"clockwait", waits_by_clock},
    {"std-wait_for", waits_cpp_timed},
#if defined(__GLIBCXX__) && _GLIBCXX_RELEASE >= 12
    {"std-wait", waits_cpp},
#endif
};

TEST_EACH(destructors_run_with_the_mutex_held, WAYS) {
    for (int round = 1; round <= 20 && time_left(); round++) {
        PUT(&waiting, 0);
        pthread_t thread = START(WAYS[row].body, nullptr);
        AWAIT(READ(&waiting));
        if (round % 2) settle(); // else it may not wait yet
        GIVES(pthread_cancel(thread), 0);
        CHECK(END(thread) == PTHREAD_CANCELED, "the thread was not cancelled");
        CHECK(READ(&destructors) == round, "%d destructors ran, not %d", destructors, round);
        CHECK(READ(&unwound) == round, "%d unwound, not %d", unwound, round);
        CHECK(was_held, "the destructor ran without the mutex");
    }
    GIVES(pthread_mutex_trylock(&M), 0);
    CHECK(cpp_mutex.try_lock(), "the mutex stayed locked");
}

// A C++ exception that is thrown, and caught, while locks are held or waited for: nothing of it is the library's business.
TEST(exceptions_pass_by) {
    int caught = 0;
    for (int i = 0; i < 100; i++) {
        try {
            Guard guard;
            std::lock_guard<std::mutex> other(cpp_mutex);
            throw i;
        } catch (int thrown) {
            caught += thrown == i;
        }
    }
    CHECK(caught == 100, "%d of 100 were caught", caught);
    GIVES(pthread_mutex_trylock(&M), 0);
}
