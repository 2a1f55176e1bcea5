"""An HTTPS receiver with nothing but Python's standard library. usage: receive.py CERT KEY FILE; prints its port."""
import base64
import http.server
import json
import ssl
import sys

cert, key, file = sys.argv[1:4]
out = open(file, "a", buffering=1)


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        line = {"path": self.path, "headers": self.headers.items(), "body": base64.b64encode(body).decode()}
        out.write(json.dumps(line) + "\n")
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
