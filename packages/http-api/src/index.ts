export { AppError, databaseUnavailable, invalidRequest } from './request/app-error.js';
export { createApi } from './server/create-api.js';
export { scopeChallenge, type Identity } from './token/identity.js';
export { listen, type HttpServer } from './server/listen.js';
export { createOpenRequests, type OpenRequests, Shares } from './limits/shares.js';
export { refOf, type ApiReply, type ApiRequest, type Operation } from './request/operation.js';
export { MAX_BODY_VALUES, jsonFault, mediaTypeOf, parseJsonText, readJson } from './request/read-body.js';
export { readQuery, wholeNumber, type QueryParameter, type QueryParameters } from './request/read-query.js';
export { serveApi } from './server/serve-api.js';
export { BURST_SECONDS, readApiSettings, type ApiDefaults, type ApiSettings } from './server/settings.js';
export { createTenantLimiter, type RateLimit, type TenantLimiter } from './limits/tenant-limiter.js';
export {
  createTokenVerifier,
  type TokenVerifier,
  type TokenVerifierOptions,
} from './token/token-verifier.js';
