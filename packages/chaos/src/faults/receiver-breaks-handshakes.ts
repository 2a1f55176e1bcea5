import { misbehave } from '../world/misbehave.js';

/** It resets connections in the middle of the handshake. */
const receiverBreaksHandshakes = misbehave({ name: 'receiver-breaks-handshakes' }, () => ({
  connection: 'reset-in-handshake',
}));

export default receiverBreaksHandshakes;
