// LevelDB under many threads, every value checked.
//
//   leveldb fill DB THREADS SECONDS    each thread writes keys of its own; afterwards the database must hold exactly those, with the values
//                                      that belong to them, before and after it is opened again
//   leveldb load DB KEYS               writes KEYS keys from one thread, for `read`
//   leveldb read DB THREADS SECONDS KEYS   each thread reads random keys; each must be there and have the value that belongs to it
//
// A value is made from its key, so that a value of another key, of nobody or half of one is noticed. Prints `ops/s N` and `checked N`;
// exits with 1 after one line that says what was wrong. The hot lock is the database's own mutex: `read` takes it twice for each key.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <leveldb/cache.h>
#include <leveldb/db.h>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "WRONG: %s\n", what.c_str());
  std::_Exit(1);
}

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33, x *= 0xff51afd7ed558ccdULL, x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

std::string key_of(std::uint64_t writer, std::uint64_t number) {
  char text[40];
  std::snprintf(text, sizeof text, "%06u-%012llu", static_cast<unsigned>(writer), static_cast<unsigned long long>(number));
  return text;
}

std::string value_of(const std::string& key) {
  std::uint64_t state = 7;
  for (char c : key) state = mix(state + static_cast<unsigned char>(c));
  std::string value;
  while (value.size() < 100) value += static_cast<char>('a' + (state = mix(state + 1)) % 26);
  return value;
}

void must(const leveldb::Status& status, const std::string& doing) {
  if (!status.ok()) fail(doing + ": " + status.ToString());
}

std::unique_ptr<leveldb::DB> open(const char* path, bool fresh, leveldb::Cache* cache) {
  leveldb::Options options;
  options.create_if_missing = fresh;
  options.error_if_exists = fresh;
  options.paranoid_checks = true;
  options.block_cache = cache;
  leveldb::DB* db = nullptr;
  must(leveldb::DB::Open(options, path, &db), "opening");
  return std::unique_ptr<leveldb::DB>(db);
}

// Runs `body(thread, stop)`, which returns how many operations it did, in each thread.
template <typename Body>
std::vector<std::uint64_t> run(unsigned threads, double seconds, Body body) {
  std::vector<std::uint64_t> done(threads);
  std::atomic<bool> stop{false};
  std::vector<std::thread> running;
  const auto start = Clock::now();
  for (unsigned t = 0; t < threads; t++) running.emplace_back([&, t] { done[t] = body(t, stop); });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (auto& thread : running) thread.join();
  const double took = std::chrono::duration<double>(Clock::now() - start).count();
  std::uint64_t total = 0;
  for (auto count : done) total += count;
  std::printf("ops/s %.1f\n", static_cast<double>(total) / took);
  return done;
}

// The database must hold keys 0 to done[t] - 1 of each writer t, and nothing else.
void check_all(leveldb::DB* db, const std::vector<std::uint64_t>& done) {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  std::unique_ptr<leveldb::Iterator> at(db->NewIterator(options));
  at->SeekToFirst();
  for (std::size_t t = 0; t < done.size(); t++) {
    for (std::uint64_t i = 0; i < done[t]; i++, at->Next()) {
      const std::string key = key_of(t, i);
      if (!at->Valid() || at->key().ToString() != key) fail("key " + key + " is missing");
      if (at->value().ToString() != value_of(key)) fail("key " + key + " has another value");
    }
  }
  if (at->Valid()) fail("key " + at->key().ToString() + " was never written");
  must(at->status(), "iterating");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  if (!(mode == "fill" && argc == 5) && !(mode == "load" && argc == 4) && !(mode == "read" && argc == 6)) {
    std::fprintf(stderr, "usage: leveldb fill DB THREADS SECONDS | load DB KEYS | read DB THREADS SECONDS KEYS\n");
    return 2;
  }
  std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(256 << 20));
  std::unique_ptr<leveldb::DB> db = open(argv[2], mode != "read", cache.get());
  std::uint64_t checked = 0;
  if (mode == "load") {
    for (std::uint64_t i = 0; i < number(3); i++) must(db->Put({}, key_of(0, i), value_of(key_of(0, i))), "writing");
    db->CompactRange(nullptr, nullptr);
  } else if (mode == "fill") {
    const auto done = run(static_cast<unsigned>(number(3)), std::atof(argv[4]), [&](unsigned t, const std::atomic<bool>& stop) {
      std::uint64_t i = 0;
      for (; !stop; i++) must(db->Put({}, key_of(t, i), value_of(key_of(t, i))), "writing");
      return i;
    });
    check_all(db.get(), done);
    db.reset();
    db = open(argv[2], false, cache.get());
    check_all(db.get(), done);
    for (auto count : done) checked += count;
  } else {
    const std::uint64_t keys = number(5);
    const auto done = run(static_cast<unsigned>(number(3)), std::atof(argv[4]), [&](unsigned t, const std::atomic<bool>& stop) {
      std::uint64_t i = 0;
      leveldb::ReadOptions options;
      options.verify_checksums = true;
      for (std::string value; !stop; i++) {
        const std::string key = key_of(0, mix(i * 4096 + t) % keys);
        must(db->Get(options, key, &value), "reading " + key);
        if (value != value_of(key)) fail("key " + key + " has another value");
      }
      return i;
    });
    for (auto count : done) checked += count;
  }
  std::printf("checked %llu\n", static_cast<unsigned long long>(checked));
  return 0;
}
