export { ConnectionError, UnexpectedAnswerError } from './call-errors.js';
export type { CallOptions } from './call.js';
export { createClient } from './create-client.js';
export type { Client, ClientOptions } from './create-client.js';
export { ProblemError } from './problem-error.js';
export type { Problem } from './problem-error.js';
export type { ClientCredentials, TokenSource } from './token-source.js';
export type * from './types.js';
