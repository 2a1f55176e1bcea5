import type { Fault } from '../fault.js';
import type { Manners } from './receiver.js';
import type { ReceiverName } from './configurations.js';

const MOODY: readonly [ReceiverName, ...ReceiverName[]] = ['moody-1', 'moody-2'];

/** A fault of a moody receiver: it has these manners for a while. */
export const misbehave = (about: Pick<Fault, 'name'>, manners: () => Manners): Fault => ({
  ...about,
  lane: 'receivers',
  weight: 1,
  targets: MOODY,
  lasts: [2_000, 30_000],
  begin: async (target, { receivers }) => {
    const receiver = receivers[target as ReceiverName];
    await receiver.become(manners());
    return () => receiver.behave();
  },
});
