import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { readBody } from '../src/read-body.js';

const MIB = 1_048_576;

/** A request whose body comes byte by byte, as chunked coding allows. */
const byteByByte = (bytes: number): IncomingMessage =>
  Object.assign(
    Readable.from(
      (function* () {
        for (let sent = 0; sent < bytes; sent += 1) yield Buffer.from('x');
      })(),
      { objectMode: true },
    ),
    { headers: {} },
  ) as unknown as IncomingMessage;

it('a million chunks of one byte hold one buffer, and all that is held is taken first', async () => {
  const taken: number[] = [];
  const body = await readBody(byteByByte(MIB), MIB, (bytes) => taken.push(bytes));
  expect(body.equals(Buffer.alloc(MIB, 'x'))).toBe(true);
  expect(body.buffer.byteLength).toBe(MIB);
  expect(taken.reduce((sum, bytes) => sum + bytes, 0)).toBe(MIB);
  expect(taken.length).toBeLessThan(25);
});

it('is refused as soon as it is too large, or as there is no room', async () => {
  await expect(readBody(byteByByte(11), 10, () => undefined)).rejects.toThrow(
    'must not be larger than 10 bytes',
  );
  const full = (): never => {
    throw new Error('no room');
  };
  await expect(readBody(byteByByte(1), 10, full)).rejects.toThrow('no room');
});
