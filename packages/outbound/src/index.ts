export { createAddressPolicy } from './address-policy.js';
export {
  checkClientCertificate,
  readClientCertificate,
  toEndpointCertificate,
} from './client-certificate.js';
export type { ClientCertificate, ClientCertificateFiles } from './client-certificate.js';
export * from './endpoint-url.js';
export { createResolver } from './resolver.js';
export type { Resolve, ResolverOptions } from './resolver.js';
export * from './secret.js';
export * from './send-request.js';
export * from './send-result.js';
export * from './sender.js';
export * from './sender-options.js';
export * from './sender-settings.js';
export * from './signature.js';
export { watchClientCertificate } from './watch-client-certificate.js';
