// Makes a release: checks the tree, sets the version, dates the changelog, commits, tags and publishes.
//
//   npm run release -- VERSION|major|minor|patch [--dry-run | --no-publish]
//
// --dry-run     prints every step and changes nothing
// --no-publish  stops after the tag; CI publishes (npm signs provenance only in CI)
//
// Works in the current folder, so that a test can run it in a repository of its own.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const USAGE = 'Usage: npm run release -- VERSION|major|minor|patch [--dry-run | --no-publish]';
const VERSION_FILE = 'src/core/version.ts';
const RELEASED_FILES = ['package.json', 'package-lock.json', VERSION_FILE, 'CHANGELOG.md'];
const PUBLISH = ['npm', 'publish', '--provenance', '--access', 'public'];

const stop = (message) => {
  console.error(message);
  process.exit(1);
};

const options = process.argv.slice(2);
const dryRun = options.includes('--dry-run');
const publishes = !options.includes('--no-publish');
const [wanted, ...rest] = options.filter((option) => !['--dry-run', '--no-publish'].includes(option));
if (wanted === undefined || rest.length > 0) stop(USAGE);

const run = (command, ...args) =>
  spawnSync(command, args, { encoding: 'utf8', shell: process.platform === 'win32' && command === 'npm' });
const read = (file) => readFileSync(file, 'utf8');

/** The version after `current`, or the one that was named. */
const nextVersion = (current) => {
  const numbers = current.split('.').map(Number);
  const at = ['major', 'minor', 'patch'].indexOf(wanted);
  if (at !== -1) return numbers.map((number, n) => (n < at ? number : n === at ? number + 1 : 0)).join('.');
  const named =
    /^(\d+)\.(\d+)\.(\d+)$/.exec(wanted)?.slice(1).map(Number) ?? stop(`"${wanted}" is no version.\n${USAGE}`);
  const first = named.findIndex((number, n) => number !== numbers[n]);
  return first !== -1 && named[first] > numbers[first] ? wanted : stop(`${wanted} does not come after ${current}.`);
};

const current = JSON.parse(read('package.json')).version;
const version = nextVersion(current);
const today = new Date().toISOString().slice(0, 10);

/** Every file of a release with its new text. Stops the release unless each place is found exactly once. */
const edits = [
  ['package.json', `"version": "${current}"`, `"version": "${version}"`],
  [VERSION_FILE, `'${current}'`, `'${version}'`],
  ['CHANGELOG.md', '## Unreleased\n', `## ${version} (${today})\n`],
].map(([file, from, to]) => {
  const parts = read(file).split(from);
  if (parts.length !== 2) stop(`${file}: expected ${JSON.stringify(from)} once, found it ${parts.length - 1} times.`);
  return { file, from: from.trim(), to: to.trim(), text: parts.join(to) };
});

/** The lock file has the version twice, for the package and for its root entry. */
const lockText = () => {
  const lock = JSON.parse(read('package-lock.json'));
  lock.version = version;
  lock.packages[''].version = version;
  return `${JSON.stringify(lock, null, 2)}\n`;
};

const must = (command, ...args) => {
  const done = spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' && command === 'npm' });
  if (done.status !== 0) stop(`"${[command, ...args].join(' ')}" failed; nothing after it was done.`);
};

/** What prevents a release now. */
const obstacles = () => {
  const dirty = run('git', 'status', '--porcelain').stdout.trim();
  const tagged = run('git', 'tag', '--list', `v${version}`).stdout.trim();
  const { repository } = JSON.parse(read('package.json'));
  return [
    ...(dirty === '' ? [] : [`the tree is not clean:\n${dirty}`]),
    ...(tagged === '' ? [] : [`tag v${version} exists`]),
    ...(publishes && repository === undefined ? ['package.json names no "repository", which provenance needs'] : []),
  ];
};

const STEPS = [
  { what: 'npm run check', act: () => must('npm', 'run', 'check') },
  ...edits.map(({ file, from, to, text }) => ({
    what: `${file}: ${from} → ${to}`,
    act: () => writeFileSync(file, text),
  })),
  { what: `package-lock.json: ${current} → ${version}`, act: () => writeFileSync('package-lock.json', lockText()) },
  {
    what: `git commit: Release ${version}`,
    act: () => {
      must('git', 'add', ...RELEASED_FILES);
      must('git', 'commit', '--quiet', '--message', `Release ${version}`);
    },
  },
  {
    what: `git tag v${version}`,
    act: () => must('git', 'tag', '--annotate', `v${version}`, '--message', `Release ${version}`),
  },
  ...(publishes ? [{ what: PUBLISH.join(' '), act: () => must(...PUBLISH) }] : []),
];

const found = obstacles();
for (const obstacle of found) console.error(`✗ ${obstacle}`);
if (found.length > 0 && !dryRun) stop('Not released.');
for (const { what, act } of STEPS) {
  console.log(`${dryRun ? 'would do' : 'doing'}: ${what}`);
  if (!dryRun) act();
}
if (!dryRun) console.log(`Next: git push --follow-tags${publishes ? '' : `, then in CI: ${PUBLISH.join(' ')}`}`);
