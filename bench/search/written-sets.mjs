// Reads the sets that were written by hand for this project (test/fixtures/search): the tools of a workplace, and
// requests for them. A line of tools is `server:tool(parameters): description`, one of requests
// `request => server:tool | another + one more`, where `|` stands between tools of which one is enough.
import { readFileSync } from 'node:fs';
import { corpusOf, toLists } from '../parts/tool-corpus.mjs';

const FOLDER = new URL('../../test/fixtures/search/', import.meta.url);
const TOOL = /^([^:]+):(\w+)\((.*)\): (.+)$/;

const linesOf = (file) => readFileSync(new URL(file, FOLDER), 'utf8').trim().split('\n');

const toTool = (line) => {
  const [, server, name, parameters, description] = TOOL.exec(line);
  const names = parameters === '' ? [] : parameters.split(', ');
  const properties = Object.fromEntries(names.map((each) => [each, { type: 'string' }]));
  return { server, name, description, inputSchema: { type: 'object', properties } };
};

const toQuery = (line) => {
  const [query, needs] = line.split(' => ');
  const relevant = needs.split(' + ').flatMap((need, group) =>
    need.split(' | ').map((tool) => {
      const [server, name] = tool.split(':');
      return { server, name, group };
    }),
  );
  return { query, relevant };
};

let lists;

/** The tools of a workplace. */
export const writtenTools = () => {
  lists ??= toLists(corpusOf(linesOf('workplace.tools.txt').map(toTool)));
  return lists;
};

/** A written set. */
export const writtenSet = (name) => ({
  name,
  given: true,
  isScale: false,
  variation: name,
  lists: writtenTools(),
  queries: linesOf(`${name}.txt`).map(toQuery),
});

/** Tasks `text => query: tool | another; query: tool`, with a query for each act. */
export const writtenTasks = () =>
  linesOf('tasks.txt').map((line) => {
    const [text, needs] = line.split(' => ');
    return {
      text,
      needs: needs.split('; ').map((need) => {
        const [query, tools] = need.split(/: (.*)/);
        return { query, tools: tools.split(' | ') };
      }),
    };
  });
