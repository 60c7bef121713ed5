// Implements the plainest BM25: name and description as one text, lower-case words, k1 1.2, b 0.75.

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Indexes documents `{server, name, text}` and returns a function from query and limit to the best of them. */
export const plainBm25 = (documents, { k1 = 1.2, b = 0.75 } = {}) => {
  const postings = new Map();
  const lengths = documents.map(({ text }, document) => {
    const words = wordsOf(text);
    const counts = new Map();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      if (!postings.has(word)) postings.set(word, []);
      postings.get(word).push([document, count]);
    }
    return words.length;
  });
  const usual = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, documents.length);
  return (query, limit) => {
    const scores = new Map();
    for (const word of new Set(wordsOf(query))) {
      const found = postings.get(word) ?? [];
      const idf = Math.log(1 + (documents.length - found.length + 0.5) / (found.length + 0.5));
      for (const [document, count] of found) {
        const norm = k1 * (1 - b + (b * lengths[document]) / usual);
        scores.set(document, (scores.get(document) ?? 0) + (idf * count * (k1 + 1)) / (count + norm));
      }
    }
    return [...scores]
      .sort((x, y) => y[1] - x[1] || x[0] - y[0])
      .slice(0, limit)
      .map(([document]) => documents[document]);
  };
};
