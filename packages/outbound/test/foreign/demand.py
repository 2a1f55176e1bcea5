"""A receiver with nothing of ours that demands a client certificate. usage: CERT KEY CA VERSION; prints its port."""
import socket
import ssl
import sys
import threading

cert, key, authority, version = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
context.load_verify_locations(authority)
context.verify_mode = ssl.CERT_REQUIRED
context.minimum_version = context.maximum_version = ssl.TLSVersion[version.replace(".", "_")]


def answer(connection):
    try:
        with context.wrap_socket(connection, server_side=True) as secured:
            while secured.recv(65536):
                secured.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    except OSError:
        connection.close()


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
