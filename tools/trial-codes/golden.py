"""Lets the trial scripts of Mead code pages of a layer, and writes what went in and what came out.

usage: golden.py SCRIPTS PROFILE LAYER BITS VECTORS OUT

SCRIPTS  folder with ts.py and tcal.py
PROFILE  what `kvasir calibrate --kv mead` wrote for the bundled model
VECTORS  folder that PageVectors wrote
OUT      folder for the golden files
"""
import heapq
import json
import os
import struct
import sys

import numpy as np

SINKS, TOKENS, PAGES = 16, 128, 2
HEADS, DIM = 2, 64
CLASS_SIZES = (64, 48, 16)
SCALE_BITS, LEAST_SCALE, MOST_SCALE = 3, -4, 3
SCALES_OF_AN_OCTAVE = 1.5
NO_SCALE = 255
LEFT = (1, .364, .120, .038, .0142, .0051, .0016, .0005, .00015)
PART = 'mead:tokens/'


def main(scripts, profile, layer, bits, vectors, out):
    tables = Tables(profile, int(layer))
    page = Vectors(vectors)
    rows, picks = np.unique(tables.token_rows[page.ids], return_inverse=True)
    assert len(rows) <= 256
    tables.rows = tables.rows[:, rows]
    widths = share(tables, float(bits))
    exact = run(scripts, tables, page, picks, widths, 'float64')
    single = run(scripts, tables, page, picks, widths, 'float32')
    free = run(scripts, tables, page, picks, widths, 'float64', bounded=False)
    report(widths, exact, single, free)
    write(out, tables, page, picks, widths, exact)


class Tables:
    """One layer of a profile, by head."""

    def __init__(self, path, layer):
        raw = open(path, 'rb').read()
        head = 8 + struct.unpack('<Q', raw[:8])[0]
        tensors = json.loads(raw[8:head])

        def read(name, kind):
            at = tensors[PART + name]
            first, end = at['data_offsets']
            return np.frombuffer(raw[head + first:head + end], kind).reshape(at['shape'])

        self.token_rows = read('token-rows', '<f4').astype(int)
        self.rows = read('rows', '<u2')[layer]
        for name in ('key-weights', 'value-to', 'deviations', 'class-weights', 'importance',
                     'mean-units', 'lows', 'steps'):
            setattr(self, name.replace('-', '_'), read(name, '<f4')[layer])

    def expanded(self):
        """Numbers of the table rows // (heads, rows, keys and components)"""
        nibbles = self.rows[..., None] >> np.array([0, 4, 8, 12], np.uint16) & 15
        nibbles = nibbles.reshape(HEADS, -1, 2 * DIM).astype(np.float64)
        exact = nibbles * self.steps[:, None].astype(np.float64) + self.lows[:, None]
        return exact.astype(np.float32)  # as one fused multiplication and addition rounds it


class Vectors:
    """The tokens of whole pages behind the sinks, as halves."""

    def __init__(self, folder):
        def read(name, kind, *shape):
            whole = np.fromfile(os.path.join(folder, name), kind).reshape(-1, *shape)
            return whole[SINKS:SINKS + PAGES * TOKENS]

        self.ids = read('tokens.i32', '<i4')
        self.keys = read('keys.f32', '<f4', HEADS, DIM).astype(np.float16)
        self.values = read('values.f32', '<f4', HEADS, DIM).astype(np.float16)
        # As many steps as the cache counts attention in.
        self.received = np.rint(read('received.f32', '<f4', HEADS) * 2.0 ** 18).astype(np.int32)


def share(tables, bits):
    """Bits by head, class and channel, given out by the byte as the cache does with one layer."""
    energies = []
    for head in range(HEADS):
        for side in range(2):
            for c in range(3):
                deviations = tables.deviations[head, c, side * DIM:(side + 1) * DIM].astype(float)
                weight = float(tables.class_weights[head, c, side])
                energies.append(weight * deviations * deviations)
    widths = [np.zeros(DIM, int) for _ in energies]

    def with_byte(row):
        wider = widths[row].copy()
        gain = 0.0
        for _ in range(8 if wider.any() else 8 - SCALE_BITS):
            gains = [e * (LEFT[k] - LEFT[k + 1]) if k < 8 else 0
                     for e, k in zip(energies[row], wider)]
            best = int(np.argmax(gains))
            if gains[best] > 0:
                gain += gains[best]
                wider[best] += 1
        return -gain / 8, row, wider.tolist()

    # Beside the codes: 24 bytes of classes and half a byte of mean for each component, of each
    # head and page, and a token's id.
    left = bits * HEADS * 2 * DIM - 8 * (24 + DIM / 2) * HEADS / TOKENS - 32
    queue = [with_byte(row) for row in range(len(widths))]
    heapq.heapify(queue)
    while queue and queue[0][0] < 0:
        _, row, wider = heapq.heappop(queue)
        cost = 8 * CLASS_SIZES[row % 3] / TOKENS
        if cost <= left:
            left -= cost
            widths[row] = np.array(wider)
            heapq.heappush(queue, with_byte(row))
    # (heads, sides, classes, channels) -> (heads, classes, keys and components)
    return np.array(widths).reshape(HEADS, 2, 3, DIM).transpose(0, 2, 1, 3).reshape(HEADS, 3, -1)


def load(scripts):
    """The scripts' module, for the heads of this model instead of those they were written for."""
    os.environ['LAY'] = '1'
    sys.path.insert(0, scripts)
    sys.dont_write_bytecode = True
    import ts
    ts.KV, ts.NB, ts.KC, ts.C = HEADS, 2 * HEADS, HEADS * DIM, 2 * HEADS * DIM
    import tcal
    return tcal


def run(scripts, tables, page, picks, widths, dtype, bounded=True):
    """What the scripts make of the pages."""
    tcal = load(scripts)
    torch = tcal.torch
    kind = getattr(torch, dtype)
    number = lambda x: torch.from_numpy(np.ascontiguousarray(x, np.float64)).to(kind)
    keys = HEADS * DIM

    def joined(x):
        """(heads, .., keys and components) -> (.., K0 K1 V0 V1)"""
        x = np.asarray(x)
        return np.concatenate([x[h, ..., s * DIM:(s + 1) * DIM]
                               for s in range(2) for h in range(HEADS)], -1)

    class Watched(tcal.S1):
        """Keeps what the scripts decide on their way to decoded vectors."""
        free0 = late = False
        vw = True
        sbits = SCALE_BITS
        sstep = SCALES_OF_AN_OCTAVE
        gblocks = tuple((i * DIM, (i + 1) * DIM) for i in range(2 * HEADS))

        def __init__(self):
            to = np.zeros((2 * keys, 2 * keys))
            base = joined(tables.expanded()).astype(np.float64)
            for h in range(HEADS):
                of_keys = slice(h * DIM, (h + 1) * DIM)
                of_values = slice(keys + h * DIM, keys + (h + 1) * DIM)
                to[of_keys, of_keys] = np.diag(tables.key_weights[h])
                to[of_values, of_values] = tables.value_to[h].T
                # The cache has rows of components, the scripts rows of channels.
                base[:, of_values] = np.linalg.solve(
                    tables.value_to[h].astype(np.float64), base[:, of_values].T).T
            self.Af = number(to)[None]
            self.Aif = torch.eye(2 * keys, dtype=kind)[None]  # components are wanted
            self.tabs = number(base)[None], torch.arange(len(base))
            self.W = number(tables.importance.transpose(1, 0, 2).reshape(1, 2 * HEADS, -1))
            self.sdt = number(joined(tables.deviations))[None].clamp(min=1e-9)
            self.kt = torch.from_numpy(joined(widths))[None]
            self.steps = torch.tensor([1.0] + tcal.STEP0, dtype=torch.float32).to(kind)
            units = number(np.concatenate(list(tables.mean_units)))
            self.sd = torch.cat([torch.ones(keys, dtype=kind), 4 * units])[None]

        def tier(self, *given):
            self.classes, weights = super().tier(*given)
            return self.classes, weights

        def norm(self, l, y, classes):
            u, k, deviations = super().norm(l, y, classes)
            scale = torch.log2(deviations / self.expand(self.sdt[l], classes))
            self.usual = (SCALES_OF_AN_OCTAVE * scale).round()
            self.tries = []
            return u, k, deviations

        def quant(self, u, k):
            tried = self.usual + len(self.tries) - 1
            o = super().quant(u, k)
            steps = u / self.steps[k]
            self.tries.append((tried, o, (steps - steps.round()).abs()))
            outside = (tried < LEAST_SCALE) | (tried > MOST_SCALE)
            # What leaves an infinite error is never chosen.
            return torch.where(outside, torch.full_like(o, float('inf')), o) if bounded else o

        def code(self, l, y, received, late=None):
            o = super().code(l, y, received, late)
            k = self.expand(self.kt[l], self.classes)
            deviations = self.expand(self.sdt[l], self.classes)
            middle = torch.exp2((k - 1).to(kind))
            self.scales = torch.full(k.shape, NO_SCALE)
            self.codes = torch.zeros_like(k)
            self.margins = torch.full(y.shape, .5, dtype=kind)
            blocks = lambda x: x.reshape(*x.shape[:3], -1, DIM)
            away = []
            for tried, value, _ in self.tries:
                decoded = value * deviations * 2 ** (tried / SCALES_OF_AN_OCTAVE)
                away.append(blocks((decoded - o).abs()).sum(-1))
            chosen = torch.stack(away).argmin(0)[..., None].expand(blocks(k).shape).reshape(k.shape)
            coded = (blocks(k) > 0).any(-1, keepdim=True).expand(blocks(k).shape).reshape(k.shape)
            for i, (tried, value, margin) in enumerate(self.tries):
                codes = (value / self.steps[k] - .5 + middle).round().long()
                self.codes = torch.where((chosen == i) & (k > 0), codes, self.codes)
                self.scales = torch.where((chosen == i) & coded, tried.long(), self.scales)
                self.margins = torch.where((chosen == i) & (k > 0), margin, self.margins)
            self.decoded = o.clone()
            return o

    watched = Watched()
    ahead = lambda x: np.concatenate([np.zeros((SINKS, *x.shape[1:]), x.dtype), x])[None]
    z = np.concatenate([page.keys.reshape(-1, keys), page.values.reshape(-1, keys)], -1)
    ids = torch.from_numpy(ahead(picks.astype(np.int64)))
    z = number(ahead(z))
    # Ranks of equal numbers are open in the scripts.
    for p in range(PAGES):
        for h in range(HEADS):
            ranked = page.received[p * TOKENS:(p + 1) * TOKENS, h]
            assert len(np.unique(ranked)) == TOKENS, 'two tokens have received as much'
    back = watched(0, z, ids, None, number(ahead(page.received)))
    table, _ = watched.tabs
    corrected = (back - table[0][ids])[0, SINKS:].reshape(PAGES, TOKENS, -1)[..., keys:]
    units = watched.sd[0][keys:] / 4
    means = ((corrected - watched.decoded[0][..., keys:]) / units).round()
    assert (means == means[:, :1]).all()

    def apart(x):
        """(pages, tokens, K0 K1 V0 V1) -> (pages, heads, tokens, keys and components)"""
        x = x.numpy().reshape(PAGES, TOKENS, 2, HEADS, -1)
        return x.transpose(0, 3, 1, 2, 4).reshape(PAGES, HEADS, TOKENS, -1)

    return dict(classes=watched.classes[0].numpy().transpose(0, 2, 1),
                scales=apart(watched.scales[0])[..., ::DIM],
                codes=apart(watched.codes[0]),
                margins=apart(watched.margins[0]),
                means=means[:, 0].numpy().reshape(PAGES, HEADS, DIM).astype(int))


def report(widths, exact, single, free):
    print('channels by width', np.bincount(widths.ravel(), minlength=9))
    print('coded numbers', (exact['margins'] < .5).sum())
    print('scales', np.unique(exact['scales'], return_counts=True))
    print('means', np.unique(exact['means'], return_counts=True))
    print('rows whose scale leaves 3 bits where it may', (free['scales'] != exact['scales']).sum())
    for name in ('classes', 'scales', 'codes', 'means'):
        print(name, exact[name].size, 'of which single precision changes',
              (exact[name] != single[name]).sum())
    print('least distances of a number from where its code changes, in steps',
          np.sort(exact['margins'].ravel())[:8])


def write(out, tables, page, picks, widths, found):
    os.makedirs(out, exist_ok=True)

    def file(name, x):
        kinds = {'f32': '<f4', 'f16': '<f2', 'i32': '<i4', 'u16': '<u2', 'u8': 'u1', 'i8': 'i1'}
        kind = kinds[name.split('.')[1]]
        cast = np.ascontiguousarray(x).astype(kind)
        assert (cast == x).all()
        cast.tofile(os.path.join(out, name))

    def pages(x):
        """(tokens, heads, ..) -> (pages, heads, tokens, ..)"""
        return x.reshape(PAGES, TOKENS, *x.shape[1:]).swapaxes(1, 2)

    file('keys.f16', pages(page.keys))
    file('values.f16', pages(page.values))
    file('received.i32', pages(page.received))
    file('picks.u8', picks.reshape(PAGES, TOKENS))
    for name in ('key-weights', 'value-to', 'deviations', 'class-weights', 'importance',
                 'mean-units', 'lows', 'steps'):
        file(name + '.f32', getattr(tables, name.replace('-', '_')))
    file('rows.u16', tables.rows)
    file('bits.u8', widths)
    file('classes.u8', found['classes'])
    scales = found['scales']
    file('scales.u8', np.where(scales == NO_SCALE, NO_SCALE, scales - LEAST_SCALE))
    file('codes.u8', found['codes'])
    file('means.i8', found['means'])


if __name__ == '__main__':
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    main(*sys.argv[1:])
