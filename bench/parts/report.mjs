// Measured lines in, tables or one JSON document out.
//
// A line is { what, value, unit, budget?, note? }; it is ok when the value is below its budget. A budget of 0 means
// exactly zero. Lines without a budget are there to compare with.

const isOk = ({ value, budget }) => (budget === 0 ? value === 0 : value < budget);

/** The verdict on a line: `ok`, `MISS`, or nothing where no budget is set. */
export const verdictOf = (line) => (line.budget === undefined ? '' : isOk(line) ? 'ok' : 'MISS');

const shown = (value, unit) => {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  return `${value.toFixed(digits)}${unit === '' || unit === '×' ? '' : ' '}${unit}`;
};

/** One section as text. */
export const toTable = ({ title, lines }) => {
  const rows = [
    ['', 'measured', 'budget', '', ''],
    ...lines.map((line) => [
      line.what,
      shown(line.value, line.unit),
      line.budget === undefined ? '' : `${line.budget === 0 ? '' : '< '}${shown(line.budget, line.unit)}`,
      verdictOf(line),
      line.note ?? '',
    ]),
  ];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const text = rows.map((row) =>
    row.map((cell, at) => (at === 0 || at > 2 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  '),
  );
  return [title, ...text.map((row) => `  ${row.trimEnd()}`), ''].join('\n');
};

/** Everything as one document. */
export const toDocument = (sections, machine) => ({
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  machine,
  sections: sections.map(({ name, title, lines }) => ({
    name,
    title,
    lines: lines.map((line) => ({ ...line, ok: line.budget === undefined ? undefined : isOk(line) })),
  })),
});
