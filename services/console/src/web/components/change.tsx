import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { mayChange, queryClient } from '../api.js';
import { useSpeech } from '../language.js';
import { Failure } from './loaded.js';

interface ChangeProps {
  readonly label: string;
  readonly change: () => Promise<unknown>;
  /** What is said after a success; default: nothing, because the page shows it. */
  readonly done?: string;
}

/** A button for a change. Whatever is shown is requested again afterwards; a failure is shown beside it. */
export function Change({ label, change, done }: ChangeProps) {
  const { texts } = useSpeech();
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: change,
    onSuccess: () => queryClient.invalidateQueries(),
  });
  if (!mayChange()) return null;
  return (
    <>
      <button type="button" disabled={isPending} onClick={() => mutate()}>
        {isPending ? texts.working : label}
      </button>
      {isSuccess && done !== undefined && <span role="status">{done}</span>}
      {error && <Failure error={error} onRetry={mutate} />}
    </>
  );
}

interface ConfirmedChangeProps extends ChangeProps {
  /** Requests what the person is told before he confirms. */
  readonly ask: () => Promise<string>;
}

/** A button for a change that takes something away: it first says what. */
export function ConfirmedChange({ label, ask, change }: ConfirmedChangeProps) {
  const { texts } = useSpeech();
  const { data: question, mutate, isPending, error, reset } = useMutation({ mutationFn: ask });
  const [wasAsked, setAsked] = useState(false);
  const confirmed = async (): Promise<void> => {
    await change();
    reset();
  };
  if (!mayChange()) return null;
  if (question === undefined)
    return (
      <>
        <button
          type="button"
          // After the question the focus returns.
          autoFocus={wasAsked}
          disabled={isPending}
          onClick={() => {
            setAsked(true);
            mutate();
          }}
        >
          {isPending ? texts.working : `${label} …`}
        </button>
        {error && <Failure error={error} onRetry={mutate} />}
      </>
    );
  return (
    <span role="group" aria-label={label} className="question">
      {question} <Change label={label} change={confirmed} />
      <button type="button" autoFocus onClick={reset}>
        {texts.keep}
      </button>
    </span>
  );
}
