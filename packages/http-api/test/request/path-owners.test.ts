import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownerOf } from '../../src/request/request-target.js';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');

/** A path of each operation in a service's document. */
const pathsOf = (service: string): readonly string[] =>
  [...read('services', service, 'openapi.yaml').matchAll(/^ {2}(\/\S+):$/gm)].map(([, path = '']) =>
    path.replaceAll(/\{\w+\}/g, '1b4e28ba-2fa1-11d2-883f-0016d3cca427'),
  );

/** The services of nginx.conf by the pattern of their location. */
const LOCATIONS = [
  ...read('deploy', 'compose', 'nginx.conf').matchAll(/location (=|~) (\S+) \{\s+proxy_pass \$(\w+);/g),
].map(([, kind, path = '', variable = '']) => ({
  pattern: new RegExp(kind === '=' ? `^${path}$` : path),
  service: variable.replace('_', '-'),
}));

describe.each(['ingest', 'config-api', 'query-api'])('each path of %s', (service) => {
  const paths = pathsOf(service);

  it('belongs to it in the table of owners', () => {
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.map((path) => [path, ownerOf(path)])).toEqual(paths.map((path) => [path, service]));
  });

  it('is passed to it by the first location of nginx.conf that matches', () => {
    const found = (path: string) => LOCATIONS.find(({ pattern }) => pattern.test(path))?.service;
    expect(paths.map((path) => [path, found(path)])).toEqual(paths.map((path) => [path, service]));
  });
});

it('nginx.conf has a location for each service', () => {
  expect(LOCATIONS.map(({ service }) => service)).toEqual(['ingest', 'query-api', 'config-api']);
});
