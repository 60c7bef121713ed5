import { describe, expect, it } from 'vitest';
import { LIMITS } from '../core/limits.ts';
import { reworded } from './sdk-refusal.ts';

const issue = (path: readonly (string | number)[], expected: string, received: string) => ({
  expected,
  code: 'invalid_type',
  path,
  message: `Invalid input: expected ${expected}, received ${received}`,
});
const dump = (...issues: object[]) => JSON.stringify(issues, null, 2);
const said = (message: string, code = -32603) => reworded({ code, message });

describe('a refusal of the SDK', () => {
  it('that is a dump becomes a sentence with INVALID_PARAMS', () => {
    expect(said(dump(issue(['params', 'cursor'], 'string', 'number')))).toEqual({
      code: -32602,
      message: 'params.cursor must be a string',
      data: { code: 'VALIDATION_ERROR' },
    });
    const invalid = `Invalid tools/call request: ${dump(issue(['params', 'name'], 'string', 'undefined'))}`;
    expect(said(invalid, -32602).message).toBe('params.name is missing: it must be a string');
  });

  it('names each problem, up to a limit', () => {
    const two = dump(issue(['params', 'a'], 'record', 'null'), issue(['params', 'b'], 'array', 'number'));
    expect(said(two).message).toBe('params.a must be an object; params.b must be a list');
    const many = dump(...Array.from({ length: 9 }, (_, at) => issue(['params', at], 'boolean', 'null')));
    expect(said(many).message).toMatch(/^params\.0 must be true or false; .*; and 1 more$/);
  });

  it("of another kind keeps the validator's text, shortened", () => {
    expect(said(dump({ code: 'custom', path: [], message: 'x'.repeat(9000) })).message).toBe(
      `the request: ${'x'.repeat(LIMITS.text.reason)}`,
    );
  });

  it('of an unknown method has an error code', () => {
    expect(said('Method not found', -32601)).toEqual({
      code: -32601,
      message: 'Method not found',
      data: { code: 'VALIDATION_ERROR' },
    });
  });

  it.each([
    [-32601, 'Method not found'],
    [-32603, 'a message with [brackets]'],
    [-32603, '[1, 2]'],
    [-32603, '[]'],
    [-32602, 'Unknown tool: x'],
    [-32000, dump(issue(['params'], 'object', 'null'))],
  ])('that is none of these stays as it is: %d %s', (code, message) => {
    const error = { code, message, data: 1 };
    expect(reworded(error)).toBe(error);
  });
});
