import { misbehave } from '../world/misbehave.js';

/** Nobody listens at its port. */
const receiverRefuses = misbehave({ name: 'receiver-refuses' }, () => ({ closed: true }));

export default receiverRefuses;
