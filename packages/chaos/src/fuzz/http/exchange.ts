import { connect } from 'node:net';
import { parseAnswers } from './parse-answers.js';
import type { HttpAnswer } from './parse-answers.js';

export interface ExchangeOptions {
  readonly port: number;
  readonly method: string;
  /** The bytes may be no request at all: the connection is closed from here after `NUDGE_MS` without an answer. */
  readonly isWire: boolean;
}

export interface Exchanged {
  readonly answers: readonly HttpAnswer[];
  /** Neither answered nor closed within 20 s. */
  readonly isHung: boolean;
}

const DEADLINE_MS = 20_000;
const NUDGE_MS = 250;

/** Sends bytes on a connection of its own. Resolves with the first answer, or with all there are once `isWire` and it is closed. */
export function exchange(bytes: Buffer, { port, method, isWire }: ExchangeOptions): Promise<Exchanged> {
  const { promise, resolve } = Promise.withResolvers<Exchanged>();
  const chunks: Buffer[] = [];
  const answers = (): readonly HttpAnswer[] => parseAnswers(Buffer.concat(chunks), method === 'HEAD');
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: false });
  const end = (isHung: boolean): void => {
    clearTimeout(deadline);
    clearTimeout(nudge);
    socket.destroy();
    resolve({ answers: answers(), isHung });
  };
  const deadline = setTimeout(() => end(true), DEADLINE_MS);
  const nudge = isWire ? setTimeout(() => socket.end(), NUDGE_MS) : undefined;
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    if (!isWire && answers().length > 0) end(false);
  });
  // A service may close before it has read everything; what it answered counts.
  socket.on('error', () => undefined);
  socket.once('close', () => end(false));
  socket.write(bytes);
  return promise;
}
