export { AppError, databaseUnavailable, invalidRequest } from './request/app-error.js';
export { createApi } from './server/create-api.js';
export { TENANT_ANY, scopeChallenge, type Identity } from './token/identity.js';
export { listen, type HttpServer } from './server/listen.js';
export { createConcurrencyLimiter, type ConcurrencyLimiter, SharedBudget } from './limits/shared-budget.js';
export { refOf, type ApiReply, type ApiRequest, type Operation } from './request/operation.js';
export { MAX_BODY_VALUES, jsonFault, mediaTypeOf, parseJsonText, readJson } from './request/read-body.js';
export { matching, oneOf, pageOf, readQuery, wholeNumber } from './request/read-query.js';
export type { QueryParameter } from './request/read-query.js';
export { originForm, ownerOf } from './request/request-target.js';
export { createFaultLog, createRefusedTokenLog, sendProblem } from './server/send.js';
export { openVerifier, serve, serveApi } from './server/serve-api.js';
export {
  BURST_SECONDS,
  readApiSettings,
  readListenSettings,
  readTokenSettings,
} from './server/api-settings.js';
export type { ApiDefaults, ApiSettings } from './server/api-settings.js';
export { createTenantLimiter, type RateLimit, type TenantLimiter } from './limits/tenant-limiter.js';
export { checkIssuer } from './token/issuer-keys.js';
export { createTokenVerifier, type TokenVerifier } from './token/token-verifier.js';
