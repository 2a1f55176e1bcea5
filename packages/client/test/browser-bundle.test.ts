import { join } from 'node:path';
import { build } from 'esbuild';

/** All inputs of a bundle for browsers; rejects when one of them needs Node. */
async function bundle(file: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [join(import.meta.dirname, '..', 'src', file)],
    ...{ bundle: true, platform: 'browser', format: 'esm', write: false, metafile: true, logLevel: 'silent' },
  });
  return Object.keys(metafile.inputs);
}

it('the calls of the SDK are bundled for a browser, because they import nothing of Node', async () => {
  const inputs = await bundle('calls/create-client.ts');
  expect(inputs.some((input) => input.endsWith('src/calls/webhook-calls.ts'))).toBe(true);
  expect(inputs.filter((input) => input.includes('/receiver/'))).toEqual([]);
});

it('explaining a payment is bundled for a browser, with the causes of failures', async () => {
  const inputs = await bundle('explain/explain-payment.ts');
  expect(
    inputs.filter((input) => input.includes('contracts/')).map((input) => input.split('/').at(-1)),
  ).toEqual(['failure-causes-pt.js', 'failure-causes.js']);
});

it('the whole SDK is bundled for a browser, so that a page can import a part of it', async () => {
  expect(await bundle('index.ts')).toContain('packages/client/src/receiver/verify-notification.ts');
});
