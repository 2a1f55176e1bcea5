import { createHook } from 'node:async_hooks';
import { createServer } from 'node:net';
import { GCProfiler } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import { counterPath } from '../measure.js';
import type { ObjectCounts } from '../measure.js';

// Node imports this file before the program of a process, and before each of its threads.

const heapUsed = (): number => process.memoryUsage().heapUsed;

/** Returns a function that returns what was made since its last call. */
function startCounting(): () => ObjectCounts {
  let promises = 0;
  let heapBefore = heapUsed();
  let profiler = new GCProfiler();
  profiler.start();
  createHook({ init: (_id, type) => void (promises += type === 'PROMISE' ? 1 : 0) }).enable();
  return () => {
    // What is allocated is what the heap has grown by, and what the collections freed.
    let heapBytes = heapUsed() - heapBefore;
    for (const { beforeGC, afterGC } of profiler.stop().statistics)
      heapBytes += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
    const counts = { promises, heapBytes };
    promises = 0;
    heapBefore = heapUsed();
    profiler = new GCProfiler();
    profiler.start();
    return counts;
  };
}

if (isMainThread) {
  const takeCounts = startCounting();
  // A reader that is gone must not end the service.
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(JSON.stringify(takeCounts()));
  });
  server.listen(counterPath(process.pid)).unref();
}
