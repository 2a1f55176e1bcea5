export { ALL_SCOPES, DEFAULT_TENANTS, PAYMENT_SYSTEM, planClients } from './clients.js';
export type { Detours } from './detours.js';
export { openDevelopmentSecrets } from './development-secrets.js';
export type { DevelopmentSecrets } from './development-secrets.js';
export type { Fleet, MoreOptions } from './fleet.js';
export { PREFERRED_PORTS } from './ports.js';
export type { StackDescription } from './stack-file.js';
export { startStack } from './start-stack.js';
export type { Stack, StackOptions } from './start-stack.js';
