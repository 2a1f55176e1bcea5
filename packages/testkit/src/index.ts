export * from './answer.js';
export type { Arrival, ArrivalLine } from './arrival.js';
export * from './build-event.js';
export * from './endpoint.js';
export * from './eventually.js';
export * from './random.js';
export * from './random-name.js';
export { openStrangeAuthority, sharedAuthority } from './test-authority.js';
