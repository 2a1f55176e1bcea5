import { misbehave } from '../world/misbehave.js';

/** It takes requests and never answers. */
const receiverHangs = misbehave({ name: 'receiver-hangs' }, () => ({ answer: { kind: 'hang' } }));

export default receiverHangs;
