import { HandshakeLimiter } from '../../src/pool/handshake-limiter.js';
import type { HandshakeUser } from '../../src/pool/handshake-limiter.js';

/** Needs so many handshakes, one after the other, and writes down when it got one. */
class Needy implements HandshakeUser {
  readonly #name: string;
  readonly #limiter: HandshakeLimiter;
  readonly #got: string[];
  needs: number;

  constructor(name: string, limiter: HandshakeLimiter, got: string[], needs: number) {
    this.#name = name;
    this.#limiter = limiter;
    this.#got = got;
    this.needs = needs;
  }

  open(): void {
    while (this.needs > 0 && this.#limiter.acquire(this)) {
      this.needs -= 1;
      this.#got.push(this.#name);
    }
  }
}

describe('HandshakeLimiter', () => {
  it('gives no more than there are, and what comes back in turn to those who wait', () => {
    const limiter = new HandshakeLimiter(2);
    const got: string[] = [];
    const greedy = new Needy('greedy', limiter, got, 5);
    const modest = new Needy('modest', limiter, got, 2);
    greedy.open();
    modest.open();
    expect(got).toEqual(['greedy', 'greedy']);
    for (let i = 0; i < 4; i += 1) limiter.release();
    expect(got.slice(2)).toEqual(['greedy', 'modest', 'greedy', 'modest']);
  });

  it('passes over those who need none any more', () => {
    const limiter = new HandshakeLimiter(1);
    const got: string[] = [];
    const users = ['first', 'second', 'third'].map((name) => new Needy(name, limiter, got, 1));
    for (const user of users) user.open();
    for (const user of users.slice(1, 2)) user.needs = 0;
    limiter.release();
    expect(got).toEqual(['first', 'third']);
  });
});
