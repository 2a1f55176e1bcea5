export type * from './alert-types.js';
export type * from './event-types.js';
export type * from './overview-types.js';
export type * from './query-types.js';
export type * from './statement-types.js';
export type * from './webhook-types.js';
