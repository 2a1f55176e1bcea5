import type { Template } from './request.js';

export interface TemplateParts {
  readonly method: string;
  /** As the OpenAPI document writes it. */
  readonly path: string;
  /** What stands in the request line instead; default `path`. */
  readonly target?: string;
  readonly token: string;
  readonly value?: unknown;
}

/** A valid request of an operation. */
export function makeTemplate({ method, path, target = path, token, value }: TemplateParts): Template {
  const body = value === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(value));
  const common = [
    ['Host', '127.0.0.1'],
    ['Authorization', `Bearer ${token}`],
  ] as const;
  return {
    method,
    path,
    target,
    headers: value === undefined ? common : [...common, ['Content-Type', 'application/json']],
    body,
    ...(value === undefined ? {} : { value }),
  };
}
