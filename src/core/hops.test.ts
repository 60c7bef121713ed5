import { expect, it } from 'vitest';
import { gatewayId, isLoop, withHop } from './hops.ts';

const id = gatewayId('/a/config.json', new Map([['files', { fingerprint: 'x' }]]));

it('names a gateway by its configuration', () => {
  expect(gatewayId('/a/config.json', new Map([['files', { fingerprint: 'x' }]]))).toBe(id);
  expect(gatewayId('/b/config.json', new Map([['files', { fingerprint: 'x' }]]))).not.toBe(id);
  expect(gatewayId('/a/config.json', new Map([['files', { fingerprint: 'y' }]]))).not.toBe(id);
});

it('knows a call that has been here before, also through others, and keeps what else it carries', () => {
  const meta = withHop({ traceparent: 't' }, id);
  expect(meta).toMatchObject({ traceparent: 't' });
  expect(isLoop(meta, id)).toBe(true);
  expect(isLoop(withHop(meta, 'another'), id)).toBe(true);
  expect(isLoop(meta, 'another')).toBe(false);
});

it('lets calls pass that carry nothing or nonsense, and stops those that come from too far', () => {
  expect(isLoop(undefined, id)).toBe(false);
  expect(isLoop({ 'anygpt/hops': 7 }, id)).toBe(false);
  expect(isLoop({ 'anygpt/hops': 'a,b' }, id)).toBe(false);
  expect(isLoop({ 'anygpt/hops': 'a,b,c,d,e,f,g,h' }, id)).toBe(true);
});
