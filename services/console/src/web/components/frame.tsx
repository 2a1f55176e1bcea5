import { useEffect, useRef, type ReactNode, type SubmitEvent } from 'react';
import { Link, useLocation } from 'wouter';
import { signOut, tenantOf, type Session } from '../api.js';
import { useSpeech } from '../language.js';
import { Facts } from './facts.js';

/** Returns the address of a page. It keeps the tenant that an operator acts for. */
export function pageOf(path: string, query: Readonly<Record<string, string>> = {}): string {
  const parameters = new URLSearchParams({ ...(tenantOf() !== '' && { tenant: tenantOf() }), ...query });
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

/** Whether a key that is pressed there is text. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement;

/** Calls `act` when this key is pressed without Ctrl or Meta, unless somebody types. */
export function useKey(key: string, act: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== key || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [key, act]);
}

function SearchBox() {
  const { texts } = useSpeech();
  const [, navigate] = useLocation();
  const box = useRef<HTMLInputElement>(null);
  useKey('/', () => {
    box.current?.focus();
    box.current?.select();
  });
  const find = (event: SubmitEvent): void => {
    event.preventDefault();
    const typed = box.current?.value.trim() ?? '';
    if (typed !== '') navigate(pageOf('/find', { q: typed }));
  };
  return (
    <form role="search" onSubmit={find}>
      <input
        ref={box}
        type="search"
        name="q"
        maxLength={500}
        autoComplete="off"
        spellCheck={false}
        aria-label={texts.search}
        placeholder={texts.search}
      />
      <button type="submit">{texts.find}</button>
    </form>
  );
}

/** The keys, in a dialog: Esc closes it, and the focus returns. */
function Keys() {
  const { texts } = useSpeech();
  const dialog = useRef<HTMLDialogElement>(null);
  const open = (): void => dialog.current?.showModal();
  useKey('?', open);
  return (
    <>
      <button type="button" className="keys" onClick={open} aria-label={texts.keysTitle}>
        ?
      </button>
      <dialog ref={dialog} aria-label={texts.keysTitle}>
        <h2>{texts.keysTitle}</h2>
        <Facts
          facts={[
            ['/', texts.keySearch],
            ['j, k', texts.keyMove],
            ['Enter', texts.keyOpen],
            ['?', texts.keysTitle],
            ['Esc', texts.keyClose],
          ]}
        />
        <button type="button" autoFocus onClick={() => dialog.current?.close()}>
          {texts.keyClose}
        </button>
      </dialog>
    </>
  );
}

const PAGES = [
  ['/', 'overview'],
  ['/deliveries', 'deliveries'],
  ['/redeliveries', 'redeliveries'],
  ['/statements', 'statements'],
  ['/alerts', 'alerts'],
] as const;

interface FrameProps {
  readonly session: Session;
  readonly onOtherLanguage: () => void;
  readonly children: ReactNode;
}

/** What every page has: the way home, the search box, the language and the sign-out. */
export function Frame({ session, onOtherLanguage, children }: FrameProps) {
  const { texts } = useSpeech();
  const { personId, tenantId, isOperator } = session;
  const [here] = useLocation();
  return (
    <>
      <header>
        <nav>
          {PAGES.map(([path, name]) => (
            <Link key={path} href={pageOf(path)} aria-current={path === here ? 'page' : undefined}>
              {texts[name]}
            </Link>
          ))}
        </nav>
        <SearchBox />
        <span className="who">
          {personId} · {tenantId}
          {isOperator && tenantOf() !== '' && <a href="/">{tenantOf()}</a>}
        </span>
        <Keys />
        <button type="button" onClick={onOtherLanguage}>
          {texts.otherLanguage}
        </button>
        <button type="button" onClick={signOut}>
          {texts.signOut}
        </button>
      </header>
      <main>{children}</main>
    </>
  );
}
