import tseslint from 'typescript-eslint';

// Size rules keep the tail short; typed rules keep every promise owned and every switch exhaustive.
const SIZE = {
  'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
  'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
  complexity: ['error', 8],
  'max-depth': ['error', 3],
  'max-params': ['error', 4],
};

/** Names that were replaced by the field's words; see packages/README.md. */
const REPLACED = [
  'error',
  ...[
    'parked',
    'parkedUntil',
    'parkedCount',
    'createTally',
    'isAwaited',
    'PageWish',
    'Ask',
    'Doubt',
    'onRoom',
    'hasRoom',
  ],
  ...[
    'BRIEF_MS',
    'STUCK_MS',
    'takeTurns',
    'patience',
    'Ledger',
    'ledger',
    'storyOf',
    'lane',
    'hog',
    'courier',
    'parcel',
  ],
];

/** Of jest; the code of a service has none of them. */
const TEST_GLOBALS = [
  'describe',
  'it',
  'test',
  'expect',
  'jest',
  'beforeAll',
  'beforeEach',
  'afterAll',
  'afterEach',
];

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '**/*.cjs', '**/*.js'] },
  {
    files: ['**/*.mjs'],
    extends: [tseslint.configs.recommended],
    rules: { ...SIZE, eqeqeq: 'error', 'id-denylist': REPLACED },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    // One program of all files: with one for each package the same types are read up to 16 times.
    languageOptions: {
      parserOptions: { project: 'packages/tooling/tsconfig.lint.json', tsconfigRootDir: process.cwd() },
    },
    rules: {
      ...SIZE,
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { allowDefaultCaseForExhaustiveSwitch: false },
      ],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // winston's and undici's types describe their classes by interfaces of other packages: only false alarms so far.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      eqeqeq: 'error',
      'no-console': 'error',
      'id-denylist': REPLACED,
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['@webhooks/*/*', '!@webhooks/testkit/account', '!@webhooks/contracts/failure-causes'],
              message: 'Use what the package exports.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['services/console/src/web/**'],
    languageOptions: { parserOptions: { project: 'services/console/src/web/tsconfig.json' } },
  },
  { files: ['**/src/**/*.ts'], rules: { 'no-restricted-globals': ['error', ...TEST_GLOBALS] } },
  {
    files: ['**/test/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'error',
    },
  },
);
