// Node's worker threads and the thread pool of libuv, with every result checked.
//
//   UV_THREADPOOL_SIZE=THREADS node workers.js THREADS ITEMS DIRECTORY
//
// 1. THREADS workers count together in shared memory, each increment under a lock made of Atomics.wait and Atomics.notify; none may be lost.
// 2. ITEMS files are written and read back by fs.promises, ITEMS keys derived by crypto.pbkdf2, all in libuv's pool; each
//    must be the one that was computed synchronously.
//
// Prints `ops/s N`; exits with 1 after a line that says what was wrong.
'use strict';
const { Worker, isMainThread, workerData, parentPort } = require('node:worker_threads');
const { createHash, pbkdf2, pbkdf2Sync } = require('node:crypto');
const { promisify } = require('node:util');
const fs = require('node:fs/promises');
const path = require('node:path');

function check(fine, what) {
  if (!fine) {
    console.error(`WRONG: ${what}`);
    process.exit(1);
  }
}

function count({ memory, rounds }) {
  const cells = new Int32Array(memory); // 0: the lock (0 free, 1 taken, 2 taken and waited for), 1: what it protects
  for (let i = 0; i < rounds; i++) {
    let seen = Atomics.compareExchange(cells, 0, 0, 1);
    while (seen !== 0) {
      if (seen === 2 || Atomics.compareExchange(cells, 0, 1, 2) !== 0) Atomics.wait(cells, 0, 2);
      seen = Atomics.compareExchange(cells, 0, 0, 2);
    }
    cells[1] += 1;
    if (Atomics.exchange(cells, 0, 0) === 2) Atomics.notify(cells, 0, 1);
  }
  return rounds;
}

async function main(threads, items, directory) {
  const start = process.hrtime.bigint();
  const memory = new SharedArrayBuffer(8);
  const rounds = Math.max(1, Math.floor((items * 10) / threads));
  const workers = Array.from({ length: threads }, () => new Promise((resolve, reject) => {
    const worker = new Worker(__filename, { workerData: { memory, rounds } });
    worker.once('message', resolve).once('error', reject);
  }));
  const replies = await Promise.all(workers);
  check(replies.every((reply) => reply === rounds), `workers replied ${replies}`);
  const counted = new Int32Array(memory)[1];
  check(counted === rounds * threads, `${counted} of ${rounds * threads} increments`);

  const text = (i) => createHash('sha512').update(`item ${i}`).digest('hex').repeat(50);
  const derive = promisify(pbkdf2);
  const keys = Array.from({ length: 8 }, (_, i) => pbkdf2Sync(`word ${i}`, 'salt', 50, 32, 'sha256').toString('hex'));
  await Promise.all(Array.from({ length: items }, async (_, i) => {
    const file = path.join(directory, `file-${i % 500}-${i}`);
    await fs.writeFile(file, text(i));
    check((await fs.readFile(file, 'utf8')) === text(i), `file ${i} holds something else`);
    await fs.unlink(file);
    const key = await derive(`word ${i % 8}`, 'salt', 50, 32, 'sha256');
    check(key.toString('hex') === keys[i % 8], `key ${i} differs`);
  }));
  check((await fs.readdir(directory)).filter((name) => name.startsWith('file-')).length === 0, 'files are left');
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  console.log(`ops/s ${(items * 4 / seconds).toFixed(1)}`);
  console.log(`checked ${items}`);
}

if (isMainThread) {
  main(Number(process.argv[2]), Number(process.argv[3]), process.argv[4]).catch((error) => check(false, error));
} else {
  parentPort.postMessage(count(workerData));
}
