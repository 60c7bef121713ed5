import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SearchResult } from '../core/types.ts';
import { toDefinition, variablesIn, withItems } from './server-items.ts';

const hit = (tool: string, relevance: number, kind?: 'resource'): SearchResult => ({
  server: 's',
  tool,
  summary: '',
  relevance,
  tags: [],
  kind,
});
const names = (hits: readonly SearchResult[]) => hits.map(({ tool }) => tool).join('');
const relevance = fc.integer({ min: 1, max: 100 }).map((hundredths) => hundredths / 100);
const byRelevance = (a: SearchResult, b: SearchResult) => b.relevance - a.relevance;
const hits = (kind?: 'resource') =>
  fc.array(relevance, { maxLength: 15 }).map((all) => all.map((one, at) => hit(`${at}`, one, kind)).sort(byRelevance));

describe('resources and prompts in an answer', () => {
  it('take free places, and that of one tool only if they fit better than all', () => {
    const items = [hit('x', 0.9, 'resource'), hit('y', 0.5, 'resource'), hit('z', 0.1, 'resource')];
    expect(names(withItems([hit('a', 0.4), hit('b', 0.2)], items))).toBe('xyab');
    expect(names(withItems([hit('a', 0.4), hit('b', 0.2)], items, 2))).toBe('xa');
    expect(names(withItems([hit('a', 0.8), hit('b', 0.2)], items))).toBe('axyb');
    expect(names(withItems([hit('a', 0.8), hit('b', 0.2)], items, 2))).toBe('ab');
    expect(withItems([hit('a', 0.8)], items)[1]).toEqual(hit('x', 0.8, 'resource'));
    expect(names(withItems([hit('a', 0.8), hit('b', 0.2)], [hit('x', 1, 'resource')], 2))).toBe('xa');
    expect(names(withItems([], items, 2))).toBe('xy');
    expect(names(withItems([hit('a', 0.1)], [hit('x', 0.15, 'resource')]))).toBe('a');
  });

  it('never change which tools are found, or in which order', () => {
    fc.assert(
      fc.property(hits(), hits('resource'), fc.integer({ min: 1, max: 20 }), (tools, items, limit) => {
        const found = tools.slice(0, limit);
        const shown = withItems(found, items, limit);
        const kept = shown.filter(({ kind }) => kind === undefined);
        expect(shown.length).toBeLessThanOrEqual(limit);
        expect(kept).toEqual(found.slice(0, kept.length));
        expect(found.length - kept.length).toBeLessThanOrEqual(1);
        expect([...shown].sort(byRelevance)).toEqual(shown);
        if (found.length > 0) expect(shown.length - kept.length).toBeLessThanOrEqual(3);
        const isAsked = items.some((item) => item.relevance === 1);
        if ((found[0]?.relevance ?? 0) >= 0.5 && !isAsked)
          expect([shown[0], kept.length]).toEqual([found[0], found.length]);
      }),
    );
  });
});

describe('the variables of a URI template', () => {
  it('are those of RFC 6570, whatever a server writes', () => {
    const uri = 'a://{one}/{+two}{?three,four*}{five:3}{}{ six }';
    expect(variablesIn(uri).map(({ name }) => name)).toEqual(['one', 'two', 'three', 'four', 'five']);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '}', ',', 'a', '*') }), (text) => void variablesIn(text)),
    );
  });

  it('become the parameters of a prompt or a template', () => {
    const prompt = {
      name: 'p',
      arguments: [
        { name: 'a', required: true },
        { name: 'b', description: 'B' },
      ],
    };
    expect(toDefinition({ kind: 'prompt', id: 'p', definition: prompt }).inputSchema).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string', description: 'B' } },
      required: ['a'],
    });
    const template = { uriTemplate: 'a://{x}' };
    expect(toDefinition({ kind: 'resource', id: 'a://{x}', definition: template }).inputSchema.required).toEqual(['x']);
  });
});
