import { askOpenly, askedOf, rateOf } from '../../src/load/ask-openly.js';

describe('askOpenly', () => {
  it('asks at its rate, and sorts the times by the word of the answer', async () => {
    let asked = 0;
    const ask = (): Promise<string> => Promise.resolve((asked += 1) % 4 === 0 ? '429' : '200');
    const answers = await askOpenly(ask, { perSecond: 400, seconds: 0.1, maxUnderWay: 40 });
    expect([...answers.byWord].map(([word, { count }]) => [word, count])).toEqual([
      ['200', 30],
      ['429', 10],
    ]);
    expect([askedOf(answers), answers.givenUp]).toEqual([40, 0]);
    expect(answers.micros).toBeGreaterThan(95_000);
    expect(rateOf(answers, '429')).toBeCloseTo(10_000_000 / answers.micros);
    expect(rateOf(answers, '503')).toBe(0);
  });

  it('goes on while nobody answers, up to its bound', async () => {
    const held: ((word: string) => void)[] = [];
    const ask = (): Promise<string> => new Promise((resolve) => held.push(resolve));
    const asking = askOpenly(ask, { perSecond: 1_000, seconds: 0.05, maxUnderWay: 20 });
    const end = setInterval(() => {
      if (held.length === 20) for (const resolve of held) resolve('200');
    }, 100);
    const answers = await asking;
    clearInterval(end);
    expect([askedOf(answers), answers.givenUp]).toEqual([20, 30]);
  });
});
