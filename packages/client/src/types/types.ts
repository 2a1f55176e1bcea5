export type * from './alert-types.js';
export type * from './event-types.js';
export type * from './query-types.js';
export type * from './report-types.js';
export type * from './webhook-types.js';
