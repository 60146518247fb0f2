"""Values of a memcached server, checked while several connections use it at once.

    memcached_values.py PORT CONNECTIONS ROUNDS

All connections add to the same few counters in pipelines, and each sets and reads values of its own: every value must be the one
that was set, and the counters must hold every increment in the end. Prints `checked N`; exits with 1 after a line that says what
was wrong.
"""

import hashlib
import socket
import sys
import threading

PIPELINE = 100
COUNTERS = 2
wrong = []


def value_of(connection, key):
    return (hashlib.sha256(b"%d/%d" % (connection, key)).hexdigest() * 4).encode()


def get(sock, stream, key):
    sock.sendall(b"get %s\r\n" % key)
    head = stream.readline().split()
    if head[:2] != [b"VALUE", key]:
        raise ValueError(f"get {key}: {head}")
    value = stream.read(int(head[3]) + 2)[:-2]
    if stream.readline() != b"END\r\n":
        raise ValueError(f"get {key} does not end")
    return value


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def work(port, connection, rounds, start):
    try:
        with connect(port) as sock, sock.makefile("rb") as stream:
            start.wait()
            for turn in range(rounds):
                key = b"value-%d-%d" % (connection, turn % 50)
                value = value_of(connection, turn)
                adds = b"".join(b"incr counter-%d 1\r\n" % (i % COUNTERS) for i in range(PIPELINE))
                sock.sendall(adds + b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value))
                for _ in range(PIPELINE):
                    if not (answer := stream.readline().strip()).isdigit():
                        raise ValueError(f"incr: {answer}")
                if (answer := stream.readline()) != b"STORED\r\n":
                    raise ValueError(f"set {key}: {answer}")
                if get(sock, stream, key) != value:
                    raise ValueError(f"{key} has another value")
    except (OSError, ValueError, IndexError) as error:
        wrong.append(f"{type(error).__name__} {error}")


def main():
    port, connections, rounds = (int(word) for word in sys.argv[1:4])
    with connect(port) as sock, sock.makefile("rb") as stream:
        for i in range(COUNTERS):
            sock.sendall(b"set counter-%d 0 0 1\r\n0\r\n" % i)
            if stream.readline() != b"STORED\r\n":
                sys.exit("WRONG: a counter can not be set")
        start = threading.Barrier(connections)
        threads = [threading.Thread(target=work, args=(port, c, rounds, start)) for c in range(connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if wrong:
            sys.exit(f"WRONG: {wrong[0]}")
        expected = connections * rounds * PIPELINE // COUNTERS
        for i in range(COUNTERS):
            if (count := get(sock, stream, b"counter-%d" % i).strip()) != b"%d" % expected:
                sys.exit(f"WRONG: counter {i} is {count.decode()}, not {expected}")
    print(f"checked {connections * rounds * (PIPELINE + 1)}")


main()
