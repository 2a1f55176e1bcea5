import { misbehave } from '../world/misbehave.js';

/** It accepts connections, and TLS never comes about. */
const receiverIsSilent = misbehave({ name: 'receiver-is-silent' }, () => ({ connection: 'hang' }));

export default receiverIsSilent;
