// Measures search, listing, details and reload in one process, and their memory. Every size gets its own process
// (search-child.mjs), so that memory is counted from zero.
import { inChild } from '../parts/in-child.mjs';

export const title = 'Search (in process)';

const CHILD = new URL('./search-child.mjs', import.meta.url);

export const measure = async ({ corpus, queries }) => {
  const lines = [];
  for (const tools of [1000, 10_000, 50_000]) {
    const { p50, p99, megabytes, indexed } = inChild(CHILD, 'index', tools);
    const size = `${tools / 1000}k tools`;
    lines.push(
      { what: `${size}: search, p50`, value: p50, unit: 'ms', note: `indexed in ${indexed.toFixed(0)} ms` },
      { what: `${size}: search, p99`, value: p99, unit: 'ms', ...(tools === 10_000 && { budget: 5 }) },
      { what: `${size}: index, after GC`, value: megabytes, unit: 'MB' },
    );
  }
  if (corpus && queries) {
    const { p50, p99, tools } = inChild(CHILD, 'index', corpus, queries);
    lines.push({
      what: `given corpus: search, p99`,
      value: p99,
      unit: 'ms',
      budget: 5,
      note: `p50 ${p50.toFixed(2)} ms, ${tools} tools`,
    });
  }
  const engine = inChild(CHILD, 'engine');
  lines.push(
    {
      what: 'list from cache, p99',
      value: engine.list,
      unit: 'ms',
      budget: 5,
      note: `first read from disk ${engine.firstList.toFixed(2)} ms`,
    },
    {
      what: 'details from cache, p99',
      value: engine.details,
      unit: 'ms',
      budget: 5,
      note: `first read from disk ${engine.firstDetails.toFixed(2)} ms`,
    },
    { what: 'reload, 100 servers', value: engine.reload, unit: 'ms', budget: 500, note: '1,000 tools, median of 9' },
    { what: '1,000 servers, 10,000 tools: ready index only', value: engine.ready, unit: 'MB', budget: 100 },
    { what: '1,000 servers, 10,000 tools: all definitions too', value: engine.loaded, unit: 'MB', budget: 100 },
  );
  return lines;
};
