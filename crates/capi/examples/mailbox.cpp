// A bounded mailbox: the guards of the standard library over the locks of this one.
#include <deque>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <stanchion.hpp>

namespace {

class mailbox {
public:
    void put(int letter) {
        std::unique_lock<stanchion::mutex> lock(mutex_);
        room_.wait(lock, [this] { return letters_.size() < 4; });
        letters_.push_back(letter);
        post_.notify_one();
    }

    int take() {
        std::unique_lock<stanchion::mutex> lock(mutex_);
        post_.wait(lock, [this] { return !letters_.empty(); });
        const int letter = letters_.front();
        letters_.pop_front();
        room_.notify_one();
        return letter;
    }

private:
    stanchion::mutex mutex_;
    stanchion::condition_variable post_, room_;
    std::deque<int> letters_;
};

constexpr int senders = 4;
constexpr int letters = 1000;

} // namespace

int main() {
    mailbox box;
    stanchion::shared_mutex ledger_lock;
    long ledger = 0;

    std::vector<std::thread> threads;
    for (int sender = 0; sender < senders; sender++) {
        threads.emplace_back([&box] {
            for (int letter = 1; letter <= letters; letter++) {
                box.put(letter);
            }
        });
        threads.emplace_back([&box, &ledger, &ledger_lock] {
            for (int taken = 0; taken < letters; taken++) {
                const int letter = box.take();
                std::lock_guard<stanchion::shared_mutex> guard(ledger_lock);
                ledger += letter;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }

    std::shared_lock<stanchion::shared_mutex> reading(ledger_lock);
    std::cout << senders * letters << " letters, which sum up to " << ledger << "\n";
    return 0;
}
