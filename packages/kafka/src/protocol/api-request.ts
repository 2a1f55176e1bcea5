/** A request of Kafka's protocol with its response, in the form that kafkajs' connections send. */
export interface ApiRequest<Response> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
  };
  readonly response: {
    readonly decode: (payload: Buffer) => Promise<Response>;
    readonly parse: (response: Response) => Promise<Response>;
  };
  readonly logResponseError: boolean;
}
