import { isHandled } from '../evidence/evidence.js';
import type { Arrived, TopicEvidence } from '../evidence/evidence.js';
import type { Delivery } from './case-file.js';

/** What became of a delivery, by the ledgers and by Kafka. */
export type Fate = 'delivered' | 'dead' | 'cancelled' | 'waiting' | 'none';

export const isSuccess = ({ status }: Pick<Arrived, 'status'>): boolean => status >= 200 && status <= 299;

/** Without an ordinary status the head of a 2xx may still have gone out: then the worker's word decides. */
function isDelivered({ arrivals, entries }: Delivery): boolean {
  if (arrivals.some(isSuccess)) return true;
  const isTold = entries.some(({ entry }) => entry.kind === 'attempt' && entry.result === 'delivered');
  return isTold && arrivals.some(({ status }) => status === 0);
}

/** Whether a worker would still read it: its task, or its event, lies beyond what was handled. */
function isWaiting({ tasks, copies }: Delivery, topics: TopicEvidence): boolean {
  return [...tasks.map(({ place }) => place), ...copies].some((place) => !isHandled(topics, place));
}

export function fateOf(delivery: Delivery, topics: TopicEvidence): Fate {
  if (isDelivered(delivery)) return 'delivered';
  if (delivery.dead.length > 0) return 'dead';
  if (delivery.entries.some(({ entry }) => entry.kind === 'cancelled')) return 'cancelled';
  return isWaiting(delivery, topics) ? 'waiting' : 'none';
}
