import type { ApiRequest } from '@webhooks/http-api';
import { createKeyedMutex } from '../../src/webhooks/make-change.js';
import { createOperations } from '../../src/webhooks/operations.js';
import type { OperationPorts } from '../../src/webhooks/operations.js';

const late = () => new Error('late');

function deferred(): { readonly promise: Promise<string>; readonly resolve: (value: string) => void } {
  let resolve: (value: string) => void = () => undefined;
  const promise = new Promise<string>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe('turns', () => {
  it('run the work of one key one after the other, in the order of the calls', async () => {
    const turns = createKeyedMutex(1_000, late);
    const first = deferred();
    const order: string[] = [];
    const work = (name: string, wait: Promise<string>) => async (): Promise<void> => {
      order.push(`${name} begins`);
      await wait;
      order.push(`${name} ends`);
    };
    const all = [
      turns('a', work('1', first.promise)),
      turns('a', work('2', Promise.resolve(''))),
      turns('b', work('3', Promise.resolve(''))),
    ];
    await all[2];
    first.resolve('');
    await Promise.all(all);
    expect(order).toEqual(['1 begins', '3 begins', '3 ends', '1 ends', '2 begins', '2 ends']);
  });

  it('continue after a failure, which only its own caller sees', async () => {
    const turns = createKeyedMutex(1_000, late);
    const failed = turns('a', () => Promise.reject(new Error('no')));
    const next = turns('a', () => Promise.resolve('yes'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('end for a call that waits too long, whose work never begins, while the others keep their order', async () => {
    const turns = createKeyedMutex(20, late);
    const first = deferred();
    let begun = false;
    const slow = turns('a', () => first.promise);
    const second = turns('a', () => {
      begun = true;
      return Promise.resolve('second');
    });
    await expect(second).rejects.toThrow('late');
    const third = turns('a', () => Promise.resolve('third'));
    first.resolve('first');
    expect(await Promise.all([slow, third])).toEqual(['first', 'third']);
    expect(begun).toBe(false);
  });

  it('are taken by the lists of one tenant, and not by those of others', async () => {
    const reading: string[] = [];
    const first = deferred();
    const list = (tenantId: string): Promise<[]> => {
      reading.push(tenantId);
      return first.promise.then(() => []);
    };
    const parts = { storeFor: () => ({ list }), runExclusive: createKeyedMutex(1_000, late) };
    const [operation] = createOperations(parts as unknown as OperationPorts);
    const read = async (tenantId: string): Promise<unknown> =>
      operation?.handle({ identity: { tenantId }, query: new URLSearchParams() } as unknown as ApiRequest);
    const all = Promise.all(['acme', 'acme', 'globex'].map(read));
    await new Promise(setImmediate);
    expect(reading).toEqual(['acme', 'globex']);
    first.resolve('');
    await all;
    expect(reading).toEqual(['acme', 'globex', 'acme']);
  });
});
