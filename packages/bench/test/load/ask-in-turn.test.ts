import { askInTurn } from '../../src/load/ask-in-turn.js';
import { VoidRun } from '../../src/measure/void-run.js';

const TURNS = { from: 3, to: 10, underWay: 2 };

describe('askInTurn', () => {
  it('asks each question once, so many side by side, and times every one', async () => {
    const asked: number[] = [];
    let [underWay, most] = [0, 0];
    const histogram = await askInTurn(
      'a list',
      async (turn) => {
        asked.push(turn);
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise(setImmediate);
        underWay -= 1;
        return true;
      },
      TURNS,
    );
    expect(asked).toEqual([3, 4, 5, 6, 7, 8, 9]);
    expect([histogram.count, most]).toEqual([7, 2]);
  });

  it('is void when an answer is wrong', async () => {
    const asking = askInTurn('a list', (turn) => Promise.resolve(turn !== 5), TURNS);
    await expect(asking).rejects.toEqual(new VoidRun('a list: the answer to question 5 is wrong'));
  });
});
