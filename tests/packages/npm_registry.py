"""A registry for npm on loopback, with the packages of a folder: what `npm install -g forage-mcp` asks a real one for."""

import base64
import hashlib
import http.server
import json
import pathlib
import tarfile
import threading
import urllib.parse


class Registry:
    def __init__(self, *folders):
        self.files = {path.name: path for folder in folders for path in pathlib.Path(folder).glob("*.tgz")}
        self.asked = []  # the paths, in their order
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                registry.answer(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def versions(self, name):
        """The manifests of all versions of a package, as a registry tells them."""
        found = {}
        for file, path in sorted(self.files.items()):
            with tarfile.open(path) as archive:
                manifest = json.load(archive.extractfile("package/package.json"))
            if manifest["name"] == name:
                digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
                manifest["dist"] = {"tarball": f"{self.url}/-/{file}", "integrity": f"sha512-{digest}"}
                scripts = manifest.get("scripts", {})
                manifest["hasInstallScript"] = "postinstall" in scripts
                found[manifest["version"]] = manifest
        return found

    def answer(self, request):
        path = urllib.parse.unquote(request.path).lstrip("/")
        self.asked.append(path)
        if path.startswith("-/") and path[2:] in self.files:
            self.send(request, "application/octet-stream", self.files[path[2:]].read_bytes())
            return
        versions = self.versions(path)
        if not versions:
            self.send(request, "application/json", b'{"error": "Not found"}', 404)
            return
        latest = max(versions, key=lambda version: [int(part) for part in version.split(".")])
        document = {"name": path, "dist-tags": {"latest": latest}, "versions": versions}
        self.send(request, "application/json", json.dumps(document).encode())

    @staticmethod
    def send(request, kind, body, status=200):
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
