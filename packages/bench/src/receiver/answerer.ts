import type { TLSSocket } from 'node:tls';
import { WILLING, answerBytes } from './behaviour.js';
import type { Behaviour } from './behaviour.js';
import type { Receipt } from './receipt-file.js';
import type { SeenRequest } from './request-parser.js';

/** Plays each path's behaviour and gives a receipt for each arrival, once its fate is known. */
export class Answerer {
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #answers = new Map<number, Buffer>();
  readonly #onReceipt: (receipt: Receipt) => void;

  constructor(onReceipt: (receipt: Receipt) => void) {
    this.#onReceipt = onReceipt;
  }

  behave(path: string, behaviour: Behaviour): void {
    this.#behaviours.set(path, behaviour);
  }

  answer(request: SeenRequest, socket: TLSSocket): void {
    const behaviour = this.#behaviours.get(request.path) ?? WILLING;
    if (behaviour.kind === 'answer' && behaviour.delayMs === 0) this.#send(request, socket, behaviour.status);
    else this.#answerLater(request, socket, behaviour);
  }

  #answerLater(request: SeenRequest, socket: TLSSocket, behaviour: Behaviour): void {
    const onClose = (): void => {
      clearTimeout(timer);
      this.#onReceipt({ ...request, status: 0 });
    };
    const send = (status: number): void => {
      socket.off('close', onClose);
      this.#send(request, socket, status);
    };
    const timer =
      behaviour.kind === 'hang' ? undefined : setTimeout(send, behaviour.delayMs, behaviour.status);
    socket.once('close', onClose);
  }

  #send(request: SeenRequest, socket: TLSSocket, status: number): void {
    socket.write(this.#bytesOf(status));
    this.#onReceipt({ ...request, status });
  }

  #bytesOf(status: number): Buffer {
    const known = this.#answers.get(status);
    if (known) return known;
    const bytes = answerBytes(status);
    this.#answers.set(status, bytes);
    return bytes;
  }
}
