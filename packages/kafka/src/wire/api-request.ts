/** A request of an API of Kafka's protocol with its response, in the form that kafkajs' connections send. */
export function apiRequest<Response>(
  api: { readonly apiKey: number; readonly apiVersion: number; readonly apiName: string },
  encode: () => Buffer,
  decode: (payload: Buffer) => Response,
) {
  return {
    request: {
      ...api,
      encode: () => {
        const buffer = encode();
        return Promise.resolve({ buf: buffer, buffer });
      },
    },
    response: {
      decode: (payload: Buffer) => Promise.resolve(decode(payload)),
      parse: (response: Response) => Promise.resolve(response),
    },
    logResponseError: false,
  };
}
