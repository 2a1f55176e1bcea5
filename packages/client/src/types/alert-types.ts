import type { Page, Webhook } from './webhook-types.js';

interface AlertSettings {
  /** `text`: `{"text": "…"}`, as Slack, Google Chat and Mattermost read it. */
  readonly format: 'event' | 'text';
  /** Of the format `text`. */
  readonly language: 'pt-BR' | 'en';
}

/** The default format is `event`, the default language `pt-BR`. */
export interface AlertEndpointInput extends Partial<AlertSettings> {
  readonly endpointUrl: string;
  readonly ref?: string;
}

/** An endpoint that receives alerts about the tenant's webhooks, as a list shows it. */
export type ListedAlertEndpoint = AlertSettings &
  Pick<Webhook, 'ref' | 'endpointUrl' | 'hasSecret' | 'secretRotatedAt' | 'createdAt' | 'updatedAt'>;

export interface AlertEndpoint extends ListedAlertEndpoint {
  /** False when it is durable but not yet in force. */
  readonly published?: false;
}

export type AlertEndpointList = Omit<Page<ListedAlertEndpoint>, 'nextCursor'>;
