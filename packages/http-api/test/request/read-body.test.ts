import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { readBody } from '../../src/request/read-body.js';

const MIB = 1_048_576;

/** A request whose body comes in chunks of so many bytes. */
const inChunks = (bytes: number, chunkBytes: number): IncomingMessage =>
  Object.assign(
    Readable.from(
      (function* () {
        for (let sent = 0; sent < bytes; sent += chunkBytes) yield Buffer.alloc(chunkBytes, 'x');
      })(),
      { objectMode: true },
    ),
    { headers: {} },
  ) as unknown as IncomingMessage;

it('two thousand chunks hold one buffer, whose bytes are taken from the budget first', async () => {
  const taken: number[] = [];
  const body = await readBody(inChunks(MIB, 512), MIB, (bytes) => taken.push(bytes));
  expect(body.equals(Buffer.alloc(MIB, 'x'))).toBe(true);
  expect(body.buffer.byteLength).toBe(MIB);
  expect(taken.reduce((sum, bytes) => sum + bytes, 0)).toBe(MIB);
  expect(taken.length).toBeLessThan(25);
});

it('a body is refused as soon as it is too large, comes in too many tiny chunks, or exceeds the budget', async () => {
  const any = (): undefined => undefined;
  await expect(readBody(inChunks(11, 1), 10, any)).rejects.toThrow('must not be larger than 10 bytes');
  expect((await readBody(inChunks(1_000, 1), MIB, any)).byteLength).toBe(1_000);
  // One chunk for each event of a full batch, some of them in two pieces.
  expect((await readBody(inChunks(1_250 * 320, 320), MIB, any)).byteLength).toBe(400_000);
  await expect(readBody(inChunks(1_100, 1), MIB, any)).rejects.toThrow('chunks of 512 bytes or more');
  const full = (): never => {
    throw new Error('no room');
  };
  await expect(readBody(inChunks(1, 1), 10, full)).rejects.toThrow('no room');
});
