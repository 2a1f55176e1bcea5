import type { EN } from './texts-en.js';

/** The sentences of verdicts in Portuguese, by the names of the English ones. */
export const PT: { readonly [part in keyof typeof EN]: Readonly<Record<keyof (typeof EN)[part], string>> } = {
  verdicts: {
    delivered: '{event}: entregue a {endpoint} em {at}, na tentativa {attempt}.',
    'delivered-late':
      '{event}: entregue com atraso a {endpoint}, em {at}, na tentativa {attempt}. O evento chegou em {receivedAt}. {cause}',
    repeated:
      '{event}: entregue {count} vezes a {endpoint} com o mesmo id, de {at} a {last}: {reason}. O receptor ignora um id que já conhece.',
    refused:
      '{event}: {endpoint} respondeu com o status {error} em {failedAt}. {cause} Próxima tentativa: {next}.',
    unreachable:
      '{event}: sem resposta de {endpoint} em {failedAt} ({error}). {cause} Próxima tentativa: {next}.',
    waiting: '{event}: aguarda a próxima tentativa em {endpoint}: {next}.',
    paused:
      '{event}: aguarda porque {endpoint} falha e está em pausa. {cause} Próxima tentativa neste endpoint: {next}; esta entrega é feita depois do primeiro sucesso.',
    deferred:
      '{event}: a entrega a {endpoint} aguarda por uma falha da plataforma. Próxima tentativa: {next}.',
    ending:
      '{event}: a entrega a {endpoint} aguarda e será cancelada no vencimento: {reason}. Vencimento: {next}.',
    dead: '{event}: entrega a {endpoint} abandonada em {at}: {reason}. {cause}',
    cancelled: '{event}: entrega a {endpoint} cancelada em {at}: {reason}.',
    'disabled-then':
      '{event}: não enviado a {endpoint}. O webhook estava desativado quando o evento chegou, em {receivedAt}.',
    'registered-later':
      '{event}: não enviado a {endpoint}. O webhook foi cadastrado em {createdAt}, e o evento chegou em {receivedAt}.',
    'other-type-then':
      '{event}: não enviado a {endpoint}. O webhook recebia {type} quando o evento chegou, em {receivedAt}.',
    'no-webhook': '{event}: não enviado. Nenhum webhook recebe este tipo. O evento chegou em {receivedAt}.',
    'not-reported': 'O sistema de pagamentos não informou nenhum pagamento com este id.',
    test: '{event}: um teste. Nada foi pago.',
    'log-expired': '{event}: anterior ao log, que já não mostra onde foi entregue.',
  },
  words: {
    event: '{eventType} de {amount}',
    due: 'agora, ou em curso',
    redelivery: 'foi enviado de novo',
    attempt: 'o evento ou uma tentativa foi repetida',
    unsigned: 'O webhook não tem segredo, e nada é assinado: crie um (webhooks rotate-secret).',
    'attempts-exhausted': 'todas as tentativas falharam',
    expired: 'o prazo acabou',
    'configuration-unknown': 'a plataforma não conhecia o webhook',
    'not-handled': 'a plataforma não conseguiu processá-la',
    disabled: 'o webhook foi desativado',
    'event-type-changed': 'o webhook passou a outro tipo de evento',
    'application-changed': 'o webhook passou a outra aplicação',
  },
};
