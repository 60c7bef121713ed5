import { describe, expect, it } from 'vitest';
import { makeTool } from '../../test/fixtures/search/make-tool.ts';
import { requests, workplace } from '../../test/fixtures/search/written.ts';
import type { ToolMetadata } from '../core/types.ts';
import { evaluate, summarize } from './evaluate.ts';
import { goalOf } from './goal.ts';
import { SearchEngine } from './search-engine.ts';
import type { SearchEngineOptions } from './settings.ts';

describe('the goal of a request', () => {
  it.each([
    ['rename a file', ['rename'], ['file']],
    ['please delete the old feature branch from origin', ['delete'], ['old', 'feature', 'branch']],
    ['I want to restart the pod web-1', ['restart'], ['pod', 'web-1']],
    ['open a pull request', ['open', 'create'], ['pull', 'request']],
    ['open the pull request', ['open'], ['pull', 'request']],
    ['create a ticket titled "Broken"', ['create', 'open'], ['ticket']],
    ['make a chart from a sheet', ['make'], ['chart']],
  ])('of %j is an act and its object', (request, acts, object) => {
    expect(goalOf(request)).toEqual({ acts, object });
  });

  it.each([
    '',
    'weather in Paris',
    'get the file',
    'call off the meeting',
    'who owns the repository',
    'merge',
    'delete it',
    'make the chart wider',
  ])('is not read from %j', (request) => {
    expect(goalOf(request)).toBeUndefined();
  });
});

describe('a tool for another act or another thing', () => {
  const values = (...list: string[]): Partial<ToolMetadata> => ({
    inputSchema: { type: 'object', properties: { action: { type: 'string', enum: list } } },
  });
  const tools = [
    makeTool('tasks', 'rename_tag', 'Rename an existing tag', {
      inputSchema: { type: 'object', properties: { tag: { type: 'string' }, file: { type: 'string' } } },
    }),
    makeTool('drive', 'move_file', 'Move or rename files and directories. Fails if the destination exists.'),
    makeTool('drive', 'read_file', 'Read a file.'),
    makeTool('kube', 'exec_in_pod', 'Execute a command in a pod or container and return the output. Deletes nothing.'),
    makeTool('kube', 'remove_resource', 'Delete resources by type, name or labels, as pods and services'),
    makeTool('kube', 'pod_lifecycle', 'Manage a running workload', values('start', 'stop', 'restart')),
    makeTool('forge', 'get_pull_request', 'Get details of a specific pull request'),
    makeTool('forge', 'update_pull_request', 'Update the title and the description of an open pull request'),
    makeTool('sheets', 'copy_sheet', 'Copy a sheet of a workbook to a new sheet'),
    makeTool('sheets', 'create_chart', 'Creates a chart.'),
    makeTool('forge', 'create_pull_request', 'Create a new pull request in a repository'),
  ];
  const engineOf = (options: SearchEngineOptions = {}): SearchEngine => {
    const engine = new SearchEngine(options);
    engine.index(tools);
    return engine;
  };

  it.each([
    ['rename a file', 'move_file'],
    ['delete a pod', 'remove_resource'],
    ['restart a pod', 'pod_lifecycle'],
    ['open a pull request', 'create_pull_request'],
    ['make a chart from a sheet', 'create_chart'],
  ])('is not first for %j', (request, wanted) => {
    expect(engineOf().search(request)[0]?.tool).toBe(wanted);
  });

  it('would be first for some of them if the goal were not read', () => {
    const first = (request: string) => engineOf({ without: ['goals'] }).search(request)[0]?.tool;
    expect(first('delete a pod')).toBe('exec_in_pod');
  });

  it('is still found, and an explanation tells what was asked', () => {
    const engine = engineOf();
    expect(engine.search('rename a file').map(({ tool }) => tool)).toContain('rename_tag');
    const explained = engine.explain('rename a file', tools[0] as ToolMetadata);
    expect(explained?.goal).toEqual({ acts: ['rename'], object: ['file'] });
    const { words, meaning, total } = explained?.score ?? { words: 0, meaning: 0, total: 0 };
    expect(total).toBeCloseTo(0.85 * 0.5 * (words + meaning));
    expect(engine.explain('weather in Paris', tools[0] as ToolMetadata)).not.toHaveProperty('goal');
  });

  it('is hardly ever first among the tools of a workplace', async () => {
    const engine = new SearchEngine();
    engine.index(workplace());
    const rank = (query: string, limit: number) =>
      engine.search(query, { limit }).map(({ server, tool }) => ({ server, name: tool }));
    const { figures } = summarize([await evaluate({ rank }, requests('plain-acts'))]);
    expect(figures.hit1.value).toBeGreaterThanOrEqual(0.97);
  });
});
