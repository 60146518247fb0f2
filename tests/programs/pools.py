"""Python's thread pools, with every result checked.

    pools.py THREADS ITEMS

1. ITEMS blocks are hashed in a ThreadPoolExecutor (hashlib lets go of the interpreter's lock for blocks of this size); each digest
   must be the one that one thread computes.
2. Pairs of threads play ping-pong over queue.Queue; every number must come back in order.
3. All threads count under one threading.Lock and one threading.Condition; no increment may be lost.

Prints `ops/s N`; exits with 1 after a line that says what was wrong.
"""

import hashlib
import queue
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

BLOCKS = [bytes([i]) * 16384 for i in range(16)]
EXPECTED = [hashlib.sha256(block).hexdigest() for block in BLOCKS]


def check(fine, what):
    if not fine:
        sys.exit(f"WRONG: {what}")


def hash_all(threads, items):
    with ThreadPoolExecutor(max_workers=threads) as pool:
        digests = pool.map(lambda i: hashlib.sha256(BLOCKS[i % 16]).hexdigest(), range(items))
        for i, digest in enumerate(digests):
            check(digest == EXPECTED[i % 16], f"digest {i}")


def ping_pong(pairs, rounds):
    returned = [0] * pairs

    def echo(inbox, outbox):
        while (number := inbox.get()) is not None:
            outbox.put(number)

    def serve(pair, inbox, outbox):
        for number in range(rounds):
            outbox.put(number)
            if inbox.get() != number:
                return
            returned[pair] += 1
        outbox.put(None)

    threads = []
    for pair in range(pairs):
        there, back = queue.Queue(1), queue.Queue(1)
        threads.append(threading.Thread(target=echo, args=(there, back), daemon=True))
        threads.append(threading.Thread(target=serve, args=(pair, back, there), daemon=True))
    run(threads)
    check(returned == [rounds] * pairs, f"ping-pong came back {returned} times of {rounds} each")


def count(threads, rounds):
    total = {"lock": 0, "turns": 0}
    lock, turn = threading.Lock(), threading.Condition()

    def work():
        for _ in range(rounds):
            with lock:
                total["lock"] += 1
            with turn:
                total["turns"] += 1
                turn.notify()

    run([threading.Thread(target=work, daemon=True) for _ in range(threads)])
    for name, value in total.items():
        check(value == threads * rounds, f"{name}: {value} of {threads * rounds} increments")


def run(threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    threads, items = int(sys.argv[1]), int(sys.argv[2])
    start = time.monotonic()
    pairs = max(1, threads // 2)
    hash_all(threads, items)
    ping_pong(pairs, max(1, items // pairs))
    count(threads, max(1, items * 8 // threads))
    print(f"ops/s {items * 10 / (time.monotonic() - start):.1f}")
    print(f"checked {items}")


main()
