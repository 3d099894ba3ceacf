#!/usr/bin/env python3
"""A Hub on the loopback interface, with faults on request. Nothing but Python's standard library.

usage: server.py [--folder DIR] [--cdn] [--tls PEM]

Writes `PORT CDN_PORT` on its first line and ends when its standard input does. DIR/org/name/… are the files of repositories:

  GET /api/models/org/name/revision/REV      the list of files: sha, siblings
  GET, HEAD /org/name/resolve/REV/FILE       a file, with ETag, ranges and gzip; with --cdn redirected to a signed address
                                             on CDN_PORT
  GET /_log, /_clear, /_set?KEY=VALUE        requests so far as JSON; forget them; a fault:
      token=T        who does not send it gets 401         hub_status=N   every answer of the Hub's paths is N, with
      error_code=X   as X-Error-Code with faults           retry_after=N  as Retry-After with faults
      times=N        faults N times only                   expire=1       addresses of the CDN handed out so far get 403
      listing=TEXT   in place of the list of files         sha=TEXT       the commit it names; empty: none
  GET /do/…                                  single answers, see `Handler.do_*`
"""
import argparse
import email.utils
import gzip
import hashlib
import http.server
import json
import pathlib
import socketserver
import sys
import threading
import time
import urllib.parse

SHA = "0123456789abcdef0123456789abcdef01234567"
lock = threading.Lock()
log = []
settings = {}
counts = {}
generation = 0
stopped = threading.Event()
options = None
ports = [0, 0]


def pattern(size):
    """Bytes whose every place is recognisable: byte i is i * 7 + i // 256, modulo 256."""
    return bytes((i * 7 + (i >> 8)) & 255 for i in range(size))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        parsed = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(parsed.query, keep_blank_values=True))
        path = urllib.parse.unquote(parsed.path)
        if path.startswith("/_"):
            return self.control(path)
        with lock:
            log.append({"method": self.command, "path": self.path, "cdn": self.server.is_cdn,
                        **{k.lower(): v for k, v in self.headers.items()}})
        if path.startswith("/do/"):
            parts = path.split("/")
            return getattr(self, "answer_" + parts[2].replace("-", "_"))(*parts[3:])
        if self.server.is_cdn:
            return self.cdn(path)
        return self.hub(parsed.path)

    # The Hub

    def control(self, path):
        global generation
        with lock:
            if path == "/_log":
                body = json.dumps(log).encode()
            elif path == "/_clear":
                log.clear()
                counts.clear()
                body = b"{}"
            else:
                settings.update(self.query)
                generation += int(self.query.get("expire", 0))
                body = b"{}"
        self.send(200, body)

    def fault(self, status):
        headers = {}
        if settings.get("error_code"):
            headers["X-Error-Code"] = settings["error_code"]
        if settings.get("retry_after"):
            headers["Retry-After"] = settings["retry_after"]
        self.send(status, b"<html>a fault</html>", headers)

    def spent(self, name, times):
        """Whether `name` has been answered `times` times already."""
        with lock:
            counts[name] = counts.get(name, 0) + 1
            return counts[name] > times

    def hub(self, path):
        if settings.get("hub_status") and not self.spent("hub", int(settings.get("times") or 1000000)):
            return self.fault(int(settings["hub_status"]))
        if settings.get("token") and self.headers.get("Authorization") != "Bearer " + settings["token"]:
            return self.fault(401)
        parts = [urllib.parse.unquote(p) for p in path.strip("/").split("/")]
        if parts[:2] == ["api", "models"] and len(parts) in (5, 6) and parts[-2] == "revision":
            return self.listing("/".join(parts[2:-2]), parts[-1])
        for words in (1, 2):  # a name alone, as the oldest models have it, or org/name
            if len(parts) >= words + 3 and parts[words] == "resolve":
                return self.resolve("/".join(parts[:words]), parts[words + 1], "/".join(parts[words + 2:]))
        return self.send(404, b"no such page")

    def listing(self, repository, revision):
        root = pathlib.Path(options.folder or "/nonexistent") / repository
        sha = settings.get("sha", SHA)
        if not root.is_dir():
            return self.send(401, b"{}", {"X-Error-Message": "Invalid username or password."})
        if revision not in ("main", sha):
            return self.send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        files = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
        answer = {"id": repository, "siblings": [{"rfilename": f} for f in files]}
        if sha:
            answer["sha"] = sha
        body = settings.get("listing", json.dumps(answer)).encode()
        self.send_file(body, "application/json")

    def resolve(self, repository, revision, file):
        path = (pathlib.Path(options.folder) / repository / file).resolve()
        root = pathlib.Path(options.folder).resolve()
        if root not in path.parents or not path.is_file():
            return self.send(404, b"", {"X-Error-Code": "EntryNotFound"})
        if not options.cdn or path.suffix == ".json":
            return self.send_file(path.read_bytes(), "application/octet-stream")
        where = f"http://127.0.0.1:{ports[1]}/{repository}/{file}?signature=secret{generation}"
        return self.send(302, b"", {"Location": where, "X-Linked-Size": str(path.stat().st_size)})

    def cdn(self, path):
        if self.query.get("signature") != f"secret{generation}":
            return self.send(403, b"<Error>expired</Error>")
        return self.send_file((pathlib.Path(options.folder) / path.strip("/")).read_bytes(), "application/octet-stream")

    def send(self, status, body, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status not in (204, 304):
            self.wfile.write(body)

    def send_file(self, body, kind):
        etag = '"' + hashlib.sha256(body).hexdigest()[:32] + '"'
        headers = {"ETag": etag, "Content-Type": kind, "Accept-Ranges": "bytes"}
        if self.headers.get("If-None-Match") == etag:
            return self.send(304, b"", headers)
        asked = self.headers.get("Range")
        if asked:
            first, last = asked.removeprefix("bytes=").split("-")
            first, last = int(first), min(int(last) if last else len(body) - 1, len(body) - 1)
            if first > last:
                return self.send(416, b"", {"Content-Range": f"bytes */{len(body)}"})
            headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
            return self.send(206, body[first:last + 1], headers)
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body)
        return self.send(200, body, headers)

    # Single answers

    def answer_text(self):
        self.send_file(b"a text\n" * 100, "text/plain")

    def answer_bytes(self, size):
        self.send_file(pattern(int(size)), "application/octet-stream")

    def answer_echo(self):
        self.send(200, json.dumps({k.lower(): v for k, v in self.headers.items()}).encode())

    def answer_redirect(self):
        self.send(int(self.query.get("status", 302)), b"elsewhere", {"Location": self.query["to"]})

    def answer_loop(self):
        self.send(302, b"", {"Location": "/do/loop"})

    def answer_status(self, status):
        times = int(self.query.get("times", 1000000))
        if self.spent(self.path, times):
            return self.send(200, b"at last")
        names = {"retry_after": "Retry-After", "rate_limit": "RateLimit"}
        headers = {names[k]: v for k, v in self.query.items() if k in names}
        if self.query.get("retry_date"):
            headers["Retry-After"] = email.utils.formatdate(time.time() + int(self.query["retry_date"]), usegmt=True)
        return self.send(int(status), b"busy", headers)

    def raw(self, text, body=b""):
        self.wfile.write(text.replace("\n", "\r\n").encode("latin-1") + body)
        self.wfile.flush()
        self.close_connection = True

    def answer_truncated(self):
        if self.spent(self.path, int(self.query.get("times", 1000000))):
            return self.send(200, b"at last")
        return self.raw("HTTP/1.1 200 OK\nContent-Length: 100\n\n", b"only this")

    def answer_truncated_chunks(self):
        self.raw("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", b"5\r\nhello\r\n")

    def answer_short_range(self):
        self.raw("HTTP/1.1 206 Partial Content\nContent-Range: bytes 0-99/1000\nContent-Length: 50\n\n", b"x" * 50)

    def answer_silent(self):
        stopped.wait()
        self.close_connection = True

    def answer_stall(self):
        self.raw("HTTP/1.1 200 OK\nContent-Length: 100\n\n", b"some")
        stopped.wait()

    def answer_slow(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
        for _ in range(20):
            self.wfile.write(b"x" * 3000)
            self.wfile.flush()
            stopped.wait(0.025)

    def answer_whole(self, size):
        self.send(200, pattern(int(size)))

    def answer_content_range(self):
        body = b"x" * int(self.query.get("size", 10))
        self.send(206, body, {"Content-Range": self.query["value"]} if "value" in self.query else {})

    def answer_content_length(self):
        self.raw(f"HTTP/1.1 200 OK\nContent-Length: {self.query['value']}\n\n", b"x" * 10)

    def answer_bomb(self):
        self.send(200, gzip.compress(bytes(50_000_000)), {"Content-Encoding": "gzip"})

    def answer_not_gzip(self):
        self.send(200, b"this is no gzip", {"Content-Encoding": "gzip"})

    def answer_many_headers(self):
        self.raw("HTTP/1.1 200 OK\n" + "".join(f"X-{i}: {'y' * 1000}\n" for i in range(400)) + "Content-Length: 0\n\n")

    def answer_no_http(self):
        self.raw("SSH-2.0-OpenSSH_9.2\n")

    def answer_nothing(self):
        self.close_connection = True

    def answer_large_error(self):
        self.send(404, b"x" * 1_000_000)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self):  # HTTPServer's asks for the host's full name, which may take seconds
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, request, client_address):
        pass  # clients that hang up are what many tests are about


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder")
    parser.add_argument("--cdn", action="store_true", help="redirect files other than .json to a second port")
    parser.add_argument("--tls", metavar="PEM", help="https on the first port, with this key and certificate")
    options = parser.parse_args()
    for i in range(2):
        server = Server(("127.0.0.1", 0), Handler)
        server.is_cdn = i == 1
        ports[i] = server.server_address[1]
        if options.tls and i == 0:
            import ssl  # takes as long as all the rest
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(options.tls)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    print(*ports, flush=True)
    sys.stdin.buffer.read()
    stopped.set()


if __name__ == "__main__":
    main()
