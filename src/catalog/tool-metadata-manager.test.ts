import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../core/errors.ts';
import type { ToolMetadata } from '../core/types.ts';
import { ToolMetadataManager } from './tool-metadata-manager.ts';

const tool = (server: string, name: string, more: Partial<ToolMetadata> = {}): ToolMetadata => ({
  server,
  name,
  summary: '',
  enabled: true,
  tags: [],
  ...more,
});

describe('ToolMetadataManager', () => {
  it('keeps tools by server and name, also under names that every object has', () => {
    const manager = new ToolMetadataManager();
    for (const name of ['__proto__', 'constructor', 'toString']) manager.addTool(tool(name, name));
    manager.addTool(tool('b', 'z'));
    manager.addTool(tool('b', 'a', { enabled: false }));
    manager.addTool(tool('b', 'z', { summary: 'newer' }));
    expect(manager.getTool('__proto__', '__proto__')?.name).toBe('__proto__');
    expect(manager.getTool('hasOwnProperty', 'x')).toBeNull();
    expect(manager.getTool('b', 'valueOf')).toBeNull();
    expect(manager.getTool('b', 'z')?.summary).toBe('newer');
    expect(manager.getToolsByServer('b').map(({ name }) => name)).toEqual(['z']);
    expect(manager.getToolsByServer('b', true).map(({ name }) => name)).toEqual(['a', 'z']);
    expect(manager.getToolsByServer('nobody')).toEqual([]);
    expect(manager.getAllTools().map(({ server }) => server)).toEqual(['__proto__', 'b', 'constructor', 'toString']);
    expect([manager.getToolCount('b'), manager.getEnabledCount('b'), manager.getToolCount('x')]).toEqual([2, 1, 0]);
  });

  it('never enables a tool that is not approved, and never lists it', () => {
    const manager = new ToolMetadataManager();
    manager.setServer('s', [tool('s', 'read'), tool('s', 'send', { enabled: false, approval: 'changed' })]);
    manager.applyRules([{ pattern: ['*'], enabled: true }]);
    expect(manager.getTool('s', 'send')).toMatchObject({ enabled: false, approval: 'changed' });
    expect(manager.getAllTools(true).map(({ name }) => name)).toEqual(['read']);
    expect([manager.getToolCount('s'), manager.getEnabledCount('s'), manager.getUnapprovedCount('s')]).toEqual([
      2, 1, 1,
    ]);
  });

  it('lets rules decide anew and keeps the tags a tool brought along', () => {
    const manager = new ToolMetadataManager();
    manager.setServer('s', [tool('s', 'read', { tags: ['own'] }), tool('s', 'delete')]);
    manager.applyRules([
      { pattern: ['/^read$/'], enabled: true, tags: ['ruled', 'own'] },
      { pattern: ['*delete*'], enabled: false },
    ]);
    expect(manager.getTool('s', 'read')).toMatchObject({ enabled: true, tags: ['own', 'ruled'] });
    expect(manager.getTool('s', 'delete')?.enabled).toBe(false);
    manager.applyRules([{ pattern: ['read'], tags: ['other'] }]);
    expect(manager.getTool('s', 'read')).toMatchObject({ enabled: true, tags: ['own', 'other'] });
    expect(manager.getToolsByServer('s')).toHaveLength(2);
    expect(() => manager.applyRules([{ pattern: ['/(/'], enabled: true }])).toThrow(ConfigurationError);
    manager.removeServer('s');
    expect(manager.hasServer('s')).toBe(false);
  });
});
