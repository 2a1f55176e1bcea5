import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Keeps the manifest and the licence of each package in the pages, beside them: an image's list of packages (SBOM) is made of manifests. */
const keepManifests = {
  name: 'keep-manifests',
  generateBundle() {
    for (const id of this.getModuleIds()) {
      const [, folder, name] = /^\0?(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(id) ?? [];
      if (name === undefined) continue;
      const filter = (path) => path === folder || /\/(package\.json|licen[cs]e[^/]*)$/i.test(path);
      cpSync(folder, join(import.meta.dirname, 'dist', 'packages', name), { recursive: true, filter });
    }
  },
};

export default defineConfig({
  root: join(import.meta.dirname, 'src', 'web'),
  // Its warnings are about libraries.
  logLevel: 'error',
  plugins: [keepManifests],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    // The CSP allows no `data:` address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
