import { closeEngines } from './jest-global-setup.js';

/** Stops what the global setup has started and removes its data. */
export default async function stopEnginesOfJest(): Promise<void> {
  await closeEngines();
}
