import type { ServiceScope } from '@webhooks/runtime';
import { startInProcess } from '../src/index.js';

const start = (open: (scope: ServiceScope) => void) =>
  startInProcess(
    { readConfig: () => undefined, compose: (_, scope) => Promise.resolve(scope).then(open) },
    {},
  );

let closed: string[] = [];
beforeEach(() => (closed = []));

function openPart(scope: ServiceScope, part: string): void {
  scope.onClose(part, () => {
    closed.push(part);
    return Promise.resolve();
  });
}

describe('a service in the process of a test', () => {
  it('closes its parts when it stops', async () => {
    const service = await start((scope) => {
      for (const part of ['first', 'second']) openPart(scope, part);
    });
    await service.stop();
    expect(closed).toEqual(['second', 'first']);
  });

  it('names the part that does not close', async () => {
    const service = await start((scope) => {
      scope.onClose('sink', () => Promise.reject(new Error('records are left')));
    });
    await expect(service.stop()).rejects.toThrow(/^a part did not close: .*"sink".*records are left/);
  });

  it('closes what it had opened when it cannot be composed', async () => {
    const starting = start((scope) => {
      openPart(scope, 'sink');
      throw new Error('no database');
    });
    await expect(starting).rejects.toThrow('no database');
    expect(closed).toEqual(['sink']);
  });
});
