export { createAddressPolicy } from './address-policy.js';
export {
  checkClientCertificate,
  readClientCertificate,
  toEndpointCertificate,
  type ClientCertificate,
  type ClientCertificateFiles,
  watchClientCertificate,
} from './client-certificate.js';
export * from './endpoint-url.js';
export { createResolver, type Resolve, type ResolverOptions } from './resolver.js';
export * from './signature.js';
export * from './exchange.js';
export * from './sender.js';
export * from './sender-settings.js';
