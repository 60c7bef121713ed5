/**
 * Recognises concrete things in a request and says in words what they are: `report.xlsx` is a spreadsheet, `192.0.2.7` an IP
 * address. The things themselves name no tool; what they are does.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { FRESH, OPENED, OPENING } from './act-words.ts';

/** A concrete thing and what it is. */
export interface Thing {
  /** As the request has it. */
  readonly text: string;
  /** In words of tools. */
  readonly words: string;
}

/** What a file is, by how its name ends. */
const FILES: readonly (readonly [endings: string, words: string])[] = [
  ['xlsx xls xlsm ods', 'excel spreadsheet'],
  ['csv tsv', 'csv file'],
  ['pptx ppt odp', 'powerpoint presentation'],
  ['docx doc odt', 'word document'],
  ['pdf', 'pdf'],
  ['txt md log rst json yaml yml toml ini xml', 'text file'],
  ['png jpg jpeg gif webp heic bmp tiff svg', 'image'],
  ['mp3 wav m4a flac ogg aac', 'audio'],
  ['mp4 mkv mov avi webm', 'video'],
  ['srt vtt', 'subtitles'],
  ['py', 'python script'],
  ['ipynb', 'jupyter notebook'],
  ['js ts java go rs c cpp rb php', 'code file'],
  ['sh bash ps1', 'shell script'],
  ['sql', 'sql query'],
  ['db sqlite sqlite3', 'sqlite database'],
  ['zip tar gz rar 7z', 'archive'],
  ['html htm', 'html page'],
  ['geojson kml gpx shp', 'geographic map'],
  ['ics', 'calendar event'],
  ['eml', 'email'],
  ['vcf', 'contact'],
  ['stl step blend gltf', '3d model'],
  ['tf', 'terraform'],
];

/** How names of files end. */
export const FILE_ENDINGS: readonly string[] = FILES.flatMap(([endings]) => endings.split(' '));

/** What an address in the web leads to, by host and path. The first that fits counts. */
const PLACES: readonly (readonly [place: RegExp, words: string])[] = [
  [/^(?:\w+\.)?(?:youtube\.com|youtu\.be)\b/, 'youtube video'],
  [/^(?:vimeo|bilibili|tiktok)\.com\b/, 'video'],
  [/^github\.com\/[^/]+\/[^/]+\/pull/, 'github pull request'],
  [/^github\.com\/[^/]+\/[^/]+\/issues/, 'github issue'],
  [/^github\.com\/[^/]+\/[^/]+\/commit/, 'github commit'],
  [/^(?:raw\.)?github(?:usercontent)?\.com\b/, 'github repository'],
  [/^gitlab\.com\b/, 'gitlab repository'],
  [/^(?:\w+\.)?arxiv\.org\b/, 'arxiv paper'],
  [/^(?:dx\.)?doi\.org\b/, 'paper'],
  [/^(?:\w+\.)?wikipedia\.org\b/, 'wikipedia article'],
  [/^docs\.google\.com\/spreadsheets/, 'google sheets spreadsheet'],
  [/^docs\.google\.com\/presentation/, 'google slides presentation'],
  [/^docs\.google\.com\/document/, 'google docs document'],
  [/^drive\.google\.com\b/, 'google drive file'],
  [/^(?:twitter|x)\.com\b/, 'tweet'],
  [/^(?:\w+\.)?reddit\.com\b/, 'reddit post'],
  [/^(?:\w+\.)?linkedin\.com\b/, 'linkedin profile'],
  [/^(?:\w+\.)?stackoverflow\.com\b/, 'stackoverflow question'],
  [/^(?:\w+\.)?notion\.(?:so|site)\b/, 'notion page'],
  [/^(?:\w+\.)?figma\.com\b/, 'figma design'],
  [/^[\w-]+\.atlassian\.net\b/, 'jira issue'],
  [/^huggingface\.co\b/, 'hugging face model'],
  [/^(?:www\.)?npmjs\.com\b/, 'npm package'],
  [/^pypi\.org\b/, 'python package'],
];

/** One opens a ticket to make it, and a file to read it. */
const NEW_CASE = new RegExp(
  `\\b(?:${[...OPENING].join('|')})\\s(?:${[...FRESH].join('|')})\\s(?:[\\w-]+\\s){0,2}(?:${[...OPENED].join('|')})\\b`,
  'giu',
);

/** What the other kinds look like. Every pattern is linear. */
const KINDS: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/\b(?:arxiv:\s?)?\d{4}\.\d{4,5}(?:v\d)?(?![\d.])/giu, 'arxiv paper'],
  [/\b10\.\d{4,9}\/[^\s,;]+/gu, 'paper doi'],
  [/(?<![^\s<>"'(),;])[^\s@<>"'(),;]+@[^\s@<>"'(),;]+\.\p{L}{2,}/gu, 'email'],
  [/(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/gu, 'ip address'],
  [/(?<![\w:])[0-9a-f]{1,4}(?:::?[0-9a-f]{1,4}){3,7}(?![\w:])/giu, 'ip address'],
  [/(?<![\d.])-?\d{1,3}\.\d{2,},\s?-?\d{1,3}\.\d{2,}(?![\d.])/gu, 'coordinates'],
  [/(?<![\w-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![\w-])/gu, 'git commit'],
  [
    /\bSELECT\s[^;]{1,200}?\sFROM\b|\bselect\s(?:\*|\w+\([^()]{0,80}\)|\w+(?:,\s?\w+){0,20})\sfrom\s(?!(?:the|my|a|an|this|all)\b)/gu,
    'sql query',
  ],
  [/\binsert\s+into\b|\bdelete\s+from\b|\bupdate\s+\w+\s+set\b/giu, 'sql query'],
  [/(?<!\w)\$[A-Z]{2,5}(?!\w)|\b(?:NASDAQ|NYSE|LSE|HKEX):\s?[A-Z0-9.]{1,6}\b/gu, 'stock price'],
  [/\b(?:AAPL|MSFT|GOOGL?|AMZN|NVDA|TSLA|NFLX|AMD|INTC)\b/gu, 'stock price'],
  [/\b(?:BTC|ETH|SOL|XRP|DOGE|USDT|ADA)\b/gu, 'cryptocurrency price'],
  [/\b0x[0-9a-f]{40}\b/giu, 'ethereum wallet address'],
  [/\bCVE-\d{4}-\d{4,}\b/giu, 'vulnerability cve'],
  [/\barn:aws:\S+/gu, 'aws resource'],
  [/(?<![\w#/&])#[a-z][\w-]+/gu, 'channel'],
  [/(?<![\w@/.])@[a-z]\w+/giu, 'user'],
  [/(?<!\w)\+\d[\d\s-]{7,14}\d(?!\w)/gu, 'phone number'],
  [NEW_CASE, 'create'],
];

const URL = /\bhttps?:\/\/[^\s<>"')]+/giu;
const CHUNK = /[\p{L}\p{N}_.-]+/gu;

const byEnding = new Map(FILES.flatMap(([endings, words]) => endings.split(' ').map((ending) => [ending, words])));

const placeOf = (url: string): string => {
  const place = url.replace(/^https?:\/\/(?:www\.)?/i, '').toLowerCase();
  return PLACES.find(([pattern]) => pattern.test(place))?.[1] ?? 'url web page';
};

function fileOf(chunk: string): string | undefined {
  const name = chunk.replace(/\.+$/, '');
  const dot = name.lastIndexOf('.');
  return dot > 0 ? byEnding.get(name.slice(dot + 1).toLowerCase()) : undefined;
}

/** The concrete things of a request, one of each kind. */
export function thingsOf(text: string): Thing[] {
  const found = new Map<string, Thing>();
  /** Reads the things of a pattern and takes them out, so that none is read twice. */
  const take = (left: string, pattern: RegExp, wordsOf: (thing: string) => string | undefined): string =>
    left.replace(pattern, (thing) => {
      const words = wordsOf(thing);
      if (words === undefined) return thing;
      if (!found.has(words) && found.size < LIMITS.search.things) found.set(words, { text: thing, words });
      return ' ';
    });
  const rest = KINDS.reduce((left, [pattern, words]) => take(left, pattern, () => words), take(text, URL, placeOf));
  take(rest, CHUNK, fileOf);
  return [...found.values()];
}
