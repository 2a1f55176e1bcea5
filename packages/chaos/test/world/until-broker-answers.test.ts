import { untilBrokerAnswers } from '../../src/world/until-broker-answers.js';

const away = Object.assign(new Error('This server is not the leader for that topic-partition'), {
  type: 'NOT_LEADER_FOR_PARTITION',
});

it('asks again while the broker has just come up', async () => {
  const answers = [away, away];
  const ask = (): Promise<string> => {
    const error = answers.pop();
    return error ? Promise.reject(error) : Promise.resolve('here');
  };
  expect(await untilBrokerAnswers(ask)).toBe('here');
});

it('does not ask again for another fault, or for ever', async () => {
  let asked = 0;
  const askFor = (error: Error) => () => {
    asked += 1;
    return Promise.reject(error);
  };
  await expect(untilBrokerAnswers(askFor(new TypeError('a bug')))).rejects.toThrow('a bug');
  expect(asked).toBe(1);
  await expect(untilBrokerAnswers(askFor(away), 0)).rejects.toBe(away);
});
