import { useRef, type SubmitEvent } from 'react';
import { Title } from './title.js';
import { useSpeech } from '../language.js';

/** Lets an operator name the tenant that he acts for. It stands in the address, so that a link names it too. */
export function TenantForm() {
  const { texts } = useSpeech();
  const box = useRef<HTMLInputElement>(null);
  const act = (event: SubmitEvent): void => {
    event.preventDefault();
    const tenant = box.current?.value.trim() ?? '';
    if (tenant === '') return;
    const query = new URLSearchParams(location.search);
    query.set('tenant', tenant);
    location.search = String(query);
  };
  return (
    <form onSubmit={act}>
      <Title>{texts.tenantPrompt}</Title>
      <input
        ref={box}
        name="tenant"
        maxLength={128}
        pattern="[\w.:@\-]+"
        required
        autoFocus
        aria-label={texts.tenant}
      />
      <button type="submit">{texts.actFor}</button>
    </form>
  );
}
