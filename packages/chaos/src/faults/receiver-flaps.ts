import { misbehave } from '../world/misbehave.js';

/** A second of 503, a second of 200, and so on. */
const receiverFlaps = misbehave({ name: 'receiver-flaps' }, () => ({
  answer: () => (Math.floor(performance.now() / 1_000) % 2 === 0 ? 503 : 200),
}));

export default receiverFlaps;
