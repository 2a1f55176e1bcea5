export { ALL_SCOPES, DEFAULT_TENANTS, PAYMENT_SYSTEM } from './clients.js';
export { PREFERRED_PORTS } from './ports.js';
export type { StackDescription } from './stack-file.js';
export { startStack } from './start-stack.js';
export type { Stack, StackOptions } from './start-stack.js';
