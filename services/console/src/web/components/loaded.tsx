import type { UseQueryResult } from '@tanstack/react-query';
import { ConnectionError, ProblemError } from '@webhooks/client';
import { Component, useEffect, useState, type ReactNode } from 'react';
import { isSignedOut } from '../api.js';
import { useSpeech } from '../language.js';
import { Facts } from './facts.js';

/** Holds the place of what is being loaded. */
export function Skeleton() {
  const { texts } = useSpeech();
  return (
    <div className="skeleton" role="status">
      {texts.loading}
    </div>
  );
}

/** What a failure means for the reader: the detail is the service's, in English. */
function meaningOf(error: Error): 'forbidden' | 'limited' | 'outOfReach' | undefined {
  if (error instanceof ConnectionError) return 'outOfReach';
  const status = error instanceof ProblemError ? error.status : 0;
  if (status === 403) return 'forbidden';
  if (status === 429) return 'limited';
  return status < 500 ? undefined : 'outOfReach';
}

interface FailureProps {
  readonly error: Error;
  readonly onRetry: () => unknown;
}

/** Shows a failure: what the service says, the id that its log has, and a button. */
export function Failure({ error, onRetry }: FailureProps) {
  const { texts } = useSpeech();
  const problem = error instanceof ProblemError ? error.problem : undefined;
  const meaning = meaningOf(error);
  return (
    <div role="alert" className="failure">
      {meaning && <p>{texts[meaning]}</p>}
      <p>{problem?.detail ?? error.message}</p>
      <Facts facts={[[texts.requestId, problem?.correlationId]]} />
      <button type="button" onClick={() => onRetry()}>
        {texts.retry}
      </button>
    </div>
  );
}

/** Shows a fault of a page instead of an empty one, such as a part that a new version no longer has. */
export class Boundary extends Component<{ readonly children: ReactNode }, { readonly error?: Error }> {
  override readonly state: { readonly error?: Error } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    return error ? <Failure error={error} onRetry={() => location.reload()} /> : this.props.children;
  }
}

/** How often times such as `in 12 seconds` are written anew, also while a request hangs, milliseconds. */
const TICK_MS = 5_000;

interface AgeProps {
  /** Unix milliseconds; 0 while other data is loaded in place of what is shown. */
  readonly of: number;
  readonly onRefresh: (() => unknown) | undefined;
}

/** How old the shown data is, and a button where it is not requested again by itself. */
function Age({ of, onRefresh }: AgeProps) {
  const { texts, say, relative } = useSpeech();
  return (
    <p className="stale">
      {of === 0 ? texts.loading : say('staleSince', { age: relative(new Date(of).toISOString()) })}{' '}
      {onRefresh && (
        <button type="button" onClick={() => onRefresh()}>
          {texts.refresh}
        </button>
      )}
    </p>
  );
}

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  /** Whether the data is requested again by itself; default true. Otherwise a button does. */
  readonly isPolled?: boolean;
  readonly children: (data: T) => ReactNode;
}

/** Shows data with its age. While a request hangs, and after a failure, the old data stays. Whoever is signed out is on the way to the issuer. */
export function Loaded<T>({ query, isPolled = true, children }: LoadedProps<T>) {
  const { data, dataUpdatedAt, refetch } = query;
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const error = isSignedOut(query.error) ? null : query.error;
  const failure = error && <Failure error={error} onRetry={refetch} />;
  if (data === undefined) return failure ?? <Skeleton />;
  return (
    <>
      {failure}
      <Age of={dataUpdatedAt} onRefresh={isPolled ? undefined : refetch} />
      {children(data)}
    </>
  );
}
