import { join } from 'node:path';
import { defineConfig } from 'vite';

export default defineConfig({
  root: join(import.meta.dirname, 'src', 'web'),
  // Its warnings are about libraries.
  logLevel: 'error',
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    // The CSP allows no `data:` address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
