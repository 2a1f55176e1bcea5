export { createAddressPolicy } from './guard/address-policy.js';
export {
  checkClientCertificate,
  readClientCertificate,
  toEndpointCertificate,
  watchClientCertificate,
} from './guard/client-certificate.js';
export type { ClientCertificate } from './guard/client-certificate.js';
export { checkEgress, watchEgress, type EgressProxy } from './guard/egress-proxy.js';
export * from './guard/endpoint-url.js';
export { createResolver, type Resolve, type ResolverOptions } from './guard/resolver.js';
export * from './signature.js';
export * from './pool/exchange.js';
export * from './sender.js';
export * from './sender-settings.js';
