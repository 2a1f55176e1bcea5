import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '@webhooks/client';
import { emptyTestEngines, startStack } from '@webhooks/local';
import { startEndpoint } from '@webhooks/testkit';
import { chromium, type BrowserContext, type Page } from 'playwright-core';

/** Debian's; `.ci/run` installs it. */
const CHROMIUM = '/usr/bin/chromium';
const hasChromium = existsSync(CHROMIUM);
if (!hasChromium) process.stdout.write('skipped: Chromium is not on this machine\n');
/** `describe` where there is a browser. */
export const looked = hasChromium ? describe : describe.skip;

export const launch = () => chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });

export interface Look {
  readonly language: 'pt-BR' | 'en-US';
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
}

/** The whole stack with the console, a receiver that deliveries trust, and a browser. */
export async function startPages() {
  const dataDir = mkdtempSync(join(tmpdir(), 'console-'));
  const engines = await emptyTestEngines();
  const options = {
    ...{ dataDir, fixedPorts: false, withConsole: true, log: () => undefined },
    // A job lasts until it is cancelled.
    overrides: { 'query-api': { REDELIVERIES_PER_SECOND: '1' } },
  };
  const stack = await startStack({ ...engines, ...options });
  const { certPem, keyPem } = await stack.authority.issue(['localhost']);
  const endpoint = await startEndpoint({ certPem, keyPem });
  const browser = await launch();
  const { configApi, ingest, queryApi, tokenEndpoint, console: origin } = stack.description();
  const clientOf = (tenantId: string): Client =>
    createClient({
      ...{ baseUrl: configApi, ingestUrl: ingest, queryUrl: queryApi ?? '' },
      credentials: { tokenEndpoint, ...stack.clientOf(tenantId) },
    });
  /** What the browser complains about: violations of the policy, and scripts that fail. */
  const complaints: string[] = [];
  /** A browser for each person and language, signed in by its first page. */
  const contexts = new Map<string, BrowserContext>();
  const openFirst = async (person: string, path: string, locale: string): Promise<BrowserContext> => {
    const context = await browser.newContext({ locale });
    context.on('console', (message) => {
      if (/Content.Security.Policy|Trusted/i.test(message.text())) complaints.push(message.text());
    });
    context.on('weberror', (error) => complaints.push(error.error().message));
    const page = await context.newPage();
    await page.goto(`${origin ?? ''}${path}`);
    await page.getByRole('link', { name: person }).click();
    await page.waitForURL(`${origin ?? ''}${path}`);
    await page.close();
    return context;
  };
  return {
    ...{ endpoint, complaints, clientOf, origin: origin ?? '' },
    /** Opens a page as this person, who signs in on the way to the first one and comes back to it. */
    open: async (person: string, path: string, { language, colorScheme, width }: Look): Promise<Page> => {
      const name = `${person} ${language}`;
      const context = contexts.get(name) ?? (await openFirst(person, path, language));
      contexts.set(name, context);
      const page = await context.newPage();
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${origin ?? ''}${path}`);
      await page.waitForSelector('h1');
      return page;
    },
    stop: async () => {
      await browser.close();
      await endpoint.close();
      await stack.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export type Pages = Awaited<ReturnType<typeof startPages>>;
