import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const rootDir = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Tests are TypeScript and run as ES modules; other workspace packages are taken as built (dist). */
export default {
  rootDir,
  roots: ['<rootDir>/packages', '<rootDir>/services'],
  testMatch: ['**/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transformIgnorePatterns: ['/node_modules/', '/dist/'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2024', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  testEnvironment: 'node',
  // A real Kafka and a MongoDB for each worker: TEST_KAFKA_BROKERS, TEST_MONGODB_URI (packages/local).
  globalSetup: '<rootDir>/packages/local/dist/src/jest-global-setup.js',
  globalTeardown: '<rootDir>/packages/local/dist/src/jest-global-teardown.js',
  testTimeout: 120_000,
  maxWorkers: 3,
  workerIdleMemoryLimit: '1GB',
};
