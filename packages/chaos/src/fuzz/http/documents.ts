import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { openApiDocument } from '@webhooks/testkit';
import type { OpenApiDocument } from '@webhooks/testkit';

// Found from a package that is built, because a test runs this file where it was written.
const STACK = dirname(createRequire(import.meta.url).resolve('@webhooks/stack'));
const SERVICES = join(STACK, '..', '..', '..', '..', 'services');

/** What a service promises of its answers. */
export const documentOf = (service: string): OpenApiDocument =>
  openApiDocument(join(SERVICES, service, 'openapi.yaml'));
