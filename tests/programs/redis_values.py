"""Values of a redis server, checked while several connections use it at once.

    redis_values.py PORT CONNECTIONS KEYS

Each connection sets KEYS keys of its own in pipelines, adds to one shared counter for each, and reads its keys back: every value
must be the one that was set, and the counter must be the sum in the end. Prints `checked N`; exits with 1 after a line that says
what was wrong.
"""

import hashlib
import socket
import sys
import threading

PIPELINE = 50
wrong = []


def command(*words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


def reply(stream):
    line = stream.readline().rstrip(b"\r\n")
    if line[:1] != b"$":
        return line
    length = int(line[1:])
    return stream.read(length + 2)[:length] if length >= 0 else None


def value_of(connection, key):
    return hashlib.sha256(b"%d/%d" % (connection, key)).hexdigest().encode() * 4


def work(port, connection, keys):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as sock, sock.makefile("rb") as stream:
            for first in range(0, keys, PIPELINE):
                some = range(first, min(first + PIPELINE, keys))
                name = lambda key: f"value:{connection}:{key}"
                sock.sendall(b"".join(
                    command("SET", name(key), value_of(connection, key)) + command("INCR", "value:count") for key in some))
                for key in some:
                    if (answer := reply(stream)) != b"+OK":
                        raise ValueError(f"SET {key}: {answer}")
                    if (answer := reply(stream))[:1] != b":":
                        raise ValueError(f"INCR: {answer}")
                sock.sendall(b"".join(command("GET", name(key)) for key in some))
                for key in some:
                    if reply(stream) != value_of(connection, key):
                        raise ValueError(f"key {key} of connection {connection} has another value")
    except (OSError, ValueError) as error:
        wrong.append(str(error))


def main():
    port, connections, keys = (int(word) for word in sys.argv[1:4])
    threads = [threading.Thread(target=work, args=(port, c, keys)) for c in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        sys.exit(f"WRONG: {wrong[0]}")
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock, sock.makefile("rb") as stream:
        sock.sendall(command("GET", "value:count"))
        if (count := reply(stream)) != str(connections * keys).encode():
            sys.exit(f"WRONG: the counter is {count}, not {connections * keys}")
    print(f"checked {connections * keys}")


main()
