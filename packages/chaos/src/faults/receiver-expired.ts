import { misbehave } from '../world/misbehave.js';

/** Its certificate has ended an hour ago. */
const receiverExpired = misbehave({ name: 'receiver-expired' }, () => ({ expired: true }));

export default receiverExpired;
