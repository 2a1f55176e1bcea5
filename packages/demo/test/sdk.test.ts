import { testRecipes } from './sdk-recipes.js';
import { testExampleReceivers } from './sdk-receivers.js';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

let running: TestStack;
beforeAll(async () => {
  const worker = { RETRY_DELAYS: '1s,1s,1s,1s,1s', BREAKER_FIRST_PAUSE: '1s' };
  running = await startTestStack({ 'delivery-worker': worker }, { withQueryApi: true });
}, 300_000);
afterAll(() => running.stop(), 60_000);

// The recipes first: they list all events of their tenant.
describe('recipes', () => testRecipes(() => running));
describe('example receivers', () => testExampleReceivers(() => running));
