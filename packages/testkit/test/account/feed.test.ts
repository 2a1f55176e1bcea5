import { buildEvent } from '../../src/build-event.js';
import { readFeedLine } from '../../src/account/feed.js';

const event = buildEvent({ tenantId: 'acme', eventType: 'PIX_OUT' });
const { id: _, ...withoutId } = event;
const inTwoDays = new Date(Date.now() + 2 * 86_400_000).toISOString();

it.each([
  ['a valid event', JSON.stringify(event), true, true],
  ['an event without an id, which is filled in', JSON.stringify(withoutId), true, true],
  ['an amount of zero', JSON.stringify({ ...event, data: { ...event.data, amount: '0.00' } }), false, true],
  ['a time two days ahead', JSON.stringify({ ...event, occurredAt: inTwoDays }), false, true],
  ['text that is no JSON', '{', false, false],
])('%s is judged by ingest and by the worker', (__, text, isPosted, isOnTopic) => {
  const line = readFeedLine(text);
  expect(line.event !== undefined).toBe(isPosted);
  expect(line.fault === undefined).toBe(isPosted);
  expect(line.topicEvent !== undefined).toBe(isOnTopic);
});
