// The wrapper for C++: what it gives, what it throws, and that the guards of the standard library take it.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <unistd.h>

#include <stanchion_family.h>
#include <stanchion.hpp>

namespace {

using namespace std::chrono_literals;

int checks = 0;
int failures = 0;

void expect(const char* what, long got, long want) {
    checks += 1;
    if (got != want) {
        failures += 1;
        std::printf("FAILED %s gives %ld, expected %ld\n", what, got, want);
        std::fflush(stdout);
        if (std::getenv("CHECK_SECONDS") != nullptr) {
            std::_Exit(EXIT_FAILURE);
        }
    }
}

// The error that a function throws, or 0.
template <class Function>
int thrown(Function function) {
    try {
        function();
    } catch (const std::system_error& error) {
        return error.code().value();
    }
    return 0;
}

// What a function gives in another thread.
template <class Function>
long elsewhere(Function function) {
    long got = -1;
    std::thread([&] { got = function(); }).join();
    return got;
}

// A clock of neither system nor library: the steady one, five hours behind.
struct own_clock {
    using duration = std::chrono::milliseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<own_clock>;
    [[maybe_unused]] static constexpr bool is_steady = true;
    static time_point now() {
        return time_point(std::chrono::duration_cast<duration>(
            std::chrono::steady_clock::now().time_since_epoch() - std::chrono::hours(5)));
    }
};

// Units of time whose numbers do not fit together with those of others.
using Pico = std::chrono::duration<long long, std::pico>;
using Days = std::chrono::duration<long long, std::ratio<86400>>;

template <class Mutex>
void check_mutex() {
    static Mutex mutex;
    {
        std::lock_guard<Mutex> guard(mutex);
        expect("try_lock when held", elsewhere([] { return mutex.try_lock(); }), 0);
        expect("try_lock_for when held", elsewhere([] { return mutex.try_lock_for(10ms); }), 0);
        expect("try_lock_until when held, system clock",
               elsewhere([] { return mutex.try_lock_until(std::chrono::system_clock::now() + 10ms); }), 0);
        expect("try_lock_until when held, a clock of ours", elsewhere([] {
                   const auto until = own_clock::now() + 10ms;
                   const bool got = mutex.try_lock_until(until);
                   return got || own_clock::now() < until;
               }),
               0);
    }
    // Points of time whose distance from now does not fit.
    mutex.lock();
    expect("try_lock_until before all others",
           elsewhere([] { return mutex.try_lock_until(std::chrono::steady_clock::time_point::min()); }), 0);
    expect("try_lock_for some picoseconds", elsewhere([] { return mutex.try_lock_for(Pico(5)); }), 0);
    expect("try_lock_for less than none", elsewhere([] { return mutex.try_lock_for(Pico(-5)); }), 0);
    expect("try_lock_for no number",
           elsewhere([] { return mutex.try_lock_for(std::chrono::duration<double>(std::nan(""))); }), 0);
    long waited = -1, waited_for = -1;
    const auto wait = [](auto attempt) {
        const bool got = attempt();
        if (got) {
            mutex.unlock();
        }
        return got;
    };
    std::thread waits([&] {
        using Seconds = std::chrono::time_point<std::chrono::steady_clock, std::chrono::seconds>;
        waited = wait([] { return mutex.try_lock_until(Seconds::max()); });
    });
    std::thread waits_for([&] { waited_for = wait([] { return mutex.try_lock_for(Days::max()); }); });
    std::this_thread::sleep_for(20ms);
    mutex.unlock();
    waits.join();
    waits_for.join();
    expect("try_lock_until behind all others", waited, 1);
    expect("try_lock_for the most days", waited_for, 1);
    for (int form = 0; form < 3; form++) {
        const bool got = form == 0   ? mutex.try_lock()
                         : form == 1 ? mutex.try_lock_for(std::chrono::hours::max())
                                     : mutex.try_lock_until(own_clock::now() - 1h);
        expect("trying when free", got, 1);
        if (got) {
            mutex.unlock();
        }
    }
    long number = 0;
    std::vector<std::thread> threads;
    for (int at = 0; at < 4; at++) {
        threads.emplace_back([&number] {
            for (int round = 0; round < 2000; round++) {
                std::scoped_lock<Mutex> guard(mutex);
                number += 1;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    expect("what all threads added", number, 8000);
}

void check_checked() {
    stanchion::checked_mutex mutex;
    mutex.lock();
    expect("lock of the holder", thrown([&] { mutex.lock(); }), EDEADLK);
    expect("try_lock_for of the holder", thrown([&] { (void)mutex.try_lock_for(1ms); }), EDEADLK);
    expect("unlock of another thread", elsewhere([&] { return thrown([&] { mutex.unlock(); }); }), EPERM);
    mutex.unlock();
    expect("unlock when free", thrown([&] { mutex.unlock(); }), EPERM);
}

void check_fair() {
    stanchion::mutex mutex;
    mutex.lock();
    stanchion::unlock_fair(mutex);
    expect("try_lock after a fair release with nobody in line", mutex.try_lock(), 1);
    stanchion::unlock_fair(mutex);
}

template <class Lock>
void check_shared(Lock& lock) {
    {
        std::shared_lock<Lock> reading(lock);
        expect("try_lock_shared while read", elsewhere([&] {
                   std::shared_lock<Lock> other(lock, std::try_to_lock);
                   return other.owns_lock();
               }),
               1);
        expect("try_lock while read", elsewhere([&] { return lock.try_lock(); }), 0);
    }
    {
        std::unique_lock<Lock> writing(lock);
        expect("try_lock_shared while written", elsewhere([&] { return lock.try_lock_shared(); }), 0);
    }
    expect("try_lock when free", lock.try_lock(), 1);
    lock.unlock();
}

template <class Lock>
void check_shared_timed() {
    Lock lock;
    lock.lock();
    expect("try_lock_shared_for while written", elsewhere([&] { return lock.try_lock_shared_for(10ms); }), 0);
    expect("try_lock_for while written", elsewhere([&] { return lock.try_lock_for(10ms); }), 0);
    lock.unlock_and_lock_shared();
    expect("try_lock_shared_until after a downgrade", elsewhere([&] {
               const bool got = lock.try_lock_shared_until(std::chrono::steady_clock::now() + 10s);
               if (got) {
                   lock.unlock_shared();
               }
               return got;
           }),
           1);
    lock.unlock_shared();
    expect("try_lock when free", lock.try_lock(), 1);
    lock.unlock();
}

void check_too_many_readers() {
    stanchion::shared_mutex lock;
    for (int at = 0; at < 16384; at++) {
        lock.lock_shared();
    }
    expect("lock_shared, one more than can be counted", thrown([&] { lock.lock_shared(); }), EAGAIN);
    for (int at = 0; at < 16384; at++) {
        lock.unlock_shared();
    }
    expect("try_lock after that", lock.try_lock(), 1);
    lock.unlock();
}

void check_condition() {
    stanchion::mutex mutex;
    stanchion::condition_variable changed;
    std::unique_lock<stanchion::mutex> lock(mutex);
    expect("wait_for, nobody notifies", changed.wait_for(lock, 10ms) == std::cv_status::timeout, 1);
    expect("wait_until, system clock",
           changed.wait_until(lock, std::chrono::system_clock::now() + 10ms) == std::cv_status::timeout, 1);
    expect("wait_until, a clock of ours", changed.wait_until(lock, own_clock::now() + 10ms, [] { return false; }), 0);
    expect("wait_until before all others",
           changed.wait_until(lock, std::chrono::steady_clock::time_point::min()) == std::cv_status::timeout, 1);
    expect("wait_for, true already", changed.wait_for(lock, 0ms, [] { return true; }), 1);
    expect("the lock is held after waits", elsewhere([&] { return mutex.try_lock(); }), 0);
    for (int form = 0; form < 5; form++) {
        bool told = false;
        std::thread teller([&] {
            std::this_thread::sleep_for(20ms);
            std::lock_guard<stanchion::mutex> guard(mutex);
            told = true;
            if (form == 0) {
                changed.notify_all();
            } else {
                changed.notify_one();
            }
        });
        int looks = 0;
        const auto is_told = [&] {
            looks += 1;
            return told;
        };
        if (form == 0) {
            changed.wait(lock, is_told);
        } else if (form == 1) {
            changed.wait_for(lock, std::chrono::hours::max(), is_told);
        } else if (form == 2) {
            changed.wait_until(lock, std::chrono::system_clock::now() + 60s, is_told);
        } else if (form == 3) {
            changed.wait_until(lock, std::chrono::time_point<std::chrono::system_clock, Days>::max(), is_told);
        } else {
            const auto until = std::chrono::system_clock::now() + std::chrono::duration<double>(1e290);
            expect("wait_until, very far", thrown([&] { changed.wait_until(lock, until, is_told); }), 0);
        }
        expect("woken because it was told", told, 1);
        expect("asleep meanwhile", looks < 1000, 1);
        lock.unlock();
        teller.join();
        lock.lock();
    }
}

stanchion_class_t tables = STANCHION_CLASS_INIT;

} // namespace

int main() {
    const char* seconds = std::getenv("CHECK_SECONDS");
    alarm(seconds != nullptr ? static_cast<unsigned>(std::atoi(seconds)) : 120);
    check_mutex<stanchion::mutex>();
    check_mutex<stanchion::checked_mutex>();
    check_mutex<stanchion::counted_mutex>();
#define CHECK(name, bytes) check_mutex<stanchion::name##_mutex>();
    STANCHION_EACH_FAMILY(CHECK)
    check_checked();
    check_fair();
    stanchion::shared_mutex shared;
    stanchion::percpu_shared_mutex percpu, percpu_of_a_class(tables);
    check_shared(shared);
    check_shared(percpu);
    check_shared(percpu_of_a_class);
    check_shared_timed<stanchion::shared_mutex>();
    check_shared_timed<stanchion::percpu_shared_mutex>();
    check_too_many_readers();
    check_condition();
    std::printf("wrapper: %d checks, %d failed\n", checks, failures);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
