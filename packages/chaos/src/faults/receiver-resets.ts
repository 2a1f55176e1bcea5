import { misbehave } from '../world/misbehave.js';

const STAGES = ['before-answer', 'in-headers', 'in-body'] as const;

/** It resets connections before, in the middle of and behind the head of its answer, in turn. */
const receiverResets = misbehave({ name: 'receiver-resets' }, () => ({
  answer: ({ index }) => ({ kind: 'cut', stage: STAGES[index % STAGES.length] ?? 'before-answer' }),
}));

export default receiverResets;
