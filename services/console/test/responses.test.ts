import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startConsole } from './support/start-console.js';
import { launch, looked } from './support/start-pages.js';

looked('a page', () => {
  let running: Awaited<ReturnType<typeof startConsole>>;
  let browser: Browser;
  let context: BrowserContext;

  beforeAll(async () => {
    running = await startConsole();
    browser = await launch();
    context = await browser.newContext({ locale: 'pt-BR' });
    const page = await context.newPage();
    await page.goto(running.origin);
    await page.getByRole('link', { name: /Ana/ }).click();
    await page.waitForURL(`${running.origin}/`);
    await page.close();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await running.stop();
  });

  /** Opens a page whose calls get these bodies in place of a service's; undefined becomes a 503. */
  async function open(path: string, respond: (call: URL) => object | undefined): Promise<Page> {
    const page = await context.newPage();
    await page.route('**/integration/v1/**', async (route) => {
      const json = respond(new URL(route.request().url()));
      await route.fulfill(json === undefined ? { status: 503, body: '' } : { json });
    });
    await page.goto(`${running.origin}${path}`);
    return page;
  }
  const sentence = (page: Page, says: RegExp) =>
    page.getByRole('heading', { level: 1 }).filter({ hasText: says }).waitFor();

  const DAY = { date: '2026-01-31', open: false, balanced: true, webhooks: [], unmatched: [] };

  test('of statements says what a day without webhooks was, and that the next cannot be read', async () => {
    const unmatched = [{ eventType: 'PIX_OUT', events: 3, amount: '9.00' }];
    const page = await open('/statements?month=2026-01', ({ pathname }) =>
      pathname.endsWith('-31') ? { ...DAY, unmatched } : undefined,
    );
    await page.getByText(/^31 de jan\. de 2026\. O dia fecha\. Mais 3 eventos/).waitFor();
    await page.getByRole('alert').waitFor();
    await sentence(page, /^Extratos$/);
    await page.close();
  });

  test('of statements shows a difference of amounts alone', async () => {
    const nothing = { events: 0, amount: '0.00' };
    const names = ['events', 'delivered', 'dead', 'cancelled', 'waiting', 'missed'];
    const sums = Object.fromEntries(names.map((name) => [name, nothing] as const));
    const difference = { events: 0, amount: '-5.00' };
    const webhook = {
      ref: '1',
      endpointUrl: 'https://loja.com.br/',
      ...sums,
      difference,
    };
    const page = await open('/statements?month=2026-01', () => ({
      ...DAY,
      balanced: false,
      webhooks: [webhook],
    }));
    await page.locator('summary').first().click();
    await page
      .getByRole('cell', { name: /^0 · -R\$.5,00$/ })
      .first()
      .waitFor();
    await page.close();
  });

  test('of redeliveries lists one that runs behind a page of newer ones', async () => {
    const [createdAt, updatedAt] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:10Z'];
    const made = {
      createdAt,
      updatedAt,
      filter: { status: 'dead', from: createdAt },
      startedBy: { client: 'shop' },
    };
    const counts = { matched: 2, matchedIsLowerBound: false, sent: 1, refused: 0, expired: 0 };
    const jobs = Array.from({ length: 51 }, (_, index) => ({
      ...{ ...made, ...counts, id: String(index) },
      state: index === 50 ? 'running' : 'completed',
    }));
    const page = await open('/redeliveries', ({ searchParams }) => {
      const data = jobs.slice(0, Number(searchParams.get('limit') ?? 50));
      return { results: data.length, data };
    });
    await sentence(page, /^1 reenvio em andamento/);
    await page.close();
  });

  test('requests nothing by itself after half an hour, and again at the first key', async () => {
    const page = await open('/', () => ({ results: 0, data: [], series: [] }));
    await page.clock.install();
    await page.reload();
    await sentence(page, /^Nenhum webhook/);
    await page.clock.fastForward('31:00');
    await page.getByText('Atualizado agora').waitFor();
    await page.clock.fastForward('02:00');
    await page.getByText('Atualizado há 2 minutos').waitFor();
    await page.keyboard.press('Shift');
    await page.getByText(/Atualizado (agora|há \d+ segundos?)/).waitFor();
    await page.close();
  });
});
