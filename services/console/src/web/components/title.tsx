/** The sentence that a page begins with, which names its tab, too. */
export function Title({ children }: { readonly children: string }) {
  return (
    <>
      <title>{`${children} · Webhooks`}</title>
      <h1>{children}</h1>
    </>
  );
}
