import { testForeignProducers } from './foreign-producers.js';
import { testForeignReceivers } from './foreign-receivers.js';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

let running: TestStack;
beforeAll(async () => {
  running = await startTestStack();
});
afterAll(() => running.stop());

describe('producers', () => testForeignProducers(() => running));
describe('receivers', () => testForeignReceivers(() => running));
