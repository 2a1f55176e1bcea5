import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Client } from '@webhooks/client';
import { freePort } from '@webhooks/local';
import { buildEvent, eventually } from '@webhooks/testkit';
import { seriousFaults } from './support/axe.js';
import { looked, startPages, type Look, type Pages } from './support/start-pages.js';

/** The pictures of README.md are copies of these. */
const PICTURES = join(import.meta.dirname, '..', 'dist', 'pictures');
const LONG = { timeoutMs: 60_000 };

const DESK: Look = { language: 'pt-BR', colorScheme: 'light', width: 1200 };
const PHONE: Look = { language: 'en-US', colorScheme: 'dark', width: 390 };
const NIGHT: Look = { language: 'pt-BR', colorScheme: 'dark', width: 1200 };
const POCKET: Look = { language: 'en-US', colorScheme: 'light', width: 390 };

const MARKUP = '<img src=x onerror=alert(1)>';
const KIB = 1_024;
const DAY_MS = 86_400_000;
// Texts, because these tests know no `document`.
const IS_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
const KEPT = '[localStorage.length, sessionStorage.length, document.cookie]';
const FOCUSED = "document.activeElement?.getAttribute('href')";

looked('the pages of the console', () => {
  let pages: Pages;
  let client: Client;
  let ref: string;
  let failing: string;
  let endToEndId: string;
  let deliveryId: string;

  /** Posts an event, and returns its endToEndId. */
  const post = async (
    eventType: 'PIX_STATIC' | 'PIX_OUT' | 'PIX_DYNAMIC_PAID',
    amount: string,
  ): Promise<string> => {
    const { id: _id, ...event } = buildEvent({ tenantId: 'acme', eventType, data: { amount } });
    await client.postEvent(event);
    return event.data.endToEndId;
  };
  const stateOf = async (one: string) => (await client.health(one)).state;

  beforeAll(async () => {
    pages = await startPages();
    client = pages.clientOf('acme');
    ({ ref } = await client.register({
      eventType: 'PIX_STATIC',
      endpointUrl: `${pages.endpoint.origin}/pix`,
    }));
    const gone = { endpointUrl: `https://localhost:${await freePort()}/erp`, applicationId: MARKUP };
    ({ ref: failing } = await client.register({ eventType: 'PIX_OUT', ...gone }));
    endToEndId = await post('PIX_STATIC', '42.00');
    for (const amount of ['55.00', '55.00']) await post('PIX_STATIC', amount);
    for (const cents of Array.from({ length: 30 }, (_, index) => 10 + index))
      await post('PIX_STATIC', `1${cents}.${cents}`);
    for (const amount of ['1250.00', '38.19', '702.50']) await post('PIX_OUT', amount);
    deliveryId = await eventually(
      async () => (await client.deliveries({ endToEndId, status: 'delivered' })).data[0]?.deliveryId ?? false,
      LONG,
    );
    await eventually(
      async () => (await stateOf(failing)) === 'failing' && (await stateOf(ref)) === 'healthy',
      LONG,
    );
  }, 180_000);
  afterAll(() => pages.stop());

  const sentence = (page: Page, says: RegExp) =>
    page.getByRole('heading', { level: 1 }).filter({ hasText: says }).waitFor();

  const PAGES: readonly (readonly [name: string, path: () => string, look: Look, says: RegExp])[] = [
    ['overview', () => '/', DESK, /localhost:\d+\/erp falha desde/],
    ['find', () => `/find?q=${endToEndId}`, PHONE, /^PIX_STATIC of R\$42\.00: delivered/],
    ['find by amount', () => '/find?q=55,00', NIGHT, /^2 pagamentos ou devoluções de R\$.55,00 entre/],
    ['webhook', () => `/webhooks/${failing}`, POCKET, /localhost:\d+\/erp fails since/],
    ['policy', () => `/webhooks/${ref}?tab=policy`, DESK, /recebe o que lhe é enviado/],
    ['secret', () => `/webhooks/${ref}?tab=secret`, PHONE, /takes what it is sent/],
    ['changes', () => `/webhooks/${failing}?tab=changes`, NIGHT, /falha desde/],
    ['deliveries', () => '/deliveries?status=delivered', POCKET, /\d+ deliver(y|ies), the newest first/],
    ['delivery', () => `/deliveries/${deliveryId}`, DESK, /^PIX_STATIC de R\$.42,00: entregue/],
    ['redeliveries', () => '/redeliveries', PHONE, /No redelivery runs/],
    ['statements', () => '/statements', NIGHT, /^Ainda em aberto: \d+ de/],
    ['alerts', () => '/alerts', POCKET, /Nobody is told when a webhook fails/],
  ];

  test.each(PAGES)(
    '%s begins with a sentence, fits its width, and axe finds nothing serious',
    async (name, path, look, says) => {
      const page = await pages.open('Ana (acme)', path(), look);
      await sentence(page, says);
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: join(PICTURES, `${name.replaceAll(' ', '-')}.png`) });
      expect(await seriousFaults(page)).toEqual([]);
      expect(await page.evaluate<boolean>(IS_WIDE)).toBe(false);
      await page.close();
    },
  );

  test('of statements say from when on days are no longer kept, and show the days that are', async () => {
    const dayOf = (daysAgo: number) =>
      new Date(Date.now() - 3 * 3_600_000 - daysAgo * DAY_MS).toISOString().slice(0, 10);
    // Kept are 30 days and the present one.
    const [oldest, before] = [dayOf(30), dayOf(31)];
    const page = await pages.open('Ana (acme)', `/statements?month=${before.slice(0, 7)}`, PHONE);
    await page.getByRole('alert').filter({ hasText: 'must be a day that is still kept' }).waitFor();
    if (!oldest.endsWith('-01')) await sentence(page, /^The earlier days of this month are no longer kept/);
    await page.close();
  });

  test('come back after the sign-in to the page that was asked for', async () => {
    const path = `/deliveries?ref=${ref}&status=delivered`;
    const page = await pages.open('Bruno (globex)', path, DESK);
    expect(page.url()).toBe(`${pages.origin}${path}`);
    await page.close();
  });

  test('need at most 150 KiB of scripts and 10 KiB of styles for the first one', async () => {
    const page = await pages.open('Ana (acme)', '/alerts', DESK);
    const bytes = { script: 0, stylesheet: 0 };
    const sizes: Promise<unknown>[] = [];
    page.on('requestfinished', (request) => {
      const kind = request.resourceType() as keyof typeof bytes;
      if (kind in bytes)
        sizes.push(request.sizes().then(({ responseBodySize }) => (bytes[kind] += responseBodySize)));
    });
    const tell = async (where: string) => {
      const began = performance.now();
      await page.goto(`${pages.origin}/`);
      await sentence(page, /falha desde/);
      process.stdout.write(
        `the first sentence ${where}: ${((performance.now() - began) / 1_000).toFixed(1)} s\n`,
      );
    };
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    await tell('on this machine');
    await page.locator('canvas').waitFor();
    await Promise.all(sizes);
    expect(bytes.script).toBeGreaterThan(KIB);
    expect(bytes.script).toBeLessThanOrEqual(150 * KIB);
    expect(bytes.stylesheet).toBeLessThanOrEqual(10 * KIB);
    const slow4g = {
      offline: false,
      latency: 150,
      downloadThroughput: 200 * KIB,
      uploadThroughput: 94 * KIB,
    };
    await session.send('Network.emulateNetworkConditions', slow4g);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await tell('with slow 4G and a quarter of the CPU');
    await page.close();
  });

  test('keep nothing in storage, and no cookie that a script reads but the language', async () => {
    const page = await pages.open('Ana (acme)', '/', DESK);
    await page.getByRole('button', { name: 'English' }).click();
    await page.getByRole('button', { name: 'Português' }).waitFor();
    const kept = await page.evaluate<unknown>(KEPT);
    expect(kept).toEqual([0, 0, 'language=en']);
    await page.context().clearCookies({ name: 'language' });
    await page.close();
  });

  test('are used with the keyboard: search, keys, and the rows of a list', async () => {
    const page = await pages.open('Ana (acme)', '/deliveries', DESK);
    await page.locator('a.row').first().waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('vai à caixa de busca').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.locator('a.row').first().focus();
    await page.keyboard.press('j');
    const second = await page.locator('a.row').nth(1).getAttribute('href');
    expect(await page.evaluate<unknown>(FOCUSED)).toBe(second);
    // Of the browser.
    await page.keyboard.press('Control+k');
    expect(await page.evaluate<unknown>(FOCUSED)).toBe(second);
    await page.keyboard.press('k');
    expect(await page.evaluate<unknown>(FOCUSED)).not.toBe(second);
    await page.keyboard.press('/');
    await page.keyboard.type(endToEndId);
    await page.keyboard.press('Enter');
    await sentence(page, /entregue/);
    await page.close();
  });

  test('open the payment of an amount when there is one, and the webhook of a ref', async () => {
    const page = await pages.open('Ana (acme)', '/find?q=42,00', DESK);
    await sentence(page, /^PIX_STATIC de R\$.42,00: entregue/);
    await page.goto(`${pages.origin}/find?q=${ref}`);
    await sentence(page, /recebe o que lhe é enviado/);
    await page.close();
  });

  test('send one event that was never sent', async () => {
    const missed = await post('PIX_DYNAMIC_PAID', '77.00');
    await eventually(() => client.transaction(missed), LONG);
    await client.register({ eventType: 'PIX_DYNAMIC_PAID', endpointUrl: `${pages.endpoint.origin}/late` });
    const page = await pages.open('Ana (acme)', `/find?q=${missed}`, DESK);
    await page.getByRole('button', { name: 'Enviar este' }).click();
    await eventually(() => pages.endpoint.arrivals.some(({ path }) => path === '/late'), LONG);
    await page.close();
  });

  test('send a delivery again', async () => {
    const page = await pages.open('Ana (acme)', `/deliveries/${deliveryId}`, DESK);
    const before = pages.endpoint.arrivals.length;
    await page.getByRole('button', { name: 'Enviar de novo' }).click();
    await eventually(() => pages.endpoint.arrivals.length > before, LONG);
    await page.close();
  });

  test('show a new secret once', async () => {
    const page = await pages.open('Ana (acme)', `/webhooks/${ref}?tab=secret`, DESK);
    await page.getByRole('button', { name: 'Novo segredo …' }).click();
    await page.getByRole('button', { name: 'Novo segredo', exact: true }).click();
    const secret = await page.locator('code.secret').innerText();
    expect(secret).toMatch(/^whsec_/);
    await page.reload();
    await sentence(page, /./);
    expect(await page.content()).not.toContain(secret);
    await page.close();
  });

  test('count a job before it is started, show its progress, and cancel it', async () => {
    const page = await pages.open('Ana (acme)', '/redeliveries', DESK);
    await page.getByLabel('Status').selectOption('delivered');
    await page.getByLabel('Desde').fill('2026-01-01T00:00');
    await page.getByRole('button', { name: 'Contar' }).click();
    await page.getByText(/^3\d entregas seriam enviadas/).waitFor();
    await page.getByRole('button', { name: 'Enviar' }).click();
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByText(/Termina em \d+ segundos/).waitFor();
    await page.getByRole('button', { name: 'Cancelar' }).click();
    await page.getByRole('cell', { name: 'cancelado' }).waitFor();
    await page.close();
  });

  test('say how many deliveries are cancelled before a webhook is disabled', async () => {
    const page = await pages.open('Ana (acme)', `/webhooks/${failing}`, DESK);
    await page.getByRole('button', { name: 'Desativar …' }).click();
    await page.getByText('3 entregas aguardam e serão canceladas.').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Manter' }).click();
    await page.getByRole('button', { name: 'Desativar …' }).waitFor();
    expect((await client.get(failing)).enabled).toBe(true);
    await page.close();
  });

  test('request deliveries again when somebody asks for it, not by the clock', async () => {
    const page = await pages.open('Ana (acme)', '/alerts', DESK);
    await page.clock.install();
    const lists: string[] = [];
    page.on('request', (request) => {
      if (/\/webhooks\/deliveries\?/.test(request.url())) lists.push(request.url());
    });
    await page.goto(`${pages.origin}/webhooks/${failing}`);
    const refresh = page.getByRole('button', { name: 'Atualizar' });
    await refresh.waitFor();
    const polled = ['/overview', '/health'].map((path) => page.waitForResponse(RegExp(`${path}$`)));
    await page.clock.runFor(60_000);
    await Promise.all(polled);
    expect(lists).toHaveLength(1);
    await refresh.click();
    await eventually(() => Promise.resolve(lists.length === 2), LONG);
    await page.close();
  });

  test('show markup as text', async () => {
    const page = await pages.open('Ana (acme)', `/webhooks/${failing}?tab=changes`, DESK);
    await page.getByText(MARKUP).waitFor();
    expect(await page.locator('img').count()).toBe(0);
    await page.close();
  });

  test('show nothing of another tenant, whatever its address', async () => {
    const page = await pages.open('Bruno (globex)', `/find?q=${endToEndId}`, DESK);
    await page.getByRole('heading', { name: `Nada encontrado com o id ${endToEndId}` }).waitFor();
    await page.getByRole('button', { name: 'Atualizar' }).waitFor();
    await page.goto(`${pages.origin}/webhooks/${ref}?tenant=acme`);
    await page.getByRole('alert').waitFor();
    expect(await page.content()).not.toContain('/pix');
    await page.close();
  });

  test('let an operator name a tenant, and read', async () => {
    const page = await pages.open('Olga (operator)', '/', DESK);
    await page.getByLabel('Tenant').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByLabel('Tenant').fill('acme');
    await page.getByRole('button', { name: 'Continuar' }).click();
    await sentence(page, /falha desde/);
    expect(new URL(page.url()).search).toBe('?tenant=acme');
    await page.getByRole('link', { name: /erp$/ }).click();
    await sentence(page, /falha desde/);
    expect(await page.getByRole('button', { name: /Desativar|teste/ }).count()).toBe(0);
    await page.close();
  });

  test('end with the sign-out: the way back leads to the issuer', async () => {
    const page = await pages.open('Bruno (globex)', '/', DESK);
    await page.getByRole('button', { name: 'Sair' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Bruno (globex)' }).waitFor();
    await page.close();
  });

  test('say that a sign-in failed, and let it begin again', async () => {
    const page = await pages.open('Ana (acme)', '/', PHONE);
    await page.goto(`${pages.origin}/auth/callback?error=access_denied&state=unknown`);
    await sentence(page, /^Signing in or out did not succeed/);
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await sentence(page, /erp fails since/);
    await page.close();
  });

  test('break the content security policy nowhere', () => {
    expect(pages.complaints).toEqual([]);
  });
});
