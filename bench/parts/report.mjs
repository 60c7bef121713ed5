// Formats measured lines as tables or as one JSON document.
//
// A line is { what, value, unit, budget?, atLeast?, note? }. It is ok if the value is below its budget or, with
// `atLeast`, not below it. A budget of 0 means exactly zero. Lines without a budget are for comparison. A section has
// lines, and tables { title, head, rows, left? } of words if one number per line is not enough.

const isOk = ({ value, budget, atLeast = false }) =>
  atLeast ? value >= budget : budget === 0 ? value === 0 : value < budget;

/** The verdict on a line: `ok`, `MISS`, or empty without a budget. */
export const verdictOf = (line) => (line.budget === undefined ? '' : isOk(line) ? 'ok' : 'MISS');

const shown = (value, unit) => {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  return `${value.toFixed(digits)}${unit === '' || unit === '×' ? '' : ' '}${unit}`;
};

const shownBudget = ({ budget, atLeast, unit }) =>
  budget === undefined ? '' : `${atLeast ? '>= ' : budget === 0 ? '' : '< '}${shown(budget, unit)}`;

/** Formats rows of cells as aligned text; the columns in `left` are aligned left, the others right. */
const toGrid = (rows, left) => {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) => {
    const cells = row.map((cell, at) => (left.has(at) ? cell.padEnd(widths[at]) : cell.padStart(widths[at])));
    return `  ${cells.join('  ').trimEnd()}`;
  });
};

const ofLines = (lines) => {
  if (lines.length === 0) return [];
  const rows = lines.map((line) => [
    line.what,
    shown(line.value, line.unit),
    shownBudget(line),
    verdictOf(line),
    line.note ?? '',
  ]);
  return toGrid([['', 'measured', 'budget', '', ''], ...rows], new Set([0, 3, 4]));
};

/** One section as text. */
export const toTable = ({ title, lines, tables = [] }) =>
  [
    title,
    ...tables.flatMap(({ title: of, head, rows, left = [0] }) => [
      `  ${of}`,
      ...toGrid([head, ...rows], new Set(left)),
      '',
    ]),
    ...ofLines(lines),
    '',
  ].join('\n');

/** Everything as one document. */
export const toDocument = (sections, machine) => ({
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  machine,
  sections: sections.map(({ name, title, lines, data }) => ({
    name,
    title,
    ...data,
    lines: lines.map((line) => ({ ...line, ok: line.budget === undefined ? undefined : isOk(line) })),
  })),
});
