import { sharedAuthority } from '@webhooks/testkit';
import { openCaBundle } from '../../src/guard/ca-bundle.js';
import { issueClient } from '../client-certificates.js';

it('an extra authority file costs no handshake the time to read all roots again', async () => {
  const [{ caFile }, client] = [await sharedAuthority(), await issueClient()];
  const costOf = (createContext: ReturnType<typeof openCaBundle>): number => {
    createContext(client);
    const before = process.cpuUsage();
    for (let count = 0; count < 40; count += 1) createContext(client);
    return process.cpuUsage(before).user;
  };
  // Twice as much; forty times as much where each reads them.
  expect(costOf(openCaBundle(caFile))).toBeLessThan(10 * costOf(openCaBundle()));
});
