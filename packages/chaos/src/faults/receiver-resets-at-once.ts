import { misbehave } from '../world/misbehave.js';

/** It resets connections as they come. */
const receiverResetsAtOnce = misbehave({ name: 'receiver-resets-at-once' }, () => ({ connection: 'reset' }));

export default receiverResetsAtOnce;
