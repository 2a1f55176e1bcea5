import type { EndOffsets } from '@webhooks/kafka';

/** One request for end offsets shared by all who asked before it began. */
export function shareEnds(fetchEnds: () => Promise<EndOffsets>): () => Promise<EndOffsets> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<EndOffsets> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const request = fetchEnds();
      running = request.catch(() => undefined);
      return request;
    });
    return next;
  };
}
