import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import type { ToolDefinition } from '../core/types.ts';
import { aboutTokens, definitionTokens } from './definition-tokens.ts';
import { metaToolDefinitions } from './meta-tools.ts';

const issue = {
  name: 'create_issue',
  description: 'Create a new issue in a GitHub repository. Labels that do not exist are created on the way.',
  inputSchema: {
    type: 'object',
    properties: {
      owner: { type: 'string', description: 'Repository owner (username or organization)' },
      repo: { type: 'string', description: 'Repository name' },
      title: { type: 'string', description: 'Issue title' },
      labels: { type: 'array', items: { type: 'string' }, description: 'Names of labels' },
      state: { type: 'string', enum: ['open', 'closed'], default: 'open' },
    },
    required: ['owner', 'repo', 'title'],
    additionalProperties: false,
  },
};
const real = ({ name, description, inputSchema }: Pick<ToolDefinition, 'name' | 'description' | 'inputSchema'>) =>
  encode(JSON.stringify({ name, description, inputSchema })).length;

describe('about how many tokens a definition takes', () => {
  it('is near what o200k counts, and leaves out what no model sees', () => {
    const counted = real(issue);
    expect(Math.abs(definitionTokens(issue) - counted)).toBeLessThanOrEqual(counted * 0.15);
    expect(definitionTokens({ ...issue, annotations: { title: 'x'.repeat(1000) } } as never)).toBe(
      definitionTokens(issue),
    );
  });

  it('is near for the five meta-tools, too', () => {
    const tools = metaToolDefinitions(['github', 'jira']);
    const counted = tools.reduce((sum, tool) => sum + real(tool), 0);
    const estimated = tools.reduce((sum, tool) => sum + definitionTokens(tool), 0);
    expect(Math.abs(estimated - counted)).toBeLessThanOrEqual(counted * 0.15);
  });

  it('is nothing for nothing', () => {
    expect(aboutTokens('')).toBe(0);
  });
});
