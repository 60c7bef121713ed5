import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventReader, type EventReaderOptions } from './event-reader.ts';

const MIB = 2 ** 20;
const reader = (options: Partial<EventReaderOptions> = {}) =>
  new EventReader({
    maxBytes: 16 * MIB,
    maxValues: 200_000,
    method: undefined,
    listener: { awaited: (id) => (id === 7 ? 'tools/call' : undefined), relaysNotifications: () => false },
    refuse: (why) => new Error(why),
    ...options,
  });
const cutAt = (text: string, cuts: readonly number[]): Buffer[] => {
  const bytes = Buffer.from(text);
  const at = [0, ...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
};
const read = (events: EventReader, chunks: readonly Buffer[]) => chunks.flatMap((chunk) => [...events.push(chunk)]);
const text = (found: ReturnType<typeof read>) =>
  Buffer.concat(found.map(({ bytes }) => bytes ?? Buffer.of())).toString();
const sum = (found: ReturnType<typeof read>) => found.reduce((ms, event) => ms + event.ms, 0);
const event = (message: unknown) => `data: ${JSON.stringify(message)}\n\n`;
const names = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`k${at}`, 1]));
const note = (data: unknown) => event({ jsonrpc: '2.0', method: 'notifications/message', params: { data } });
const answer = (id: number, data: unknown) => event({ jsonrpc: '2.0', id, result: { data } });

describe('EventReader', () => {
  it('passes on every byte of whole events, wherever chunks are cut and whatever ends the lines', () => {
    const events = fc.array(fc.constantFrom('data: x', ': note', 'id: 1\ndata: y', '', `data: ${'z'.repeat(9000)}`), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(events, fc.constantFrom('\n', '\r\n', '\r'), fc.array(fc.nat(40_000)), (parts, end, cuts) => {
        const whole = parts.map((part) => `${part.replaceAll('\n', end)}${end}${end}`).join('');
        expect(text(read(reader(), cutAt(whole, cuts)))).toBe(whole);
        expect(text(read(reader(), cutAt(`${whole}data: half`, cuts)))).toBe(whole);
      }),
    );
  });

  it('passes an event on with the chunk in which it ends', () => {
    for (const end of ['\n', '\r\n']) {
      const whole = `data: x${end}${end}`;
      for (let cut = 0; cut < whole.length; cut++) expect(text(read(reader(), cutAt(whole, [cut])))).toBe(whole);
    }
  });

  it('says that an event with many names costs more than a short one', () => {
    const short = sum(read(reader(), [Buffer.from(note('x'))]));
    expect(sum(read(reader(), [Buffer.from(note(names))]))).toBeGreaterThan(50 * short);
    expect(sum(read(reader(), [Buffer.from(note('x').repeat(100))]))).toBeCloseTo(100 * short);
  });

  it('tells the answer to a request in flight from everything else', () => {
    const isAwaited = (body: string) => read(reader(), [Buffer.from(body)]).map((found) => found.isAwaited);
    expect(isAwaited(answer(7, names))).toEqual([true]);
    expect(isAwaited(event({ jsonrpc: '2.0', result: { names }, id: 7 }))).toEqual([true]);
    expect(isAwaited(`id: e1\nevent: message\n${answer(7, names)}`)).toEqual([true]);
    expect(isAwaited(answer(8, names))).toEqual([false]);
    expect(isAwaited(note(names))).toEqual([false]);
  });

  it('drops large notifications and late answers, in one chunk and in many, and goes on after them', () => {
    const large = 'x'.repeat(MIB);
    for (const unneeded of [note(large), answer(8, large), `id: e1\n${note(large)}`]) {
      for (const cuts of [[], [10, 1000, 400_000, 800_000]]) {
        const found = read(reader(), cutAt(`${note('a')}${unneeded}${note('b')}`, cuts));
        expect(text(found)).toBe(`${note('a')}${note('b')}`);
        // What is dropped costs time as well.
        expect(sum(found)).toBeGreaterThan(sum(read(reader(), [Buffer.from(note('a') + note('b'))])) + 4.9);
      }
    }
    const relays = { relaysNotifications: () => true };
    expect(text(read(reader({ listener: relays }), cutAt(note(large), [500_000])))).toBe(note(large));
    expect(text(read(reader(), cutAt(answer(7, large), [500_000])))).toBe(answer(7, large));
  });

  it('refuses an event that is too long, also while it is dropped, and one with too many names', () => {
    const long = Buffer.from(`data: {"jsonrpc":"2.0","method":"x","params":{"data":"${'x'.repeat(MIB)}`);
    expect(() => read(reader({ maxBytes: MIB / 2 }), [long])).toThrow('too-long');
    expect(() => read(reader(), Array(20).fill(long))).toThrow('too-long');
    expect(() => read(reader({ maxValues: 10_000 }), [Buffer.from(answer(7, [names, large()]))])).toThrow('too-many');
  });
});

const large = () => 'x'.repeat(300_000);
