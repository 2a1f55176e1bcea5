import type { NameReply } from '@webhooks/testkit';
import type { Fault } from '../fault.js';

/** A fault of the name of a receiver: this is what the workers are told of it for a while. */
export const misname = (about: Pick<Fault, 'name'>, reply: NameReply): Fault => ({
  ...about,
  lane: 'receivers',
  weight: 1,
  targets: ['named'],
  lasts: [2_000, 20_000],
  begin: async (_, { names, receivers }) => {
    names.become(reply);
    // Who is connected asks nobody: whatever is open is broken.
    await receivers.named.behave();
    return () => {
      names.behave();
      return Promise.resolve();
    };
  },
});
