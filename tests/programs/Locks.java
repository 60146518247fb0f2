// A JVM's locks, with every count checked.
//
//   java Locks THREADS ROUNDS
//
// All threads add to counters under `synchronized`, a ReentrantLock, a ReentrantReadWriteLock and a Semaphore, hand numbers through an
// ArrayBlockingQueue, meet at a CyclicBarrier, wait and notify, and make garbage, so that they also stop for the collector. No
// increment may be lost and no number may be lost or come twice. Prints `ops/s N`; exits with 1 after a line that says what was wrong.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class Locks {
    static long bySynchronized, byLock, byReadWrite, bySemaphore;
    static final Object monitor = new Object();
    static final ReentrantLock lock = new ReentrantLock();
    static final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
    static final Semaphore semaphore = new Semaphore(1);
    static final ArrayBlockingQueue<Long> queue = new ArrayBlockingQueue<>(4);
    static final AtomicLong received = new AtomicLong();

    static void check(boolean fine, String what) {
        if (!fine) {
            System.err.println("WRONG: " + what);
            System.exit(1);
        }
    }

    static void work(int thread, int threads, long rounds, CyclicBarrier barrier) throws Exception {
        List<byte[]> garbage = new ArrayList<>();
        for (long i = 0; i < rounds; i++) {
            synchronized (monitor) {
                bySynchronized++;
                if (i % 64 == 0) {
                    monitor.notifyAll();
                    monitor.wait(1);
                }
            }
            lock.lock();
            try {
                byLock++;
            } finally {
                lock.unlock();
            }
            readWrite.readLock().lock();
            try {
                check(byReadWrite <= rounds * threads, "more than all increments");
            } finally {
                readWrite.readLock().unlock();
            }
            readWrite.writeLock().lock();
            try {
                byReadWrite++;
            } finally {
                readWrite.writeLock().unlock();
            }
            semaphore.acquire();
            bySemaphore++;
            semaphore.release();
            if (thread % 2 == 0) {
                queue.put(i);
            } else {
                received.addAndGet(queue.take());
            }
            garbage.add(new byte[4096]);
            if (i % 256 == 255) {
                garbage.clear();
            }
        }
        barrier.await();
    }

    public static void main(String[] args) throws Exception {
        int threads = Math.max(2, Integer.parseInt(args[0]) / 2 * 2);
        long rounds = Math.max(1, Long.parseLong(args[1]) / threads);
        CyclicBarrier barrier = new CyclicBarrier(threads);
        long start = System.nanoTime();
        List<Thread> running = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int thread = t;
            running.add(new Thread(() -> {
                try {
                    work(thread, threads, rounds, barrier);
                } catch (Exception error) {
                    check(false, error.toString());
                }
            }));
        }
        for (Thread thread : running) {
            thread.start();
        }
        for (Thread thread : running) {
            thread.join();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        long all = rounds * threads;
        check(bySynchronized == all, "synchronized: " + bySynchronized + " of " + all);
        check(byLock == all, "ReentrantLock: " + byLock + " of " + all);
        check(byReadWrite == all, "ReentrantReadWriteLock: " + byReadWrite + " of " + all);
        check(bySemaphore == all, "Semaphore: " + bySemaphore + " of " + all);
        check(received.get() == rounds * (rounds - 1) / 2 * (threads / 2), "numbers through the queue: sum " + received);
        System.out.printf("ops/s %.1f%n", 6 * all / seconds);
        System.out.printf("checked %d%n", all);
    }
}
