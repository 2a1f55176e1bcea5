/** Express 4 beside 5; what the tests use of both has the same types. */
declare module 'express4' {
  export { default } from 'express';
}
