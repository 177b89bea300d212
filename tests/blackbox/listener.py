"""A server on loopback for a test that speaks its own protocol: a thread for each client."""

import socket
import threading


class Listener:
    """A context manager. Whoever inherits it says in serve(client) what a client gets."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def serve_and_close(self, client):
        with client:
            try:
                self.serve(client)
            except OSError:
                pass  # it has left, which is what it should do

    def accept(self):
        try:
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.serve_and_close, args=(client,), daemon=True).start()
        except OSError:
            pass

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
