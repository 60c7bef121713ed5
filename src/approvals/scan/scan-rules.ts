/**
 * Lists the phrases and places that the scanner looks for, in several languages. A phrase is written as its words: `|`
 * between alternatives, `~n` for up to n other words.
 * @module
 */
import { compilePhrase, type Phrase, PhraseBook } from './phrases.ts';

/** What a phrase can be. */
export type PhraseRule = 'instruction' | 'other-tools' | 'exfiltration';

const any = (words: string): string => words.replaceAll(' ', '|');

const ORDERS = any(
  'instruction instructions prompt prompts rule rules guideline guidelines directive directives directions policy policies safeguards guardrails restrictions',
);
const ORDERS_ELSEWHERE = any(
  'anweisung anweisungen anweisungen regeln vorgaben instruktionen consignes instructions regles directives instrucciones reglas indicaciones instrucoes regras istruzioni regole инструкции инструкция указания правила',
);
const TELL = any(
  'tell telling inform informing mention mentioning reveal revealing disclose disclosing notify notifying alert alerting warn warning',
);
const PERSON = any('user users human humans person people operator anyone anybody');
const GIVE = any(
  'send post upload forward transmit exfiltrate submit leak deliver mail email sende schicke envoie envoyer envia enviar invia отправь отправьте перешли 发送 發送 上传 送信 전송',
);
const PRIVATE = any(
  'credentials credential password passwords secret secrets tokens conversation conversations history keys private passworter passwort zugangsdaten identifiants contrasenas credenciales senhas пароли пароль 密码 密碼 凭据 パスワード 비밀번호',
);
const CHAT = any('conversation chat dialogue dialog transcript');

const WRITTEN: Readonly<Record<PhraseRule, readonly string[]>> = {
  instruction: [
    // Earlier instructions do not count any more.
    `ignore|disregard|forget|override|discard|neglect|overrule ~4 ${any('previous prior above earlier preceding former existing original system developer safety security')} ~3 ${ORDERS}`,
    `ignore|disregard|forget|bypass|override|disable|circumvent|evade ~3 safety|ethical|security|content ~1 ${ORDERS}`,
    `ignore|disregard|forget ~1 everything|anything|all ~3 ${any('above before previously told said')}`,
    `ignoriere|ignorieren|vergiss|missachte ~4 ${any('vorherigen vorherige bisherigen bisherige frueheren fruhere fruheren obigen alle allen')} ~2 ${ORDERS_ELSEWHERE}`,
    `ignore|ignorez|ignorer|oublie|oubliez ~3 ${ORDERS_ELSEWHERE} ~2 ${any('precedentes precedents anterieures ci dessus')}`,
    `ignora|ignore|olvida|olvide|desconsidere|esqueca|dimentica|ignorare ~4 ${ORDERS_ELSEWHERE} ~2 ${any('anteriores previas anterior precedenti precedente')}`,
    `ignora|ignore|olvida|esqueca|dimentica ~2 ${any('anteriores previas precedenti')} ~1 ${ORDERS_ELSEWHERE}`,
    `игнорируй|игнорируйте|забудь|забудьте ~4 ${any('предыдущие предыдущих прежние прошлые все')} ~2 ${ORDERS_ELSEWHERE}`,
    '忽略|无视|無視|忘记|忘掉 ~6 之前|以前|先前|上述|以上|前面|所有 ~4 指令|指示|提示|说明|规则|命令',
    '以前|これまで|上記|前 ~4 指示|命令|ルール ~4 無視|忘れて',
    '이전|위의|앞의 ~6 지시|지침|명령 ~6 무시|잊어',
    `${ORDERS} ~6 no longer ~1 apply|count|valid|matter|binding`,
    `set|put aside ~3 ${ORDERS}`,
    `pay no attention ~6 ${ORDERS}|message|says|said|told`,
    `${any('alle samtliche bisherigen fruheren vorherigen obigen')} ~3 ${ORDERS_ELSEWHERE} ~3 ignorieren|vergessen|missachten|ignoriert`,
    `your|previous|prior|earlier|former|system ~1 ${ORDERS} ~3 outdated|void|obsolete|superseded|revoked|cancelled|replaced`,
    'you ~2 were|are told|instructed|taught ~6 void|invalid|obsolete|outdated|wrong',
    // Something is to stay hidden from the person.
    `${PERSON} ~1 not|doesnt|dont|wont|cannot|never ~3 notice|hear|realise|realize|suspect`,
    `remain|remains|stay|stays|kept|be ~1 hidden|invisible|secret|concealed ~1 from|to ~1 ${PERSON}`,
    'ninforme|ninformez|navertis|navertissez ~4 utilisateur|lutilisateur',
    `not|dont|never|without|avoid|refrain|mustnt|cannot ~1 ${TELL} ~10 ${PERSON}`,
    `not|dont|never|without|no ~3 let|letting ~3 ${PERSON} ~1 know|see|notice|find`,
    `no need ~1 tell|inform|notify|ask|warn ~2 ${PERSON}`,
    `not|dont|never|without ~1 show|showing|display|expose|present ~4 to ~1 ${PERSON}`,
    `${PERSON} ~2 must|should|may|shall|need ~1 not|never ~1 be ~1 told|informed|notified|aware|asked`,
    `hide|conceal|keep|withhold ~6 from ~1 ${PERSON}`,
    `keep ~3 secret|hidden|confidential ~3 from|${PERSON}`,
    `${PERSON} ~2 must|should|may|shall|need ~1 not|never ~1 know|see|notice|learn|find`,
    `silently|secretly|covertly|discreetly|stealthily ~1 ${any('read send call copy forward add include upload collect invoke append transmit bcc fetch attach log')}`,
    'nicht|ohne|niemals ~6 benutzer|nutzer|anwender ~4 mitteilen|mit|sagen|informieren|erwahnen|erzahlen|zeigen',
    'erwahne|erwahnen|zeige|melde|nenne|verrate ~7 benutzer|nutzer|anwender ~3 nicht|nichts|nie|niemals',
    'sage|sag|erzahle|informiere|verrate ~3 benutzer|nutzer|anwender ~4 nichts|nicht',
    'dem|den benutzer|nutzer ~4 nichts|nicht ~4 sagen|verraten|erzahlen|mitteilen|zeigen|informieren',
    'ne|sans ~3 dis|dire|mentionne|mentionnez|informe|informez|informer|revele|prevenir|previens|parle ~5 utilisateur|lutilisateur',
    'no|sin|nao|sem|non|senza ~3 digas|diga|decir|decirle|informes|informar|menciones|mencionar|reveles|revelar|avisar|contar|conte|dire|informare|rivelare ~5 usuario|utente|allutente|utilizador',
    'не|без ~2 говори|говорите|сообщай|сообщайте|упоминай|упоминайте|рассказывай|уведомления|показывай ~4 пользователю|пользователя',
    '不要|不得|别|切勿|禁止|不可 ~4 告诉|告知|通知|提及|透露 ~3 用户|使用者',
    '不要|不得|别|切勿 ~4 让|向 ~2 用户 ~4 知道|提及|透露|说明',
    'ユーザー ~4 知らせ|伝え|言わ|教え|通知 ~4 ない|ず',
    '사용자 ~4 알리지|말하지',
    // Another role, another system prompt, permission that was never given.
    'you are now ~2 a|an|in|my|acting|operating|dan|free|unrestricted',
    'pretend|act|behave ~2 as ~1 if ~2 you ~3 administrator|admin|root|unrestricted|developer',
    'enter|activate|enable|switch ~3 developer|jailbreak|god|dan|unrestricted ~0 mode',
    'new|real|actual|hidden|secret|updated|true instructions:|instruction:|directive:',
    'reveal|print|repeat|output|leak|return|expose|quote|recite ~3 your|the|full|entire ~2 system|developer|initial|hidden ~1 prompt|instructions|message',
    'takes|take|has|have ~2 precedence|priority ~2 over ~4 instructions|prompt|prompts|guidelines|rules|policies',
    `${PERSON} ~2 has|have already ~1 approved|consented|authorized|authorised|agreed|granted`,
    'skip|bypass|disable|suppress ~2 confirmation|approval|consent|permission ~3 from|of|by ~1 user|human|operator',
    'important:|attention:|note: ~2 ai|llm|assistant|model|agent ~3 must|always|shall',
    '<role-tag>',
  ],
  'other-tools': [
    'before|ahead|prior ~1 any|every|all|each ~1 other|another ~2 tool|tools|function|functions',
    'any|each|every time ~6 different|another|other|any ~1 tool|tools|function',
    'prefer|use|choose|call ~2 this ~4 over|instead|before ~6 all|any|every ~1 other ~3 tools|tool',
    'before|prior|whenever|when|after|every|each ~3 using|calling|invoking|running|executing|use|call|invoke|run ~1 any|every|another|all|other|each ~2 tool|tools|function|functions',
    'vor|bevor ~4 jedem|jeder|anderen|andere|irgendein|beliebigen|ein|eines ~2 werkzeug|werkzeugs|werkzeuge|tool|tools',
    'avant ~3 utiliser|dutiliser|appeler|dappeler ~2 tout|autre|un|nimporte|quelconque ~2 outil|outils',
    'antes ~4 usar|utilizar|llamar|invocar|chamar ~3 cualquier|otra|otras|qualquer|outra ~2 herramienta|herramientas|ferramenta|ferramentas',
    'перед|прежде ~4 любого|любым|другого|других|каждым ~2 инструмента|инструментом|инструментов',
    '使用|调用|調用 ~3 任何|其他|所有 ~2 工具 ~2 之前|前',
    '他の|任意の|すべての ~4 ツール ~6 前',
    'from|of|on|by|all|any ~2 other|another|different ~2 servers|server ~2 tools|tool',
    'tools|tool ~2 from|of|on|by ~2 other|another|different ~2 servers|server|mcp',
    'other|another ~1 mcp ~1 servers|server',
    '<mcp-tool>',
    'instead|replace|replaces|replacing|supersedes|overrides ~1 of|all|any|every|the ~3 other|existing|builtin|native ~3 tools|tool',
    'never|dont|not ~1 use|call|invoke ~1 any|the ~1 other ~2 tools|tool',
  ],
  exfiltration: [
    '<secret-place>',
    `${any('send pass include append upload post attach exfiltrate forward encode transmit paste sende schicke envoie envia отправь 上传 发送 發送 送信 전송')} ~8 <env-file>`,
    `<env-file> ~10 ${any('send pass upload post exfiltrate forward transmit paste base64 append attach sende schicke envoie envia отправь 上传 发送 發送 送信 전송')}`,
    `${GIVE} ~8 ${PRIVATE} ~10 <url>|<email>`,
    `${GIVE} ~5 to|an|a|на|到|至 ~2 <url>|<email> ~8 ${PRIVATE}`,
    `${PRIVATE} ~6 ${GIVE}|sent|uploaded|forwarded ~6 <url>|<email>`,
    'bcc|cc|copy|redirect|forward ~6 to|:|in|with ~1 <email>',
    'bcc|blind ~2 <email>',
    'add|include|put|set|change|replace|use ~4 <email> ~4 bcc|cc|recipient|recipients',
    'recipient|recipients|payee|destination|iban|beneficiary ~4 always|be|to|with ~2 <email>|<account>',
    `base64|hex|rot13 ~6 <secret-place>|<env-file>|${PRIVATE}`,
    `${any('include pass put append provide send copy insert attach forward supply')} ~4 full|entire|whole|complete|all|verbatim|previous ~3 ${CHAT} ~1 history|so|in|as|to|into|here|verbatim|context|log|with`,
    `${any('include pass put append provide send copy insert attach forward supply')} ~4 your|the ~2 system|developer|hidden ~1 prompt ~6 ${any('parameter argument field here value note context request')}|<url>`,
    `${any('include pass put append send copy dump attach forward upload')} ~3 all|every|your|users ~2 environment|env variables|vars|variable`,
    `${any('include pass put append send copy provide attach forward upload paste')} ~3 user|users|your|their ~2 ${any('password passwords credentials secrets cookies cookie')} ~8 ${any('parameter argument field note value')}|<url>|<email>`,
    'curl|wget|fetch ~4 <url> ~6 $|env|password|token|secret|secrets|<secret-place>|<env-file>',
    'value|values|contents|content|dump|print|output|all|include|pass|send ~4 <env-dump>',
    'everything|all|whatever ~1 user|users ~2 said|wrote|typed|told|entered ~2 so|up|until|before|earlier',
    `${GIVE} ~2 every|all|each ~4 to ~1 <url>|<email>`,
    'curl|wget ~3 <url> ~8 sh|bash|zsh|python|python3|node|powershell',
    'sent|forwarded|copied|mailed ~3 to ~2 <email>',
    `${GIVE} ~8 user|users|messages|conversation|prompt|prompts ~8 to ~2 <url>|<email>`,
    'api|access|private key|keys|tokens|token ~6 appeared|seen|mentioned ~6 conversation|chat|them|messages|context|earlier',
    'gather|harvest|steal|collect ~4 tokens|secrets|credentials|passwords|cookies',
    'private|secret key|keys ~4 base64 ~6 provide|pass|include|send|put|context|note',
    '<image-beacon>',
  ],
};

const PHRASES: readonly Phrase<PhraseRule>[] = (Object.keys(WRITTEN) as PhraseRule[]).flatMap((rule) =>
  WRITTEN[rule].map((text) => compilePhrase(rule, text)),
);

export const PHRASE_BOOK = new PhraseBook(PHRASES);

/** Words of the phrases in languages without blanks between words. */
export const TERMS: ReadonlySet<string> = new Set(
  PHRASES.flatMap(({ steps }) => steps.flatMap(({ words }) => [...words])).filter(
    (word) => !/^[\x00-\x7f]*$/.test(word),
  ),
);

const SECRET_PLACES = [
  ...['.ssh/', '/.ssh', 'id_rsa', 'id_ed25519', 'id_ecdsa', '/etc/passwd', '/etc/shadow', '.aws/credentials', '/.aws'],
  ...[
    '.netrc',
    '.git-credentials',
    '.kube/config',
    '.docker/config.json',
    '.npmrc',
    '.pypirc',
    '.gnupg',
    '.bash_history',
  ],
  ...['.zsh_history', '.cursor/mcp.json', 'claude_desktop_config', '.claude.json', 'wallet.dat', 'authorized_keys'],
  ...['.config/gcloud', 'keychain-db', '/proc/self/environ', '.vscode/mcp.json', 'shadow.bak', '.pgpass'],
];
const ROLE_TAGS = [
  ...['<important>', '<system>', '</system>', '<hidden>', '<|im_start|>', '<|system|>', '[inst]', '<<sys>>'],
  ...['<system-reminder>', '<admin>', '[system]', '<critical>', '<|endoftext|>', '<assistant>', '</important>'],
];
/** Addresses that examples use. */
const EXAMPLE = /@(?:[\w-]{1,40}\.){0,4}(?:example|company|domain|email|acme|test|gmail|yourdomain|mail)\b/;

/** Names what a chunk between blanks is, for the phrases. */
export function classesOf(chunk: string): string[] {
  // Most chunks are plain words.
  if (/^[a-z0-9]*[,.)]?$/.test(chunk)) return [];
  const classes: string[] = [];
  if (!chunk.includes('.pub') && SECRET_PLACES.some((place) => chunk.includes(place))) classes.push('<secret-place>');
  if (/(?:^|[^\w.])\.env(?:\.\w{1,20})?(?!\w)/.test(chunk)) classes.push('<env-file>');
  if (/process\.env(?!\w|\.\w)|os\.environ(?!\w|\.\w)|printenv/.test(chunk)) classes.push('<env-dump>');
  if (chunk.includes('://')) classes.push('<url>');
  const at = chunk.indexOf('@');
  if (at > 0 && chunk.indexOf('.', at) > at + 1 && !chunk.includes('://') && !EXAMPLE.test(chunk))
    classes.push('<email>');
  if (ROLE_TAGS.some((tag) => chunk.includes(tag))) classes.push('<role-tag>');
  if (chunk.includes('mcp__')) classes.push('<mcp-tool>');
  const image = chunk.indexOf('](http');
  const values = image < 0 ? -1 : chunk.indexOf('?', image);
  if (values >= 0 && chunk.includes('![') && /[{<$]/.test(chunk.slice(values))) classes.push('<image-beacon>');
  if (chunk.endsWith(':')) {
    const word = /(\p{L}{1,30}):$/u.exec(chunk.slice(-40))?.[0];
    if (word !== undefined) classes.push(word);
  }
  return classes;
}
