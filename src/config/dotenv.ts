/**
 * Parses the text of a `.env` file. One variable a line; `export`, quotes and comments are understood; nothing is
 * expanded.
 * @module
 */

/** Returns the variables of a dotenv file. The last of each name counts. */
export function parseDotenv(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const cut = line.indexOf('=');
    const name = line
      .slice(0, Math.max(cut, 0))
      .trim()
      .replace(/^export\s/, '')
      .trim();
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) variables.set(name, toValue(line.slice(cut + 1).trim()));
  }
  return variables;
}

function toValue(written: string): string {
  const quote = written.charAt(0);
  const end = quote === '"' || quote === "'" || quote === '`' ? written.indexOf(quote, 1) : -1;
  if (end !== -1) {
    const inside = written.slice(1, end);
    return quote === '"' ? inside.replaceAll('\\n', '\n') : inside;
  }
  const comment = written.indexOf(' #');
  return comment === -1 ? written : written.slice(0, comment).trimEnd();
}
