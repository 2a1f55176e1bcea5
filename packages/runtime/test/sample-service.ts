import { once } from 'node:events';
import { runService } from '../src/index.js';

/** The smallest service there is, for the tests of `runService`. */
await runService({
  name: 'sample',
  readConfig: (settings) => ({
    size: settings.integer('SAMPLE_SIZE', 1),
    fault: settings.text('SAMPLE_FAULT', 'none'),
  }),
  compose: async (config, scope) => {
    for (const part of ['first', 'second']) {
      scope.onClose(part, () => {
        scope.log.info('closed part', { part });
        return Promise.resolve();
      });
    }
    scope.tracing.arrive(undefined, () => ({ name: 'composed', kind: 'INTERNAL', attributes: {} })).end?.();
    scope.addPage({ path: '/page', render: () => ({ size: config.size, slabBytes: Buffer.poolSize }) });
    if (config.fault === 'hang') scope.onClose('hanging', () => new Promise(() => undefined));
    const reject = () => Promise.reject(new Error('nobody owns this')) as never;
    if (config.fault === 'signal')
      scope.onClose('waiting', () => once(process, 'SIGTERM').then(() => undefined));
    if (config.fault === 'rejection' || config.fault === 'signal') setImmediate(reject);
    if (config.fault === 'late-rejection')
      scope.onClose('faulty', async () => {
        reject();
        await new Promise((resolve) => setImmediate(resolve));
      });
    await Promise.resolve();
  },
  checks: ({ fault }) => ({
    size: Promise.resolve('is right'),
    fault: fault === 'none' ? Promise.resolve('none') : Promise.reject(new Error('set SAMPLE_FAULT=none')),
  }),
});
