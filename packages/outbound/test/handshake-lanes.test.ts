import { HandshakeLanes } from '../src/handshake-lanes.js';
import type { LaneUser } from '../src/handshake-lanes.js';

/** Needs so many lanes, one after the other, and writes down when it got one. */
class Needy implements LaneUser {
  readonly #name: string;
  readonly #lanes: HandshakeLanes;
  readonly #got: string[];
  needs: number;

  constructor(name: string, lanes: HandshakeLanes, got: string[], needs: number) {
    this.#name = name;
    this.#lanes = lanes;
    this.#got = got;
    this.needs = needs;
  }

  open(): void {
    while (this.needs > 0 && this.#lanes.take(this)) {
      this.needs -= 1;
      this.#got.push(this.#name);
    }
  }
}

describe('HandshakeLanes', () => {
  it('gives no more than there are, and what comes back in turn to those who wait', () => {
    const lanes = new HandshakeLanes(2);
    const got: string[] = [];
    const greedy = new Needy('greedy', lanes, got, 5);
    const modest = new Needy('modest', lanes, got, 2);
    greedy.open();
    modest.open();
    expect(got).toEqual(['greedy', 'greedy']);
    for (let i = 0; i < 4; i += 1) lanes.give();
    expect(got.slice(2)).toEqual(['greedy', 'modest', 'greedy', 'modest']);
  });

  it('passes over those who need none any more', () => {
    const lanes = new HandshakeLanes(1);
    const got: string[] = [];
    const users = ['first', 'second', 'third'].map((name) => new Needy(name, lanes, got, 1));
    for (const user of users) user.open();
    for (const user of users.slice(1, 2)) user.needs = 0;
    lanes.give();
    expect(got).toEqual(['first', 'third']);
  });
});
