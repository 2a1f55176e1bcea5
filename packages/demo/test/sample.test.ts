import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_TYPES, readEvent } from '@webhooks/contracts';
import { generateSample } from '../src/generate-sample.js';

const shipped = readFileSync(join(import.meta.dirname, '..', 'sample', 'events.ndjson'), 'utf8');

/** Generators use the strict shape; readers accept any 32 letters and digits. */
const STRICT =
  /^[ED][0-9A-Z]{8}\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[a-zA-Z0-9]{11}$/;

describe('the shipped sample', () => {
  it('is what its generator makes: see .github/CONTRIBUTING.md for the command', () => {
    expect(shipped).toBe(
      generateSample(1_200, 1)
        .map((event) => `${JSON.stringify(event)}\n`)
        .join(''),
    );
  });

  it('holds at least 1,000 valid events of all types and two tenants, each with an id of its own', () => {
    const events = shipped
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const read = readEvent(Buffer.from(line));
        if (!read.ok) throw new Error(read.reason);
        return read.event;
      });
    expect(events.length).toBeGreaterThanOrEqual(1_000);
    expect(new Set(events.map(({ eventType }) => eventType)).size).toBe(EVENT_TYPES.length);
    expect(new Set(events.map(({ tenantId }) => tenantId)).size).toBe(2);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(events.every(({ data }) => STRICT.test(data.endToEndId))).toBe(true);
  });
});
