// The probe that needs C++: a wait with a time limit that must be ended by a notification, long before the limit.
#define GROUP "probe"
#include "../check.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

TEST(cpp_wait_for_woken_early) {
    std::mutex mutex;
    std::condition_variable changed;
    bool waiting = false, go = false;
    std::cv_status status = std::cv_status::timeout;
    std::thread waiter([&] {
        std::unique_lock<std::mutex> guard(mutex);
        waiting = true;
        while (!go) {
            status = changed.wait_for(guard, std::chrono::seconds(TIMEOUT));
            CHECK(status == std::cv_status::no_timeout, "the waiter slept for all of its %d s", TIMEOUT);
        }
    });
    for (;;) {
        std::lock_guard<std::mutex> guard(mutex);
        if (waiting) break;
    }
    {
        std::lock_guard<std::mutex> guard(mutex);
        go = true;
    }
    changed.notify_one();
    waiter.join();
    CHECK(status == std::cv_status::no_timeout, "the waiter was not notified");
}
