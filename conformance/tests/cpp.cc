// The C++ standard library's locks and condition variables, which are pthread's underneath.
#define GROUP "cpp"
#include "../check.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

// ---- Static objects: constructed before main, some used before that, and destroyed after it.
static std::mutex static_mutex;
static std::recursive_mutex static_recursive;
static std::shared_mutex static_shared;
static std::condition_variable static_changed;

struct UsesLocks {
    bool worked = false;
    UsesLocks() {
        std::lock_guard<std::mutex> one(static_mutex);
        std::lock_guard<std::recursive_mutex> two(static_recursive);
        std::lock_guard<std::recursive_mutex> again(static_recursive);
        static_changed.notify_all();
        worked = true;
    }
    ~UsesLocks() {
        std::lock_guard<std::mutex> one(static_mutex);
        std::shared_lock<std::shared_mutex> two(static_shared);
    }
};
static UsesLocks used_before_main;

TEST(static_objects) {
    CHECK(used_before_main.worked, "the static object was not constructed");
    std::lock_guard<std::mutex> guard(static_mutex);
    std::thread([] { CHECK(!static_mutex.try_lock(), "two threads hold a static mutex"); }).join();
}

static int constructed;
static int slow() {
    std::this_thread::sleep_for(5ms);
    return ++constructed;
}
TEST(local_statics_are_made_once) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++) threads.emplace_back([] {
        static int value = slow();
        CHECK(value == 1, "made %d times", value);
    });
    for (auto &thread : threads) thread.join();
}

// ---- Mutexes.
template <class Mutex> static void excludes() {
    Mutex mutex;
    long counter = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; i++) threads.emplace_back([&] {
        for (int j = 0; j < 5000; j++) {
            std::lock_guard<Mutex> guard(mutex);
            long seen = counter;
            if (j % 64 == 0) std::this_thread::yield();
            counter = seen + 1;
        }
    });
    for (auto &thread : threads) thread.join();
    CHECK(counter == 30000, "counted to %ld, not 30000", counter);
    std::lock_guard<Mutex> guard(mutex);
    std::thread([&] { CHECK(!mutex.try_lock(), "two threads hold it"); }).join();
}
TEST(mutex) { excludes<std::mutex>(); }
TEST(recursive_mutex) { excludes<std::recursive_mutex>(); }
TEST(timed_mutex) { excludes<std::timed_mutex>(); }
TEST(recursive_timed_mutex) { excludes<std::recursive_timed_mutex>(); }
TEST(shared_mutex) { excludes<std::shared_mutex>(); }
TEST(shared_timed_mutex) { excludes<std::shared_timed_mutex>(); }

template <class Mutex> static void gives_up_in_time() {
    Mutex mutex;
    mutex.lock();
    std::thread([&] {
        auto before = std::chrono::steady_clock::now();
        CHECK(!mutex.try_lock_for(20ms), "two threads hold it");
        CHECK(std::chrono::steady_clock::now() - before >= 20ms, "gave up too early");
        auto deadline = std::chrono::system_clock::now() + 20ms;
        CHECK(!mutex.try_lock_until(deadline), "two threads hold it");
        CHECK(std::chrono::system_clock::now() >= deadline, "gave up too early");
        CHECK(!mutex.try_lock_until(std::chrono::steady_clock::now() - 1ms), "two threads hold it");
    }).join();
    mutex.unlock();
    CHECK(mutex.try_lock_for(1h), "a free one was not got");
    std::atomic<bool> about_to{false}, inside{false};
    std::thread waiter([&] {
        about_to = true;
        CHECK(mutex.try_lock_for(1h), "it was not got in an hour");
        inside = true;
        mutex.unlock();
    });
    AWAIT(about_to);
    settle();
    CHECK(!inside, "two threads hold it");
    mutex.unlock();
    waiter.join();
}
TEST(timed_mutex_gives_up) { gives_up_in_time<std::timed_mutex>(); }
TEST(recursive_timed_mutex_gives_up) { gives_up_in_time<std::recursive_timed_mutex>(); }
TEST(shared_timed_mutex_gives_up) { gives_up_in_time<std::shared_timed_mutex>(); }

template <class Mutex> static void recurs() {
    Mutex mutex;
    for (int i = 0; i < 20; i++) mutex.lock();
    for (int i = 0; i < 20; i++) {
        std::thread([&] { CHECK(!mutex.try_lock(), "free too early"); }).join();
        mutex.unlock();
    }
    std::thread([&] {
        CHECK(mutex.try_lock(), "not free after the last unlock");
        mutex.unlock();
    }).join();
}
TEST(recursive_mutex_recurs) { recurs<std::recursive_mutex>(); }
TEST(recursive_timed_mutex_recurs) { recurs<std::recursive_timed_mutex>(); }

template <class Mutex> static void shares() {
    Mutex mutex;
    mutex.lock_shared();
    std::thread([&] {
        CHECK(mutex.try_lock_shared(), "two readers are not let in");
        CHECK(!mutex.try_lock(), "a writer is let in beside readers");
        mutex.unlock_shared();
    }).join();
    mutex.unlock_shared();
    mutex.lock();
    std::thread([&] { CHECK(!mutex.try_lock_shared(), "a reader is let in beside a writer"); }).join();
    mutex.unlock();
}
TEST(shared_mutex_shares) { shares<std::shared_mutex>(); }
TEST(shared_timed_mutex_shares) {
    shares<std::shared_timed_mutex>();
    std::shared_timed_mutex mutex;
    mutex.lock();
    std::thread([&] { CHECK(!mutex.try_lock_shared_for(20ms), "a reader is let in beside a writer"); }).join();
}

TEST(scoped_lock_of_several) {
    std::mutex a, b;
    std::recursive_mutex c;
    std::vector<std::thread> threads;
    long counter = 0;
    for (int i = 0; i < 6; i++) threads.emplace_back([&, i] {
        for (int j = 0; j < 2000; j++) {
            auto count = [&] {
                long seen = counter;
                if (j % 16 == 0) std::this_thread::yield();
                counter = seen + 1;
            };
            if (i % 2) {
                std::scoped_lock guard(a, b, c);
                count();
            } else {
                std::scoped_lock guard(c, b, a);
                count();
            }
        }
    });
    for (auto &thread : threads) thread.join();
    CHECK(counter == 12000, "counted to %ld, not 12000", counter);
}

// ---- Condition variables.
template <class Mutex, class Cond> static void queue() {
    Mutex mutex;
    Cond changed;
    std::deque<int> items;
    long sum = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) {
        threads.emplace_back([&] {
            for (int j = 1; j <= 1000; j++) {
                std::unique_lock<Mutex> guard(mutex);
                changed.wait(guard, [&] { return items.size() < 4; });
                items.push_back(j);
                changed.notify_all();
            }
        });
        threads.emplace_back([&, i] {
            for (int j = 1; j <= 1000; j++) {
                std::unique_lock<Mutex> guard(mutex);
                if (i == 0) changed.wait(guard, [&] { return !items.empty(); });
                else while (!changed.wait_for(guard, 1ms, [&] { return !items.empty(); })) {}
                sum += items.front();
                items.pop_front();
                guard.unlock();
                changed.notify_all();
            }
        });
    }
    for (auto &thread : threads) thread.join();
    CHECK(sum == 3 * 500500L && items.empty(), "the sum is %ld, not %ld", sum, 3 * 500500L);
}
TEST(condition_variable) { queue<std::mutex, std::condition_variable>(); }
TEST(condition_variable_any) { queue<std::mutex, std::condition_variable_any>(); }
TEST(condition_variable_any_of_a_recursive_mutex) { queue<std::recursive_mutex, std::condition_variable_any>(); }
TEST(condition_variable_any_of_a_shared_mutex) { queue<std::shared_mutex, std::condition_variable_any>(); }
TEST(condition_variable_any_of_a_timed_mutex) { queue<std::timed_mutex, std::condition_variable_any>(); }

template <class Cond> static void waits_time_out() {
    std::mutex mutex;
    Cond changed;
    std::unique_lock<std::mutex> guard(mutex);
    auto steady = std::chrono::steady_clock::now() + 20ms;
    while (changed.wait_until(guard, steady) == std::cv_status::no_timeout) {}
    CHECK(std::chrono::steady_clock::now() >= steady, "gave up too early");
    auto system = std::chrono::system_clock::now() + 20ms;
    while (changed.wait_until(guard, system) == std::cv_status::no_timeout) {}
    CHECK(std::chrono::system_clock::now() >= system, "gave up too early");
    CHECK(!changed.wait_for(guard, 5ms, [] { return false; }), "the predicate is false");
    std::thread([&] { CHECK(!mutex.try_lock(), "the mutex is not held after the wait"); }).join();
}
TEST(condition_variable_times_out) { waits_time_out<std::condition_variable>(); }
TEST(condition_variable_any_times_out) { waits_time_out<std::condition_variable_any>(); }

// A condition variable and a mutex on a stack or heap that goes away as soon as the waiter may go on.
TEST(short_lived_objects) {
    struct Latch {
        std::mutex mutex;
        std::condition_variable changed;
        int left = 3;
    };
    for (int round = 0; round < 300 && time_left(); round++) {
        auto latch = std::make_shared<Latch>();
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; i++) threads.emplace_back([latch] {
            std::unique_lock<std::mutex> guard(latch->mutex);
            if (--latch->left == 0) latch->changed.notify_all();
            latch->changed.wait(guard, [&] { return latch->left == 0; });
        });
        latch.reset();
        for (auto &thread : threads) thread.join();
    }
}

TEST(notify_all_at_thread_exit) {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::unique_lock<std::mutex> guard(mutex);
    std::thread thread([&] {
        std::unique_lock<std::mutex> guard(mutex);
        done = true;
        std::notify_all_at_thread_exit(changed, std::move(guard));
    });
    /* Without a predicate, which would be true after the time is over, too. */
    while (!done)
        CHECK(changed.wait_for(guard, std::chrono::seconds(TIMEOUT)) == std::cv_status::no_timeout, "never notified");
    guard.unlock();
    thread.join(); /* it notifies after it has let the mutex go */
}
