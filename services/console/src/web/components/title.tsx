import { useSpeech } from '../language.js';

/** The sentence that a page begins with, which names its tab, too. */
export function Title({ children }: { readonly children: string }) {
  const { texts } = useSpeech();
  return (
    <>
      <title>{`${children} · ${texts.product}`}</title>
      <h1>{children}</h1>
    </>
  );
}
