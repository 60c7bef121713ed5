/**
 * Groups words that people and tool authors use for one another. Small on purpose: each group is about what tools do.
 * @module
 */
import { stem } from './stemmer.ts';

const GROUPS = [
  'delete remove erase drop destroy purge',
  'get fetch read retrieve obtain load',
  'show display view see print',
  'list enumerate show browse all',
  'create make new add generate build',
  'add append insert attach',
  'update edit modify change patch alter set',
  'search find query lookup locate discover seek',
  'send post publish submit',
  'run execute invoke launch perform',
  'start launch begin boot open',
  'stop halt terminate kill end cancel abort',
  'copy duplicate clone',
  'move relocate transfer rename',
  'save store write persist',
  'download fetch pull',
  'upload push import',
  'export dump extract',
  'convert transform translate',
  'compute calculate evaluate',
  'check verify validate test inspect',
  'analyze analyse examine inspect assess',
  'summarize summarise summary digest overview',
  'merge combine join concatenate',
  'repo repository',
  'pr pull merge',
  'issue bug ticket',
  'directory folder dir',
  'file document',
  'picture image photo',
  'movie film video',
  'clip video',
  'song track music',
  'mail email message',
  'message chat',
  'page webpage website site',
  'web internet online',
  'url link address',
  'website url web',
  'user account member person people',
  'contact person',
  'team group',
  'db database',
  'table sheet',
  'spreadsheet excel sheet workbook',
  'column field',
  'row record entry document',
  'config configuration setting option preference',
  'env environment',
  'doc documentation docs',
  'price cost quote rate',
  'stock share ticker equity',
  'crypto cryptocurrency coin token',
  'money currency payment',
  'weather forecast temperature',
  'event meeting appointment calendar',
  'task todo item',
  'location place position coordinates',
  'route directions path navigation',
  'map geographic geo',
  'paper article publication',
  'news headline article',
  'job career vacancy',
  'flight plane airline',
  'hotel lodging accommodation',
  'container docker',
  'k8s kubernetes',
  'vm machine instance',
  'log logs history',
  'metric statistic stats',
  'graph chart plot diagram',
  'error exception failure',
  'secret password credential',
  'permission access role',
  'size length count number',
  'latest recent newest',
  'information info detail details metadata',
  'schema structure',
  'screenshot capture snapshot',
  'branch ref',
  'comment reply note',
  'label tag category',
  'ping status health',
  'currency exchange',
  'near nearby around',
].map((group) => group.split(' '));

/** Stems that may stand for the given stem. */
export const synonymsOf = (word: string): readonly string[] => stemsWith(word.charAt(0)).get(word) ?? [];

/** Synonyms by first letter, so that the first query stems only some of the groups. */
const known = new Map<string, ReadonlyMap<string, readonly string[]>>();

/** The synonyms of all stems that begin with a letter. A stem begins with the letter its word begins with. */
function stemsWith(initial: string): ReadonlyMap<string, readonly string[]> {
  let synonyms = known.get(initial);
  // A query may begin with any character; only the letters of the groups are cached.
  if (synonyms === undefined && /[a-z]/.test(initial)) {
    synonyms = toSynonyms(initial);
    known.set(initial, synonyms);
  }
  return synonyms ?? NONE;
}

const NONE: ReadonlyMap<string, readonly string[]> = new Map();

function toSynonyms(initial: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const group of GROUPS.filter((words) => words.some((word) => word.startsWith(initial)))) {
    const stems = group.map(stem);
    for (const own of stems.filter((word) => word.startsWith(initial))) {
      const others = found.get(own) ?? new Set();
      for (const other of stems) if (other !== own) others.add(other);
      found.set(own, others);
    }
  }
  return new Map([...found].map(([own, others]) => [own, [...others]]));
}
