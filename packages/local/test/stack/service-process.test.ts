import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALLOCATOR, NODE_FLAGS } from '../../src/stack/service-process.js';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const image = readFileSync(join(ROOT, 'deploy', 'docker', 'Dockerfile'), 'utf8');

describe('a service process', () => {
  it('has the bounds of the image', () => {
    const entry: unknown = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(image)?.[1] ?? '[]');
    expect(entry).toEqual(['node', ...NODE_FLAGS]);
    const allocator = /^ENV (MALLOC_.+)$/m.exec(image)?.[1]?.split(' ');
    expect(allocator).toEqual(Object.entries(ALLOCATOR).map(([name, value]) => `${name}=${value}`));
  });
});
