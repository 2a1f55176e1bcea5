import { testRecipes } from './sdk-recipes.js';
import { testExampleReceivers } from './sdk-receivers.js';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

let running: TestStack;
beforeAll(async () => {
  // The receivers are killed and start slowly on a busy machine: no delivery may end, and no breaker open, before they are back.
  const worker = { RETRY_DELAYS: Array(30).fill('1s').join(','), BREAKER_FAILURES: '1000' };
  running = await startTestStack({ 'delivery-worker': worker }, { withQueryApi: true });
}, 300_000);
afterAll(() => running.stop(), 60_000);

// The recipes first: they list all events of their tenant.
describe('recipes', () => testRecipes(() => running));
describe('example receivers', () => testExampleReceivers(() => running));
