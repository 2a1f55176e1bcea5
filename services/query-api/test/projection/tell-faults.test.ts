import { createTellFaults } from '../../src/projection/tell-faults.js';

/** A log that remembers its lines, and a clock that a test moves. */
function openRig() {
  const lines: { readonly message: string; readonly fields: unknown }[] = [];
  const line = (message: string, fields?: unknown) => void lines.push({ message, fields });
  let nowMs = 1_000_000;
  const tell = createTellFaults({ debug: line, info: line, warn: line, error: line }, () => nowMs);
  return { lines, tell, pass: (ms: number) => (nowMs += ms) };
}

const told = (queries: number, error: string) => ({
  message: 'queries did not wait to their end',
  fields: expect.objectContaining({ queries, error: `Error: ${error}` }) as unknown,
});

it('one query that did not wait to its end is told of at once', () => {
  const { lines, tell } = openRig();
  tell(new Error('too late'));
  expect(lines).toEqual([told(1, 'too late')]);
});

it('a flood of them is one line at once and one every 10 s, with how many they were', () => {
  const { lines, tell, pass } = openRig();
  for (let second = 0; second < 25; second += 1) {
    for (let query = 0; query < 250; query += 1) tell(new Error(`second ${second}`));
    pass(1_000);
  }
  expect(lines).toEqual([told(1, 'second 0'), told(2_500, 'second 10'), told(2_500, 'second 20')]);
});
