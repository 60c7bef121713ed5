/**
 * Lists the names of all sources. Kept apart from the table of clients, because most configurations name no source and
 * need only this.
 * @module
 */

/**
 * The source types of all clients. `auto` reads them in this order, so the earlier client names a server that both
 * have.
 */
export const CLIENT_TYPES = [
  'claude-desktop',
  'cursor',
  'vscode',
  'devin',
  'windsurf',
  'docker-mcp',
  'zed',
  'cline',
  'roo-code',
  'continue',
  'lm-studio',
  'kiro',
  'junie',
  'jetbrains-ai-assistant',
  'warp',
  'trae',
  'antigravity',
  'claude-code',
  'codex',
  'gemini-cli',
  'qwen-code',
  'opencode',
  'goose',
  'amazon-q',
  'copilot-cli',
  'factory',
  'amp',
  'crush',
  'mistral-vibe',
] as const;

export type ClientType = (typeof CLIENT_TYPES)[number];

/** Every source type a configuration may name. */
export const SOURCE_TYPES = ['auto', 'custom', 'mcpb', ...CLIENT_TYPES] as const;

export type SourceType = (typeof SOURCE_TYPES)[number];
