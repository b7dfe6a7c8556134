"""Seeded changes to requests and responses: those that a reader stumbles over."""

PIECES = [
    b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\n\n", b" ", b"\t", b"\0", b"\x0b", b"\x7f", b"\xff", b":", b",", b";", b"%",
    b"#", b"?", b"//", b"\\",
    b"0", b"5", b"0x", b"-", b"+", b"ffffffffffffffff", b"99999999999999999999", b"0\r\n\r\n", b"5\r\nabcde\r\n",
    b"HTTP/1.1", b"HTTP/1.0",
    b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: x\r\n",
    b"Connection: close\r\n",
    b"Connection: keep-alive\r\n", b"Connection: Content-Length\r\n", b"Host: x\r\n", b"Expect: 100-continue\r\n",
    b"Upgrade: h2c\r\n", b"X: y\r\n",
    b" folded\r\n", b"chunked", b"identity", b"GET ", b"POST ", b"HEAD ", b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 304 X\r\n\r\n",
]


def mutate(random, raw, others):
    """`raw` with one to four changes; `others` is where foreign parts come from."""
    data = bytearray(raw)
    for _ in range(random.choice([1, 1, 1, 1, 1, 2, 2, 3])):
        at = random.randrange(len(data) + 1)
        end = min(len(data), at + random.choice([1, 1, 2, 4, 8, 30]))
        match random.randrange(9):
            case 0 if at < len(data): data[at] ^= 1 << random.randrange(8)
            case 1 if at < len(data): data[at] = random.choice(b"\r\n\t \0:0159afx,;/")
            case 2: del data[at:end]
            case 3 | 4: data[at:at] = random.choice(PIECES)
            case 5: data[at:end] = random.choice(PIECES)
            case 6: data[at:at] = data[at:end]
            case 7: lines(random, data)
            case _:
                other = random.choice(others)[:2000]
                cut = random.randrange(len(other) + 1)
                data[at:at] = other[cut:cut + random.choice([4, 20, 100])]
    return bytes(data)


def lines(random, data):
    """One line twice, away, moved or ended another way."""
    found = bytes(data).split(b"\r\n")
    index = random.randrange(len(found))
    match random.randrange(4):
        case 0: found.insert(index, found[index])
        case 1: found.insert(random.randrange(len(found)), found.pop(index))
        case 2: found.pop(index)
        case _: found[index] += random.choice([b"\n", b"\r", b" ", b"\t",
            b"\r\n"]) + b"".join(found[index + 1:index + 2])
    data[:] = b"\r\n".join(found)


def pieces(random, data):
    """`data` in one to four pieces."""
    bounds = sorted({0, len(data), *(random.randrange(len(data) + 1) for _ in range(random.choice([0, 0, 1, 3])))})
    return [data[start:end] for start, end in zip(bounds, bounds[1:])]
