import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { getSession, isSignedOut, once, queryClient, tenantOf } from './api.js';
import { Frame } from './components/frame.js';
import { Boundary, Failure, Skeleton } from './components/loaded.js';
import { TenantForm } from './components/tenant-form.js';
import { Title } from './components/title.js';
import { keepLanguage, preferredLanguage, speak, SpeechContext, useSpeech } from './language.js';
import { OverviewPage } from './pages/overview-page.js';

const FindPage = lazy(() => import('./pages/find-page.js'));
const WebhookPage = lazy(() => import('./pages/webhook-page.js'));
const DeliveriesPage = lazy(() => import('./pages/deliveries-page.js'));
const DeliveryPage = lazy(() => import('./pages/delivery-page.js'));
const RedeliveriesPage = lazy(() => import('./pages/redeliveries-page.js'));
const StatementsPage = lazy(() => import('./pages/statements-page.js'));
const AlertsPage = lazy(() => import('./pages/alerts-page.js'));

function Pages() {
  const { texts } = useSpeech();
  return (
    <Suspense fallback={<Skeleton />}>
      <Switch>
        <Route path="/" component={OverviewPage} />
        <Route path="/find" component={FindPage} />
        <Route path="/webhooks/:ref">{({ ref }) => <WebhookPage key={ref} webhookRef={ref} />}</Route>
        <Route path="/deliveries" component={DeliveriesPage} />
        <Route path="/deliveries/:id">{({ id }) => <DeliveryPage key={id} id={id} />}</Route>
        <Route path="/redeliveries" component={RedeliveriesPage} />
        <Route path="/statements" component={StatementsPage} />
        <Route path="/alerts" component={AlertsPage} />
        <Route>
          <Title>{texts.notFoundPage}</Title>
        </Route>
      </Switch>
    </Suspense>
  );
}

/** Shows the pages to a person who is signed in; an operator names the tenant first. */
function SignedIn({ onOtherLanguage }: { readonly onOtherLanguage: () => void }) {
  const [here] = useLocation();
  const { data: session, error, refetch } = useQuery({ queryKey: ['session'], queryFn: getSession, ...once });
  if (session === undefined)
    return error && !isSignedOut(error) ? <Failure error={error} onRetry={refetch} /> : <Skeleton />;
  return (
    <Frame session={session} onOtherLanguage={onOtherLanguage}>
      <Boundary key={here}>{session.isOperator && tenantOf() === '' ? <TenantForm /> : <Pages />}</Boundary>
    </Frame>
  );
}

/** What a sign-in that failed ends with, and a sign-out at some issuers: the server serves the pages at these addresses, too. */
function NotSignedIn() {
  const { texts } = useSpeech();
  return (
    <main>
      <Title>{texts[location.pathname === '/auth/signed-out' ? 'signedOut' : 'notSignedIn']}</Title>
      <a href="/auth/sign-in">{texts.signIn}</a>
    </main>
  );
}

export function App() {
  const [language, setLanguage] = useState(preferredLanguage);
  const speech = useMemo(() => speak(language), [language]);
  useEffect(() => {
    document.documentElement.lang = speech.locale;
  }, [speech]);
  const change = (): void => {
    const other = language === 'pt' ? 'en' : 'pt';
    keepLanguage(other);
    setLanguage(other);
  };
  return (
    <QueryClientProvider client={queryClient}>
      <SpeechContext value={speech}>
        {location.pathname.startsWith('/auth/') ? <NotSignedIn /> : <SignedIn onOtherLanguage={change} />}
      </SpeechContext>
    </QueryClientProvider>
  );
}
