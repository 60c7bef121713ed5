/**
 * Lists the verbs in names and descriptions of tools, with the categories they stand for.
 * @module
 */

/**
 * What a tool does: reads, creates, updates or deletes something; looks for something; sends a message to people; runs
 * code, a job, a payment or an action in a program; turns its input into something else; or makes new content.
 */
export const CATEGORIES = [
  'crud.read',
  'crud.create',
  'crud.update',
  'crud.delete',
  'search',
  'send',
  'execute',
  'transform',
  'generate',
] as const;

/** One of `CATEGORIES`. */
export type ToolCategory = (typeof CATEGORIES)[number];

const TABLE: readonly (readonly [verbs: string, categories: readonly ToolCategory[]])[] = [
  [
    'access browse check count describe display download dump examine export fetch get inspect introspect list load lookup observe open peek poll preview read resolve retrieve return scrape screenshot show snapshot tail trace view crawl extract ls cat head info',
    ['crud.read'],
  ],
  ['discover explore find filter grep match query recommend search locate', ['crud.read', 'search']],
  [
    'add allocate book clone commit copy create deploy duplicate enroll import index ingest insert install launch make new open order provision publish put record register remember save schedule store submit subscribe upload draft init initialize initialise establish',
    ['crud.create'],
  ],
  [
    'accept activate adjust alter append approve archive arrange assign associate attach ban block bind change close complete configure deactivate detach disable edit enable finish follow grant hide link lock manage mark merge migrate modify move mute patch pin promote reject rename reopen reorder replace reset resize restore revoke rollback rotate select set switch sync tag toggle transition unarchive unassign unblock undo unfollow unlink unlock unmute unpin update write',
    ['crud.update'],
  ],
  [
    'cancel cleanup clear delete destroy discard drop erase forget kick leave prune purge remove revert truncate trash uninstall unregister unsubscribe wipe',
    ['crud.delete'],
  ],
  ['announce broadcast comment email forward invite message notify post reply respond send share tweet', ['send']],
  [
    'abort apply authenticate authorize build buy call capture charge checkout click compile connect control debug disconnect drag emit execute fill focus go handle hover invoke kill log login logout mint navigate pause pay perform ping play press process pull push reboot restart resume run scan scroll sell sign simulate skip spawn sleep start stake stop swap swipe tap terminate test train transfer trigger type vacuum wait withdraw confirm swing',
    ['execute'],
  ],
  [
    'analyse analyze answer ask assess audit calculate classify combine compare compute convert decode decompose decrypt detect diff encode encrypt estimate evaluate explain format geocode hash interpret lint multiply normalize optimize parse predict prettify rank rate reason review score solve split sum subtract summarise summarize think tokenize transcribe transform translate validate verify echo',
    ['transform'],
  ],
  ['brainstorm compose design draw forecast generate imagine paint plot render synthesize visualize', ['generate']],
  ['upsert', ['crud.create', 'crud.update']],
];

/** The categories of each verb; a verb that is listed twice has those of its first entry. */
export const VERBS: ReadonlyMap<string, readonly ToolCategory[]> = new Map(
  [...TABLE].reverse().flatMap(([verbs, categories]) => verbs.split(' ').map((verb) => [verb, categories] as const)),
);

/** Returns the verb that a word of a sentence is a form of: `Retrieves`, `listing`. */
export function verbIn(word: string): string | undefined {
  const forms = [
    word,
    word.replace(/s$/, ''),
    word.replace(/es$/, ''),
    word.replace(/ies$/, 'y'),
    word.replace(/ing$/, ''),
    word.replace(/ing$/, 'e'),
    word.replace(/(.)\1ing$/, '$1'),
  ];
  return forms.find((form) => VERBS.has(form));
}
