/**
 * Words that people and tool authors use for one another. Small on purpose: each group is about what tools do and act on.
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
];

function buildTable(): ReadonlyMap<string, readonly string[]> {
  const table = new Map<string, Set<string>>();
  for (const group of GROUPS) {
    const stems = [...new Set(group.split(' ').map(stem))];
    for (const word of stems) {
      const others = table.get(word) ?? new Set<string>();
      for (const other of stems) if (other !== word) others.add(other);
      table.set(word, others);
    }
  }
  return new Map([...table].map(([word, others]) => [word, [...others]]));
}

let table: ReadonlyMap<string, readonly string[]> | undefined;

/** Stems that may stand for the given stem. */
export function synonymsOf(word: string): readonly string[] {
  table ??= buildTable();
  return table.get(word) ?? [];
}
