import { useState } from 'react';
import { useSpeech } from '../language.js';

/** A button that copies a text. */
export function Copy({ text }: { readonly text: string }) {
  const { texts } = useSpeech();
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <button type="button" onClick={copy}>
      {isCopied ? texts.copied : texts.copy}
    </button>
  );
}

/** The command that shows the same on a terminal. */
export function Command({ line }: { readonly line: string }) {
  const { texts } = useSpeech();
  return (
    <p className="command">
      {texts.terminal}: <code>{line}</code> <Copy text={line} />
    </p>
  );
}
