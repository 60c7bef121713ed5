/**
 * Sample MCP server: a notebook kept in memory. Speaks MCP on stdio, forgets everything when it exits.
 * @module
 */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const notes = new Map();
let lastId = 0;

const addNote = (title, body, tags) => {
  lastId += 1;
  const note = { id: `note-${lastId}`, title, body, tags };
  notes.set(note.id, note);
  return note;
};
addNote('Shopping list', 'Milk, eggs, coffee beans, washing powder', ['home']);
addNote('Quarterly review', 'Ask finance for the travel numbers before Thursday.', ['work', 'finance']);
addNote('Bread recipe', '500 g flour, 350 g water, 10 g salt, 2 g yeast. Bake at 240 °C for 40 minutes.', [
  'home',
  'recipes',
]);

const answer = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const refuse = (message) => ({ content: [{ type: 'text', text: message }], isError: true });
const missing = (id) => refuse(`There is no note "${id}". Use list_notes to see the ids.`);
const brief = ({ id, title, tags }) => ({ id, title, tags });

const noteId = z.string().describe('The id of the note, for example note-1');
const readOnly = { readOnlyHint: true, openWorldHint: false };

/** Builds one server; the notes are shared by all of them. */
const build = () => {
  const server = new McpServer(
    { name: 'notes', title: 'Notes', version: '1.0.0' },
    { instructions: 'A small notebook. Notes have a title, a body in Markdown and tags.' },
  );

  server.registerTool(
    'create_note',
    {
      description:
        'Write a new note with a title, a body in Markdown and optional tags. Returns the new note with its id.',
      inputSchema: z.object({
        title: z.string().min(1).describe('One line that names the note'),
        body: z.string().describe('The text of the note, in Markdown'),
        tags: z.array(z.string()).default([]).describe('Labels to find the note by'),
      }),
    },
    async ({ title, body, tags }) => answer(addNote(title, body, tags)),
  );

  server.registerTool(
    'get_note',
    { description: 'Read one note in full by its id.', inputSchema: z.object({ id: noteId }), annotations: readOnly },
    async ({ id }) => (notes.has(id) ? answer(notes.get(id)) : missing(id)),
  );

  server.registerTool(
    'list_notes',
    {
      description: 'List all notes, newest first: id, title and tags. Optionally only those with a certain tag.',
      inputSchema: z.object({ tag: z.string().optional().describe('Only notes that carry this tag') }),
      annotations: readOnly,
    },
    async ({ tag }) =>
      answer(
        [...notes.values()]
          .reverse()
          .filter((note) => tag === undefined || note.tags.includes(tag))
          .map(brief),
      ),
  );

  server.registerTool(
    'search_notes',
    {
      description: 'Find notes whose title or body contains all of the given words, ignoring case.',
      inputSchema: z.object({ query: z.string().min(1).describe('Words to look for') }),
      annotations: readOnly,
    },
    async ({ query }) => {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      const text = (note) => `${note.title}\n${note.body}`.toLowerCase();
      return answer([...notes.values()].filter((note) => words.every((word) => text(note).includes(word))).map(brief));
    },
  );

  server.registerTool(
    'update_note',
    {
      description: 'Replace the title or the body of a note. What is left out stays as it is.',
      inputSchema: z.object({ id: noteId, title: z.string().min(1).optional(), body: z.string().optional() }),
      annotations: { idempotentHint: true },
    },
    async ({ id, title, body }) => {
      const note = notes.get(id);
      if (!note) return missing(id);
      if (title !== undefined) note.title = title;
      if (body !== undefined) note.body = body;
      return answer(note);
    },
  );

  server.registerTool(
    'append_to_note',
    {
      description: 'Add a paragraph to the end of a note, for example a new item to a list.',
      inputSchema: z.object({ id: noteId, text: z.string().min(1).describe('What to add') }),
    },
    async ({ id, text }) => {
      const note = notes.get(id);
      if (!note) return missing(id);
      note.body = `${note.body}\n${text}`;
      return answer(note);
    },
  );

  server.registerTool(
    'tag_note',
    {
      description: 'Add tags to a note and remove others, in one step.',
      inputSchema: z.object({
        id: noteId,
        add: z.array(z.string()).default([]),
        remove: z.array(z.string()).default([]),
      }),
      annotations: { idempotentHint: true },
    },
    async ({ id, add, remove }) => {
      const note = notes.get(id);
      if (!note) return missing(id);
      note.tags = [...new Set([...note.tags, ...add])].filter((tag) => !remove.includes(tag));
      return answer(note);
    },
  );

  server.registerTool(
    'list_tags',
    {
      description: 'List every tag in use and how many notes carry it.',
      inputSchema: z.object({}),
      annotations: readOnly,
    },
    async () => {
      const counts = new Map();
      for (const note of notes.values()) for (const tag of note.tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
      return answer([...counts].sort().map(([tag, count]) => ({ tag, count })));
    },
  );

  server.registerTool(
    'delete_note',
    {
      description: 'Delete a note for good. There is no undo.',
      inputSchema: z.object({ id: noteId }),
      annotations: { destructiveHint: true },
    },
    async ({ id }) => (notes.delete(id) ? answer({ deleted: id }) : missing(id)),
  );

  return server;
};

serveStdio(build);
