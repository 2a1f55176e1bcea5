const CHAIN =
  'A cadeia está incompleta ou não é de uma AC pública: sirva todos os certificados intermediários.';
const REFUSED =
  'O seu servidor recusou o nosso certificado de cliente: veja o log dele e confie na nossa AC.';
const VERIFY =
  'O endpoint recusou a notificação: confira o segredo e se ele verifica o corpo sem alterações.';
const PATH = 'Nada aceita POST neste caminho: confira a URL do webhook.';

/** The sentences of `FAILURE_CAUSES` in Portuguese, by the same keys. */
export const FAILURE_CAUSES_PT: ReadonlyMap<string, string> = new Map([
  [
    'DNS',
    'O nome do host não tem endereço, ou o servidor de nomes não responde: confira o nome e os registros.',
  ],
  ['CONNECT', 'O servidor não é alcançado: confira a porta, o firewall e as rotas.'],
  ['ECONNREFUSED', 'Nada escuta nesta porta, ou um firewall nos recusa: inicie o servidor, libere o acesso.'],
  ['ECONNRESET', 'O servidor ou um firewall fechou a conexão antes da resposta: veja os logs.'],
  ['CONNECT_TIMEOUT', 'Não houve conexão ou handshake a tempo: confira o firewall e a fila de conexões.'],
  ['TLS', 'O handshake TLS falhou: confira o certificado, a cadeia e se TLS 1.2 ou 1.3 está ativo.'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'A resposta não é TLS: sirva HTTPS nesta porta.'],
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'O servidor não fala HTTP/1.1: ative-o ao lado do HTTP/2.'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'O certificado é autoassinado: use um de uma AC pública.'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'O certificado não é de uma AC pública: use um de uma AC pública.'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', CHAIN],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', CHAIN],
  ['CERT_HAS_EXPIRED', 'O certificado venceu: renove-o e faça o servidor carregar o novo.'],
  ['CERT_NOT_YET_VALID', 'O certificado ainda não é válido: confira o relógio de quem o emitiu.'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'O certificado é de outros hosts: use um para este nome de host.'],
  ['TLS_CLIENT_CERTIFICATE_REQUIRED', 'O seu servidor exige um certificado de cliente: combine um conosco.'],
  ['TLS_CLIENT_UNKNOWN_CA', 'O nosso certificado é de uma AC que o seu servidor não conhece: confie nela.'],
  ['TLS_CLIENT_CERTIFICATE_EXPIRED', 'O certificado de cliente venceu: renove-o ou confira o seu relógio.'],
  ['TLS_CLIENT_BAD_CERTIFICATE', REFUSED],
  ['TLS_CLIENT_CERTIFICATE_UNKNOWN', REFUSED],
  ['TLS_CLIENT_CERTIFICATE_REVOKED', REFUSED],
  ['TLS_CLIENT_UNSUPPORTED_CERTIFICATE', REFUSED],
  ['SOCKET', 'A conexão caiu antes da resposta: procure quedas e limites de inatividade de proxies.'],
  ['TIMEOUT', 'Não houve resposta a tempo: grave o evento, responda 2xx e só depois faça o trabalho.'],
  ['PROTOCOL', 'A resposta não é HTTP/1.1: confira qual servidor escuta nesta porta.'],
  ['HEADERS_TOO_LONG', 'Os cabeçalhos da resposta passam de 16 KiB: envie menos.'],
  [
    'TLS_FLOOD',
    'O servidor enviou tickets, trocas de chave ou registros TLS minúsculos sem fim: envie inteiros.',
  ],
  ['ADDRESS_DENIED', 'O nome leva a um endereço privado ou proibido: use um endereço público.'],
  ['3xx', 'Redirecionamentos nunca são seguidos: cadastre a URL final.'],
  ['400', `${VERIFY} O nginx também envia 400 sem um certificado de cliente em que confie.`],
  ['401', VERIFY],
  ['403', `${VERIFY} Um firewall também pode enviar 403.`],
  ['404', PATH],
  ['405', PATH],
  ['410', PATH],
  ['413', 'O endpoint não aceita um corpo deste tamanho: aumente o limite dele.'],
  ['429', 'O endpoint tem requisições demais: envie Retry-After com o tempo de espera, ou aumente o limite.'],
  ['4xx', 'O endpoint recusou a notificação: veja o log dele.'],
  ['5xx', 'O endpoint, ou um proxy na frente dele, falhou: veja o log no horário da tentativa.'],
]);
