"""verify → store the id durably, refusing repeats → 2xx → ask for the real state → act. Python alone: no package is needed."""

import base64, hashlib, hmac, http.server, json, os, sqlite3, ssl, threading, time, urllib.error, urllib.parse, urllib.request

ENV = os.environ
KEYS = [base64.b64decode(secret.removeprefix("whsec_"), validate=True) for secret in ENV["WEBHOOK_SECRET"].split()]
if not all(KEYS or [b""]):  # Anybody can sign with an empty key.
    raise SystemExit("WEBHOOK_SECRET: secrets as rotateSecret gives them, with spaces between")
arrived = threading.Event()

def fault_in(headers, body):
    """Why a notification is refused; None for a good one."""
    sent = headers.get("webhook-timestamp", "")
    if not headers.get("webhook-signature"):
        return "not signed: has the webhook a signing secret?"
    if not (sent.isdecimal() and len(sent) < 12 and abs(time.time() - int(sent)) <= 300):
        return "not of these five minutes: is the clock right?"
    signed = f"{headers.get('webhook-id')}.{sent}.".encode() + body
    wanted = [b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in KEYS]
    given = headers.get("webhook-signature", "").encode().split(b" ")
    is_signed = any(hmac.compare_digest(one, other) for one in given for other in wanted)
    return None if is_signed else "signed with another secret, or the body is not as it was sent"

def inbox(statement, *values):
    with sqlite3.connect(ENV["INBOX"]) as database:
        cursor = database.execute(statement, values)
        return cursor.fetchall() if cursor.description else cursor.rowcount

class Receiver(http.server.BaseHTTPRequestHandler):
    timeout = 10
    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not (length.isdecimal() and len(length) < 6 and int(length) <= 65_536):
            return self.send_error(413)
        body = self.rfile.read(int(length))
        fault = fault_in(self.headers, body)
        if fault:
            return self.send_error(401, fault)
        notification = json.loads(body)
        values = notification["id"], notification["data"].get("endToEndId")
        if values[0].startswith("evt_test_"):  # A test: no payment is behind it.
            print("test", values[0], flush=True)
        elif not values[1]:  # A type that is newer than this program.
            print("ignored", values[0], flush=True)
        else:
            is_new = inbox("INSERT OR IGNORE INTO inbox (id, payment) VALUES (?, ?)", *values) == 1
            print("stored" if is_new else "repeated", values[0], flush=True)
        self.send_response(204)
        self.end_headers()
        arrived.set()

def real_state(payment):
    basic = base64.b64encode(f"{ENV['CLIENT_ID']}:{ENV['CLIENT_SECRET']}".encode()).decode()
    get = lambda *request: json.load(urllib.request.urlopen(urllib.request.Request(*request), timeout=10))
    token = get(ENV["TOKEN_ENDPOINT"], b"grant_type=client_credentials", {"authorization": f"Basic {basic}"})
    base = ENV.get("WEBHOOKS_QUERY_URL") or ENV["WEBHOOKS_URL"]
    url = f"{base}/integration/v1/pix/transaction?endToEndId={urllib.parse.quote(payment)}"
    return get(url, None, {"authorization": f"Bearer {token['access_token']}"})

def act(id, payment):
    try:
        state = real_state(payment)
        print(f"acted {id}: {state.get('amount', '?')}, reversals: {len(state['reversals'])}", flush=True)
        inbox("UPDATE inbox SET done = 1 WHERE id = ?", id)
    except urllib.error.HTTPError as error:
        print(id, error.url, error, error.read(1_000).decode(), flush=True)
    except Exception as error:  # The next payment does not wait for this one.
        print(id, error, flush=True)

def work():  # After a crash what is stored and not done is done again: acting twice for one id must do no harm.
    while True:
        try:
            for id, payment in inbox("SELECT id, payment FROM inbox WHERE done = 0 ORDER BY rowid"):
                act(id, payment)
        except Exception as error:
            print(error, flush=True)
        arrived.wait(5)
        arrived.clear()

inbox("CREATE TABLE IF NOT EXISTS inbox (id TEXT PRIMARY KEY, payment TEXT, done INTEGER DEFAULT 0)")
threading.Thread(target=work, daemon=True).start()
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(ENV["PORT"])), Receiver)
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(ENV["CERT_FILE"], ENV["KEY_FILE"])
server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
