import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Returns what axe finds serious or critical on a page. The page's policy allows no script from outside, so axe runs in an isolated world
 * of the debugger.
 */
export async function seriousFaults(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
  });
  await session.send('Runtime.evaluate', { expression: AXE, contextId });
  const run = { expression: 'axe.run()', contextId, awaitPromise: true, returnByValue: true };
  const { result } = await session.send('Runtime.evaluate', run);
  const { violations } = result.value as AxeResults;
  return violations.flatMap(({ impact, id, nodes }) =>
    impact === 'serious' || impact === 'critical' ? `${id}: ${nodes.map(({ html }) => html).join(' ')}` : [],
  );
}
