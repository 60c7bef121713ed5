import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineReader } from './line-reader.ts';

interface Read {
  lines: string[];
  tooLong: { head: string; tail: string | undefined }[];
  reader: LineReader;
}

function read(chunks: Iterable<Buffer>, maxBytes = 1_000_000): Read {
  const lines: string[] = [];
  const tooLong: Read['tooLong'] = [];
  const reader = new LineReader({
    maxBytes,
    onLine: (line, bytes) => {
      expect(Buffer.byteLength(line)).toBe(bytes);
      lines.push(line);
    },
    onLarge: ({ bytes }) => void lines.push(bytes.toString('utf8')),
    onUnread: (head, tail) => tooLong.push({ head, tail }),
  });
  for (const chunk of chunks) {
    // A caller may reuse the memory of a chunk.
    const shared = Buffer.from(chunk);
    reader.push(shared);
    shared.fill('!');
  }
  return { lines, tooLong, reader };
}

function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((start, index) => bytes.subarray(start, at[index] ?? bytes.length));
}

describe('LineReader', () => {
  it('reads the same lines however the bytes are cut', () => {
    const frame = fc
      .string({ unit: 'binary' })
      .map((text) => text.replaceAll('\n', '').replace(/[\ud800-\udfff]/g, ''));
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.nat()), fc.integer({ min: 1, max: 60 }), (frames, cuts, maxBytes) => {
        const bytes = Buffer.from(frames.map((text) => `${text}\n`).join(''));
        const cut = read(split(bytes, cuts), maxBytes);
        const whole = read([bytes], maxBytes);
        const fits = (text: string) => Buffer.byteLength(text) <= maxBytes;
        // White space says nothing: it is skipped where it is seen at once.
        const said = (texts: string[]) => texts.filter((text) => /[^ \t\r]/.test(text));
        expect(said(cut.lines)).toEqual(said(frames).filter(fits));
        expect(said(cut.lines)).toEqual(said(whole.lines));
        expect(said(whole.lines)).toEqual(whole.lines);
        expect(cut.tooLong.length).toBeGreaterThanOrEqual(said(frames).filter((text) => !fits(text)).length);
        expect(cut.reader.buffered).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it('puts a character together that was cut in the middle', () => {
    const bytes = Buffer.from('a😀b\n');
    expect(read([bytes.subarray(0, 3), bytes.subarray(3)]).lines).toEqual(['a😀b']);
  });

  it('reads one frame in one-byte chunks, and a thousand in one chunk', () => {
    const frame = Buffer.from(`${JSON.stringify({ text: 'ä'.repeat(500) })}\n`);
    expect(read([...frame].map((byte) => Buffer.from([byte]))).lines).toEqual([frame.toString().trim()]);
    expect(read([Buffer.from('x\n'.repeat(1000))]).lines).toHaveLength(1000);
  });

  it('holds no more than the cap of 64 MiB without a newline, gives up at twice the cap, and reads on afterwards', () => {
    const maxBytes = 1024 * 1024;
    const { lines, tooLong, reader } = read([], maxBytes);
    const chunk = Buffer.alloc(65_536, 'x');
    let most = 0;
    for (let i = 0; i < 1024; i++) {
      reader.push(chunk);
      most = Math.max(most, reader.buffered);
      if (i === 17) expect(tooLong).toEqual([]);
    }
    expect(most).toBeLessThanOrEqual(maxBytes);
    expect(tooLong).toEqual([{ head: 'x'.repeat(1024), tail: undefined }]);
    reader.push(Buffer.from('end\nnext\n'));
    expect(tooLong).toHaveLength(1);
    expect(lines).toEqual(['next']);
  });

  it('shows the beginning and the end of a line that was too long', () => {
    const { tooLong } = read([Buffer.from('{"result":'), Buffer.alloc(150, 'x'), Buffer.from('"id":7}\nok\n')], 100);
    expect(tooLong).toHaveLength(1);
    expect(tooLong[0]?.head).toMatch(/^\{"result":x+/);
    expect(tooLong[0]?.tail).toMatch(/x"id":7\}$/);
  });
});

describe('empty lines', () => {
  it.each(['\n', '\r\n', ' \n', '\t \r\n'])('are skipped together: %j', (line) => {
    const [lines, skipped]: [string[], number[]] = [[], []];
    const reader = new LineReader({
      maxBytes: 1_000_000,
      onLine: (one) => lines.push(one),
      onBlank: (bytes) => skipped.push(bytes),
      onLarge: () => undefined,
      onUnread: () => {},
    });
    reader.push(Buffer.from(`${line.repeat(10_000)}  one\n${line.repeat(10)}two\n`));
    expect(lines).toEqual(['  one', 'two']);
    expect(skipped).toEqual([10_000 * line.length, 10 * line.length]);
  });
});

describe('a large line', () => {
  const LARGE = `{"text":"${'x'.repeat(400_000)}"}`;

  /** Reads in chunks as pipes give them. */
  function feed(reader: LineReader, text: string): void {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 65_536) reader.push(bytes.subarray(at, at + 65_536));
  }

  it('is handed on as bytes with what was counted, and nothing overtakes it', async () => {
    const seen: string[] = [];
    let goOn = () => {};
    const reader = new LineReader({
      maxBytes: 1_000_000,
      onLine: (line) => seen.push(line),
      onLarge: ({ bytes, values }) => {
        seen.push(`${bytes.length} bytes, ${values} value`);
        return new Promise((resolve) => {
          goOn = resolve;
        });
      },
      onUnread: () => {},
    });
    feed(reader, `before\n${LARGE}\nafter\n${LARGE}\nlast\n`);
    expect(seen).toEqual(['before', `${LARGE.length} bytes, 1 value`]);
    goOn();
    await expect.poll(() => seen.length).toBe(4);
    expect(seen.slice(2)).toEqual(['after', `${LARGE.length} bytes, 1 value`]);
    goOn();
    await reader.reading;
    expect(seen.at(-1)).toBe('last');
  });

  it('is overtaken by short lines that may, up to the first that may not, however the bytes are cut', async () => {
    const lines = fc.array(fc.tuple(fc.constantFrom('quick', 'slow'), fc.nat(30_000)), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(lines, fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1 }), async (short, cuts) => {
        const seen: string[] = [];
        let goOn = () => {};
        const reader = new LineReader({
          maxBytes: 1_000_000,
          onLine: (line) => seen.push(line),
          onLarge: () => {
            seen.push('begun');
            return new Promise<void>((resolve) => {
              goOn = resolve;
            }).then(() => void seen.push('large'));
          },
          mayOvertake: (line) => line.startsWith('quick'),
          onUnread: () => {},
        });
        feed(reader, `${LARGE}\n`);
        const after = short.map(([kind, length]) => kind + 'x'.repeat(length));
        const bytes = Buffer.from(after.map((line) => `${line}\n`).join(''));
        for (let at = 0, cut = 0; at < bytes.length; cut++) {
          const end = at + (cuts[cut % cuts.length] as number);
          reader.push(bytes.subarray(at, end));
          at = end;
        }
        const overtaking = seen.slice(1);
        expect(after.slice(0, overtaking.length)).toEqual(overtaking);
        const stopped = after.slice(overtaking.length);
        // A long one that came in parts waits, too.
        if (stopped.length > 0) expect(reader.isFull).toBe(true);
        if (stopped[0]?.startsWith('quick')) expect(stopped[0].length).toBeGreaterThan(16_000);
        goOn();
        await reader.reading;
        expect(seen).toEqual(['begun', ...overtaking, 'large', ...stopped]);
      }),
    );
  });

  it('is dropped as soon as it has too many values, nests too deep, or is not needed', () => {
    const told: string[] = [];
    const reader = new LineReader({
      maxBytes: 10_000_000,
      maxValues: 1000,
      isWanted: (head) => !head.startsWith('{"text"'),
      onLine: () => {},
      onLarge: () => undefined,
      onUnread: (_head, _tail, why) => told.push(why),
    });
    for (const line of [`[${'1,'.repeat(200_000)}1]`, '['.repeat(300_000), LARGE]) {
      feed(reader, line);
      expect(reader.buffered).toBe(0);
      feed(reader, '\n');
    }
    expect(told).toEqual(['too-many', 'too-deep', 'unasked']);
  });

  it('of many short ones is read in slices where they take long', async () => {
    let lines = 0;
    let pauses = 0;
    const reader = new LineReader({
      maxBytes: 1_000_000,
      onLine: () => {
        lines++;
        for (const end = performance.now() + 0.1; performance.now() < end; );
      },
      onLarge: () => undefined,
      onBusy: () => {
        pauses++;
        return new Promise((resolve) => setImmediate(resolve));
      },
      onUnread: () => {},
    });
    reader.push(Buffer.from('x\n'.repeat(1000)));
    expect(lines).toBeLessThan(1000);
    await reader.reading;
    expect(lines).toBe(1000);
    expect(pauses).toBeGreaterThan(3);
  });
});
