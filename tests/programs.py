"""Source of small servers, most of which fail in some way. Their first argument is the port."""

from __future__ import annotations

_COMMON = """
import os, signal, socket, sys, threading, time

PORT = int(sys.argv[1])


def listening():
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(("127.0.0.1", PORT))
    sock.listen(64)
    return sock


def answer(body=b"Hello world", status=b"200 OK", head=b"content-type: text/plain\\r\\n"):
    return b"HTTP/1.1 %s\\r\\n%scontent-length: %d\\r\\n\\r\\n%s" % (status, head, len(body), body)


def talk(connection, content, closes):
    with connection:
        asked = b""
        while piece := connection.recv(65536):
            asked += piece
            while b"\\r\\n\\r\\n" in asked:
                asked = asked.partition(b"\\r\\n\\r\\n")[2]
                connection.sendall(content)
                if closes:
                    return


def serve(content=None, closes=False, sock=None):
    sock = sock or listening()
    while True:
        connection, _ = sock.accept()
        threading.Thread(
            target=talk, args=(connection, content or answer(), closes), daemon=True
        ).start()
"""

HELLO = "serve()"
WORKERS = """
children = []

def stop(*_):
    for child in children:
        os.kill(child, signal.SIGTERM)
    os._exit(0)

signal.signal(signal.SIGTERM, stop)  # before a child can serve, since then it may be stopped
for _ in range(int(sys.argv[2]) - 1):
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        break
    children.append(child)
serve()
"""
ONE_SOCKET = """
sock = listening()
for _ in range(int(sys.argv[2])):
    if os.fork() == 0:
        serve(sock=sock)
signal.pause()
"""
PASSES_ON = """
ends = []
for _ in range(int(sys.argv[2])):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    if os.fork() == 0:
        while True:
            _, [passed], _, _ = socket.recv_fds(theirs, 1, 1)
            connection = socket.socket(fileno=passed)
            threading.Thread(target=talk, args=(connection, answer(), False), daemon=True).start()
    ends.append(ours)
sock = listening()
while True:
    connection, _ = sock.accept()
    time.sleep(0.005)
    ends.append(ends.pop(0))
    socket.send_fds(ends[0], [b"x"], [connection.fileno()])
    connection.close()
"""
EXITS = """
print("no module named app", file=sys.stderr)
sys.exit(3)
"""
NEVER_LISTENS = "signal.pause()"
PRINTS = """
threading.Thread(target=serve, daemon=True).start()
print("first line")
while True:
    print("a line that is not worth keeping, printed without end", flush=False)
"""
IGNORES_TERM = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
serve()
"""
FORKS_AND_LEAVES = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        serve()
    os._exit(0)
os.wait()
"""
WRONG_BODY = 'serve(answer(b"Hello wurld"))'
UNAVAILABLE = 'serve(answer(b"", b"503 Service Unavailable"))'
NOT_FOUND = 'serve(answer(b"", b"404 Not Found"))'
CLOSES = "serve(closes=True)"
UNTIL_CLOSE = 'serve(answer(head=b"connection: close\\r\\n"), closes=True)'
CHUNKED = r"""
serve(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nserver: chunky\r\n"
      b"transfer-encoding: chunked\r\n\r\nb\r\nHello world\r\n0\r\n\r\n")
"""
SECURE = """
import ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2] + ".pem", sys.argv[2] + ".key")
serve(sock=context.wrap_socket(listening(), server_side=True))
"""
UNIX = """
sock = socket.socket(socket.AF_UNIX)
sock.bind(sys.argv[2])
sock.listen()
serve(sock=sock)
"""
DRIPS = r"""
connection, _ = listening().accept()
connection.sendall(b"HTTP/1.1 200 OK\r\nx: ")
try:
    while True:
        connection.sendall(b"x")
        time.sleep(0.01)
except OSError:
    signal.pause()
"""
LEAVES_A_CHILD = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # before the fork: the child ignores it at once
if os.fork() == 0:
    os.setsid()
    signal.pause()
signal.signal(signal.SIGTERM, signal.SIG_DFL)
serve()
"""
LEAVES_FILES = """
open("left.log", "w").close()
open(os.path.join(os.environ["TMPDIR"], "left.pid"), "w").close()
serve()
"""
FAILS_TO_STOP = """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
serve()
"""
DROPS_ALL = """
listener = listening()
while True:
    listener.accept()[0].close()
"""


def program(code: str) -> str:
    """Return the whole source of a server."""
    return f"{_COMMON}\n{code}\n"
